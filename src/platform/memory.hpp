// SPDX-License-Identifier: Apache-2.0
// Memory objects: the drivers' objects behind them, which of these have the latest contents, and what is mapped.
#pragma once

#include "platform/event.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>

namespace causeway::platform {

/// Vendor flags, by bit, that are only hints; a driver that does not know one refuses it. AMD: persistent (6). Intel:
/// FPGA banks (16 to 18), uncached (18), linear (19), host (20), compressed (21), uncompressed (22), any size (23).
/// Imagination: uncached (26), cached (27). Bits 24 and 25 (who may use the memory) and bits above 27 (whose it is) are
/// not hints.
inline constexpr cl_mem_flags advice_flags = cl_mem_flags{1} << 6 | cl_mem_flags{0xff} << 16 | cl_mem_flags{3} << 26;
/// One of these: allows buffers larger than CL_DEVICE_MAX_MEM_ALLOC_SIZE.
inline constexpr cl_mem_flags any_size = cl_mem_flags{1} << 23;

/// A box of bytes (buffers) or of pixels (images).
struct box {
    std::array<size_t, 3> origin{};
    std::array<size_t, 3> region{1, 1, 1};
};

/// How a command uses a memory object: `overwrite` leaves nothing of what was there.
enum class access { read, write, overwrite };

struct memory_use {
    _cl_mem* object;
    access how;
};

/// Commands that may still run; those that are over are dropped now and then.
class pending_commands {
  public:
    void add(ref<_cl_event> command);
    void add_to(std::vector<ref<_cl_event>>& list);

  private:
    static constexpr std::size_t few = 16;
    std::vector<ref<_cl_event>> m_commands;
    std::size_t m_next_sweep = few; ///< length at which add() drops finished commands; a sweep at each add() would be
                                    ///< quadratic
};

/// One driver's object behind a memory object, and the commands that use its contents. Guarded by the context's `order`
/// mutex.
struct memory_copy {
    driver_object<cl_mem> raw;
    ref<_cl_event> arrival; ///< the copy that brought the latest contents here
    driver_context* came_from = nullptr; ///< the driver context that `arrival` copied from
    bool came_from_its_contents = false; ///< the contents were already in `came_from` when `arrival` was enqueued
    pending_commands departures; ///< copies to other driver contexts
    pending_commands writers, readers; ///< the program's commands that write, and read, it
};

/// A region that the program has mapped.
struct mapping {
    bool by_driver = false;
    cl_map_flags flags = 0;
    box where;
    std::array<size_t, 2> pitches{};
    const driver_context* at = nullptr; ///< driver context whose queue mapped it
    ref<_cl_event> filling; ///< the read that fills the shadow
};

} // namespace causeway::platform

struct _cl_mem final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::mem;

    struct destructor {
        void(CL_CALLBACK* call)(cl_mem, void*);
        void* data;
    };
    struct image_facts {
        cl_image_format format;
        cl_image_desc shape; ///< with the program's handles
        size_t pixel_bytes = 0;
    };

    _cl_mem(_cl_context& of, cl_mem_object_type what, cl_mem_flags as, size_t bytes, void* host);
    ~_cl_mem();

    /// The driver's object in `at`, created on first use. If the context spans driver contexts, hold its `order` mutex
    /// unless the object exists already. Throws the driver's code.
    [[nodiscard]] cl_mem raw(causeway::platform::driver_context& at);
    /// The object whose contents these are: the buffer that a sub-buffer or an image belongs to.
    [[nodiscard]] _cl_mem& root() { return parent ? parent->root() : *this; }
    /// Host copy of the whole object, into which parts are mapped: `host_ptr` if the program gave one, else our own.
    [[nodiscard]] std::byte* shadow();
    [[nodiscard]] bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
    /// Row and slice pitch in bytes of the image packed in host memory.
    [[nodiscard]] std::array<size_t, 2> packed_pitches() const;
    /// Row and slice pitch of the shadow: the program's for its own memory, else packed.
    [[nodiscard]] std::array<size_t, 2> host_pitches() const;

    const causeway::platform::ref<_cl_context> context;
    const cl_mem_object_type type;
    const cl_mem_flags flags;
    size_t size;
    void* const host_ptr;
    causeway::platform::ref<_cl_mem> parent; ///< of a sub-buffer or of an image that is made of a buffer
    size_t offset = 0; ///< of a sub-buffer in its parent
    image_facts image{};

    // For contexts that span driver contexts; roots only.
    bool has_contents = false;
    std::vector<causeway::platform::driver_context*> latest; ///< which have the latest contents
    causeway::platform::driver_context* attached = nullptr; ///< set by clAttachBufferToDevice; always in `latest`
    std::shared_ptr<std::byte[]> initial; ///< what it was made with, until a command has written to it

    std::vector<causeway::platform::memory_copy> copies; ///< one for each driver context of this rank

    std::mutex mutex; // guards mappings, m_shadow, destructors
    std::multimap<void*, causeway::platform::mapping> mappings;
    std::vector<destructor> destructors;
    /// In a cluster, guarded by the context's `order`: a destructor callback is set, so every rank keeps the object
    /// until its commands are over on all ranks.
    bool is_kept_everywhere = false;
    [[nodiscard]] bool outlives_commands() const {
        return is_kept_everywhere || (parent && parent->outlives_commands());
    }

  private:
    [[nodiscard]] causeway::platform::driver_object<cl_mem> create(causeway::platform::driver_context& at);
    [[nodiscard]] cl_mem create_as(cl_mem_flags driver_flags, causeway::platform::driver_context& at, cl_int& code);
    std::unique_ptr<std::byte[]> m_shadow;
};

namespace causeway::platform {

/// Brings the latest contents to `here` for a command; adds the events that it must wait for to `waits` (their failure
/// fails it) and `orders` (they must only be over). Hold the context's `order` mutex.
void bring(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& waits,
           std::vector<ref<_cl_event>>& orders);

/// Records that `command`, now enqueued at `here`, uses the object; null on a rank that does not run it. If `apart`,
/// later writers in other queues wait for it too. Hold the context's `order` mutex.
void note_use(_cl_mem& object, driver_context& here, access how, _cl_event* command, bool apart = false);

/// For a command in one of the platform's own queues: adds to `orders` the program's earlier commands at `here`. Hold
/// the context's `order` mutex.
void come_after(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& orders);

/// From now on the latest contents are always at `here`. Hold the context's `order` mutex.
void attach(_cl_mem& object, driver_context& here);

/// Whether the sub-buffer (the object, or an image's parent) starts at the device's alignment.
[[nodiscard]] bool is_aligned(const _cl_mem& object, const _cl_device_id& device);

/// The whole of an image, as the region of a command.
[[nodiscard]] std::array<size_t, 3> whole_region(const _cl_mem& image);
/// Throws CL_INVALID_VALUE for a region outside the image.
void check_region(const _cl_mem& image, const std::array<size_t, 3>& origin, const std::array<size_t, 3>& region);

/// Whether a clSetKernelArg value is a live memory object or sampler: for kernels without argument info.
[[nodiscard]] bool is_live_handle(const void* handle);
void add_live_handle(const void* handle);
void remove_live_handle(const void* handle);

} // namespace causeway::platform

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

/// Vendors' flags that only advise, which drivers that do not know them refuse: AMD's persistent memory (6), Intel's
/// banks of FPGAs (16 to 18), uncached and linear (18 and 19), host (20), compressed and uncompressed (21 and 22)
/// memory and that of any size (23), Imagination's uncached and cached memory (26 and 27). Between them are flags that
/// say who may use the memory (24 and 25), above them those that say whose it is.
inline constexpr cl_mem_flags advice_flags = cl_mem_flags{1} << 6 | cl_mem_flags{0xff} << 16 | cl_mem_flags{3} << 26;
/// The one of them without which no buffer is larger than its devices say.
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

/// Commands that may not be over yet.
class pending_commands {
  public:
    void add(ref<_cl_event> command);
    void add_to(std::vector<ref<_cl_event>>& list);

  private:
    static constexpr std::size_t few = 16;
    std::vector<ref<_cl_event>> m_commands;
    std::size_t m_next_sweep = few; ///< asking drivers for each command at each turn would cost the square of their
             ///< number
};

/// One driver's object behind a memory object, and the commands that its contents wait for. The context's order guards
/// it.
struct memory_copy {
    driver_object<cl_mem> raw;
    ref<_cl_event> arrival;            ///< brought the latest contents here
    driver_context* came_from = nullptr;        ///< by it
    bool came_from_its_contents = false; ///< they had come there when that was enqueued
    pending_commands departures;       ///< read the contents for other driver_contexts
    pending_commands writers, readers; ///< of the program
};

/// A region that the program has mapped.
struct mapping {
    bool by_driver = false;
    cl_map_flags flags = 0;
    box where;
    std::array<size_t, 2> pitches{};
    const driver_context* at = nullptr; ///< whose driver
    ref<_cl_event> filling;    ///< the read that fills the shadow
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

    /// The driver's object at `at`; made when first asked for. Where the context spans driver contexts, its order is
    /// held or the object is there already. Throws the driver's code.
    [[nodiscard]] cl_mem raw(causeway::platform::driver_context& at);
    /// The object whose contents these are: the buffer that a sub-buffer or an image belongs to.
    [[nodiscard]] _cl_mem& root() { return parent ? parent->root() : *this; }
    /// Host memory that stands for the whole object while parts of it are mapped: the program's own if it gave that.
    [[nodiscard]] std::byte* shadow();
    [[nodiscard]] bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
    /// Rows and slices of an image that is packed in host memory.
    [[nodiscard]] std::array<size_t, 2> packed_pitches() const;
    /// Those of its shadow: as the program gave them with memory of its own, else packed.
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
    causeway::platform::driver_context* attached = nullptr; ///< by clAttachBufferToDevice: always among `latest`
    std::shared_ptr<std::byte[]> initial; ///< what it was made with, until a command has written to it

    std::vector<causeway::platform::memory_copy> copies; ///< one for each driver context of this rank

    std::mutex mutex; // guards mappings, m_shadow, destructors
    std::multimap<void*, causeway::platform::mapping> mappings;
    std::vector<destructor> destructors;
    /// In a cluster, under the context's order: every rank keeps the object until its commands are over on all ranks,
    /// because the program is told of its end.
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

/// Brings the latest contents to `here` for a command that waits for `waits` and comes after `orders`; adds what it
/// needs to both. The context's order is held.
void bring(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& waits,
           std::vector<ref<_cl_event>>& orders);

/// Notes that `command`, which is enqueued at `here` now, uses the object. The context's order is held. `command` is
/// null on a rank that does not run it. If it is `apart`, later writers wait for it, also in other queues.
void note_use(_cl_mem& object, driver_context& here, access how, _cl_event* command, bool apart = false);

/// Adds to `orders` the program's earlier commands at `here`, for a command in a queue of the platform's own. The
/// context's order is held.
void come_after(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& orders);

/// From now on the latest contents are always at `here`. The context's order is held.
void attach(_cl_mem& object, driver_context& here);

/// Whether the sub-buffer that the object is, or is made of, begins where the device can have one.
[[nodiscard]] bool is_aligned(const _cl_mem& object, const _cl_device_id& device);

/// The whole of an image, as the region of a command.
[[nodiscard]] std::array<size_t, 3> whole_region(const _cl_mem& image);
/// Throws CL_INVALID_VALUE for a region that the image does not have.
void check_region(const _cl_mem& image, const std::array<size_t, 3>& origin, const std::array<size_t, 3>& region);

/// Whether a clSetKernelArg value is a memory object or sampler that lives, for kernels that do not say what they
/// take.
[[nodiscard]] bool is_live_handle(const void* handle);
void add_live_handle(const void* handle);
void remove_live_handle(const void* handle);

} // namespace causeway::platform

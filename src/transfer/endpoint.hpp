// SPDX-License-Identifier: Apache-2.0
// Where bytes of a transfer come from or go to.
#pragma once

#include "transfer/block.hpp"
#include "transfer/staging.hpp"
#include "transfer/step.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace causeway::transfer {

class endpoint;

enum class medium { device, host, file, stream, rank };

/// A device by its UUID, which is the same in all processes. Known only if other devices can reach its windows.
struct device_name {
    bool is_known = false;
    std::array<std::uint8_t, 16> uuid{};
};
[[nodiscard]] inline bool same_device(const device_name& one, const device_name& other) {
    return one.is_known && other.is_known && one.uuid == other.uuid;
}

/// Memory of the target's device that the source's device fills. No host thread touches it.
struct device_memory {
    std::byte* first = nullptr;                   ///< where it begins; null if there is no such memory
    std::shared_ptr<staging_allocator> allocator; ///< of blocks; null if the target's own bytes begin at `first`
    staging_pool* pool = nullptr;                 ///< accounts for the allocator's blocks; not owned

    [[nodiscard]] bool is_in_place() const { return first != nullptr && !allocator; }
};

/// Names a message: equal for its send and its receive. `number` is 0 if there is no message.
struct message_identity {
    int job_rank = -1; ///< of the sender
    std::uint64_t number = 0;
};

/// What a strategy needs to know of an endpoint.
struct endpoint_traits {
    medium kind = medium::host;
    /// Can open with `map` set; memory() then shows its bytes.
    bool can_map = false;
    /// It does so without an OpenCL command.
    bool maps_at_once = false;
    /// Always shows its bytes as host memory.
    bool has_memory = false;
    /// Blocks must be read or written in the order of their offsets.
    bool ordered = false;
    /// open() must have finished before the size of the transfer is known.
    bool sets_size = false;
    /// Whom it waits for while it holds a block.
    staging_share::waits_for waits = staging_share::waits_for::nobody;
    /// The most reads and writes under way at once.
    std::size_t in_flight = std::numeric_limits<std::size_t>::max();
    /// More I/O threads than this would only wait for one another.
    unsigned most_io_threads = std::numeric_limits<unsigned>::max();
    /// No block may be larger.
    std::size_t largest_block = std::numeric_limits<std::size_t>::max();
    /// The tuner's key for what sets the pace: a device and its driver, a file system, a class of peers. Empty if
    /// unknown; else the text lives as long as the process.
    std::string_view resource;
    /// The device, if windows of it can be had.
    device_name device;
    /// Its bytes lie in such a window themselves.
    bool in_window = false;
    /// A rank of this node with a device at its end of messages, as far as is known.
    bool is_near_device = false;
    /// That device also maps at once.
    bool is_near_in_place = false;
    /// Eager limit, in bytes: smaller messages, and those of this size, never go through the receiver's memory.
    std::size_t largest_piece = 0;
};

/// What an endpoint may know of the one at the other end.
struct other_end {
    device_name device;
    bool is_device = false;
    bool maps_at_once = false;
};

/// What open() is asked for.
struct open_request {
    std::size_t bytes = 0; ///< of the whole transfer; a source may turn out to have fewer
    std::size_t block_bytes = 0; ///< of the plan
    bool map = false; ///< show the bytes as host memory
    bool is_source = false; ///< this endpoint is
    bool ahead = false;     ///< the gates of the command are still closed, see early_source
    unsigned io_threads = std::numeric_limits<unsigned>::max(); ///< of the plan: I/O threads at work on it at once
    std::size_t piece_bytes = 0; ///< of the plan: what one I/O thread reads of a block; 0: all of it
    bool for_device = false; ///< a device fetches what is read: keep it out of this processor's caches
    bool window = false;        ///< the staging memory may be shared with another process
    bool device_window = false; ///< the staging memory may be a device's
    other_end other;
};

/// An end that does something before it is open, or may have to wait for others.
class waiting_end {
  public:
    /// The transfer was enqueued. Called in the order of enqueue; ordered endpoints join their line here.
    virtual void enqueued() {}
    /// The transfer ends without having been opened.
    virtual void abandoned() {}
    /// Interrupts an open(), read() or write() that waits for another process. Its step still finishes.
    virtual void cancel() {}
    /// Who outside this process has to act before the transfer can end: "rank 1 to receive with tag 5". Never changes.
    /// Empty: nobody.
    [[nodiscard]] virtual std::string partner() const { return {}; }

  protected:
    ~waiting_end() = default;
};

/// A source that may be opened, and have one block read, before the gates of the command are open. A source that sets
/// the size of the transfer is read ahead only if one block is all. If it is abandoned, it takes that block back.
class early_source {
  public:
    [[nodiscard]] virtual bool reads_ahead() = 0;
    /// As read(), but a device runs it behind the events that the command waits for.
    virtual void read_ahead(std::size_t offset, block_reference block, step& done) = 0;
    /// There is no memory to read ahead. The endpoint undoes its open(), and finishes `done` after gates_opened().
    virtual void open_later(step& done) { done.finish({}); }
    /// After an open() with `ahead`: the gates are open now.
    virtual void gates_opened() {}

  protected:
    ~early_source() = default;
};

/// A target that copies from some sources without help of the host.
class copying_target {
  public:
    [[nodiscard]] virtual bool takes_from(const endpoint& source) const = 0;
    /// Instead of read() and write(): copies `bytes` from `offset` of `source`, which takes_from() has accepted.
    virtual void take(endpoint& source, std::size_t offset, std::size_t bytes, step& done) = 0;

  protected:
    ~copying_target() = default;
};

/// A target that may lend the source memory to fill, which another process reads.
class lending_target {
  public:
    /// Whether it does. Valid once it is open.
    [[nodiscard]] virtual bool lends() const = 0;
    /// True if the memory is a device's, in windows that are open here.
    [[nodiscard]] virtual bool lends_device_memory() const { return false; }
    /// Identifies the process that reads the memory.
    [[nodiscard]] virtual std::uint64_t reader() const = 0;
    /// Begins to lend. `device`, if not null, is the allocator of the source's staging memory. `more` is called when
    /// borrow() may have memory again.
    virtual void lend(std::shared_ptr<staging_allocator> device, std::function<void()> more) = 0;
    /// Memory for the block at `offset`; blocks are asked for in order. write() gives it back to the endpoint. Null:
    /// not yet. Throws transfer_error if there will never be any.
    [[nodiscard]] virtual block_memory borrow(std::size_t offset) = 0;

  protected:
    ~lending_target() = default;
};

/// A source that can bring its bytes to memory which another process or device reads.
class window_source {
  public:
    /// Whether it can bring its bytes to windows of `device`, as far as that is known before it is open.
    [[nodiscard]] virtual bool reaches(const device_name& device) const = 0;
    /// After reaches(): sets up what the blocks need on their way there. False if that cannot be had now.
    [[nodiscard]] virtual bool can_leave_for(const device_name& device) {
        (void)device;
        return true;
    }
    /// After open(): asks for its blocks in `window`. False if it cannot.
    [[nodiscard]] virtual bool use(const device_memory& window) = 0;
    /// Blocks read from now on lie in memory that `process` reads next; see lending_target::reader().
    virtual void goes_to(std::uint64_t process) { (void)process; }

  protected:
    ~window_source() = default;
};

/// A target with a device whose windows other devices may fill.
class window_target {
  public:
    /// The device to whose windows `source` may bring blocks, as far as is known before it is open.
    [[nodiscard]] virtual device_name device_for(endpoint& source) = 0;
    /// Memory of that device: for blocks, or that of the target's own bytes.
    [[nodiscard]] virtual device_memory window() { return {}; }

  protected:
    ~window_target() = default;
};

/// An end that is a message.
class message_end {
  public:
    /// The message, for the timeline. Valid from the meeting with the other rank until close().
    [[nodiscard]] virtual message_identity message_moved() const = 0;
    /// True if a source's bytes travel through memory that both processes have mapped. Valid after allocator().
    [[nodiscard]] virtual bool shares_memory() const { return false; }

  protected:
    ~message_end() = default;
};

/// Interfaces that only some endpoints have; null where an endpoint lacks one. Owned by the endpoint.
struct abilities {
    waiting_end* waits = nullptr;
    early_source* early = nullptr;
    copying_target* copies = nullptr;
    lending_target* lends = nullptr;
    window_source* leaves = nullptr;
    window_target* arrives = nullptr;
    message_end* message = nullptr;
};

/// One side of a flow. Every function, those of the abilities too, is called on the engine's thread. Its life: open(),
/// prepare() once there is memory for a block, read() or write() for each block, close(). A waiting_end hears of the
/// enqueue before open(), and of a transfer that ends without open(). An open() that succeeded is followed by close();
/// one that failed cleans up after itself. A source that reads ahead may be opened, prepared and read once while the
/// command is gated, and may be abandoned after that.
class endpoint {
  public:
    virtual ~endpoint() = default;

    [[nodiscard]] virtual endpoint_traits traits() const = 0;

    /// What it is beyond an endpoint. Never changes.
    [[nodiscard]] virtual abilities offers() { return {}; }

    /// For error texts: "input.dat", "rank 3".
    [[nodiscard]] virtual std::string name() const = 0;

    /// Finishes with the bytes of the transfer: request.bytes, or fewer for a shorter message.
    virtual void open(const open_request& request, step& done) { done.finish({request.bytes, {}}); }

    /// After open(): the largest block that the other side of this endpoint takes.
    [[nodiscard]] virtual std::size_t block_limit() const { return std::numeric_limits<std::size_t>::max(); }

    /// The flow has memory for a block and now reads or writes in blocks of `block_bytes`. Returns the size of the
    /// first block that aligns all later ones. A shorter first block lies at the end of its memory.
    virtual std::size_t prepare(std::size_t block_bytes) { return block_bytes; }

    /// The first byte of the transfer in host memory. Not null after open() with `map`, with has_memory, or if a
    /// source already has its bytes (an eager message).
    [[nodiscard]] virtual std::byte* memory() const { return nullptr; }

    /// Fills `block` with the bytes from `offset` of the transfer on. Finishes with an error unless all of it is
    /// filled. Called on sources only, never on one with has_memory. `block` is host memory unless an end has agreed
    /// to a window.
    virtual void read(std::size_t offset, block_reference block, step& done) {
        (void)offset;
        done.finish({block.size(), {}});
    }
    /// Writes the bytes of `block` at `offset` of the transfer.
    virtual void write(std::size_t offset, block_reference block, step& done) {
        (void)offset;
        done.finish({block.size(), {}});
    }

    /// `moved` bytes from the start are in the target. `error` says why not all are.
    virtual void close(std::size_t moved, const failure& error, step& done) {
        (void)moved;
        (void)error;
        done.finish({});
    }

    /// The allocator of staging memory that suits this endpoint; null: ordinary memory will do. `other` is the other
    /// end's.
    [[nodiscard]] virtual std::shared_ptr<staging_allocator>
    allocator(const std::shared_ptr<staging_allocator>& other = nullptr) {
        (void)other;
        return nullptr;
    }
};

} // namespace causeway::transfer

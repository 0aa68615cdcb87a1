// SPDX-License-Identifier: Apache-2.0
// How the bytes of blocks get from one end to the other: each way is a carrier, in a file of its own in carrier/.
#pragma once

#include "transfer/endpoint.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace causeway::transfer {

struct plan;

/// What a flow has to know of a carrier.
struct carrier_traits {
    std::string_view name;
    bool reads = true;  ///< read() moves bytes; else a block can be written at once
    bool writes = true; ///< write() moves bytes; else a block that was read has arrived
    /// write() may copy the bytes before it returns, on the engine's thread.
    bool works_at_once = false;
    /// Blocks begin at multiples of the block size. Else the first block may be shorter, to align the rest.
    bool has_fixed_blocks = true;
    /// Another process or device reaches the memory.
    bool is_shared = false;
    memory_kind kind = memory_kind::host; ///< of the memory
};

/// Moves the blocks of one flow and owns their memory. Both ends are open and outlive it. Engine's thread only.
class carrier {
  public:
    carrier(endpoint& source, endpoint& target) : m_source(source), m_target(target) {}
    virtual ~carrier() = default;
    carrier(const carrier&) = delete;
    carrier& operator=(const carrier&) = delete;

    [[nodiscard]] virtual carrier_traits traits() const = 0;
    /// No block may be larger.
    [[nodiscard]] virtual std::size_t largest_block() const { return std::numeric_limits<std::size_t>::max(); }
    /// True if memory for a first block of `block_bytes` is there. If false, `more` tells the flow when to ask again.
    /// Throws transfer_error if there will never be any.
    [[nodiscard]] virtual bool secure(std::size_t block_bytes) {
        (void)block_bytes;
        return true;
    }
    /// Memory for the block at `offset`; blocks are asked for in order. Empty: not yet. Throws as secure().
    [[nodiscard]] virtual std::optional<block_memory> acquire(std::size_t offset) = 0;
    virtual void read(std::size_t offset, block_reference block, step& done) { m_source.read(offset, block, done); }
    virtual void write(std::size_t offset, block_reference block, step& done) { m_target.write(offset, block, done); }
    /// Takes a block's memory back: its bytes have arrived, or the block has failed.
    virtual void release(block_memory memory) { (void)memory; }
    /// Instead of release(): others may use the memory for ever.
    virtual void lose(block_memory memory) { (void)memory; }

  protected:
    [[nodiscard]] endpoint& source() { return m_source; }
    [[nodiscard]] endpoint& target() { return m_target; }

  private:
    endpoint &m_source, &m_target;
};

/// The two open ends that a carrier is made for, and the plan of their flow.
struct carrier_request {
    endpoint &source, &target;
    const endpoint_traits &source_traits, &target_traits;
    const plan& chosen;
    std::size_t bytes = 0, block_bytes = 0;
    staging_pool& pool;
    std::function<void()> more; ///< called when memory may be there: the flow then asks again
};

/// Holds a carrier, without heap memory if it is small.
class carrier_box {
  public:
    carrier_box() = default;
    ~carrier_box() { reset(); }
    carrier_box(const carrier_box&) = delete;
    carrier_box& operator=(const carrier_box&) = delete;

    template <class Carrier, class... Arguments> void emplace(Arguments&&... arguments) {
        reset();
        if constexpr (sizeof(Carrier) <= sizeof m_room && alignof(Carrier) <= alignof(std::max_align_t))
            m_made = ::new (m_room) Carrier(std::forward<Arguments>(arguments)...);
        else
            m_made = new Carrier(std::forward<Arguments>(arguments)...);
    }
    void reset() {
        if (is_here())
            m_made->~carrier();
        else
            delete m_made;
        m_made = nullptr;
    }
    [[nodiscard]] carrier* get() const { return m_made; }

  private:
    [[nodiscard]] bool is_here() const { return static_cast<const void*>(m_made) == m_room; }

    alignas(std::max_align_t) std::byte m_room[64];
    carrier* m_made = nullptr;
};

/// Puts a carrier into the box if this kind suits the two ends. Else leaves the box empty.
using make_carrier = void (*)(const carrier_request&, carrier_box&);

/// The target takes the bytes from the source itself, without help of the host.
void make_direct_carrier(const carrier_request& wanted, carrier_box& into);
/// The source's device brings blocks to a window of the target's device.
void make_device_window_carrier(const carrier_request& wanted, carrier_box& into);
/// One end shows its bytes as memory, and the other one works there.
void make_in_place_carrier(const carrier_request& wanted, carrier_box& into);
/// The source fills memory that the target lends.
void make_lent_carrier(const carrier_request& wanted, carrier_box& into);

/// In the order in which flows ask: direct, in place, lent. The device window comes before them, because without it the
/// flow makes another plan. If none suits, the flow stages (carrier/staged.hpp).
[[nodiscard]] std::span<const make_carrier> standard_carriers();

} // namespace causeway::transfer

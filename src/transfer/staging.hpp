// SPDX-License-Identifier: Apache-2.0
// Staging memory: pooled by where it comes from, capped, shared by all flows without deadlock.
#pragma once

#include "base/clock.hpp"
#include "base/options.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <vector>

namespace causeway::transfer {

/// A source of staging memory. Called on the engine's thread only.
class staging_allocator {
  public:
    virtual ~staging_allocator() = default;
    /// Throws transfer_error or std::bad_alloc.
    [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
    virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;
    /// False for memory that may still be written to by others: it is released, and not handed out again.
    [[nodiscard]] virtual bool reusable(const std::byte* memory) const {
        (void)memory;
        return true;
    }
    /// Whether `byte` lies in memory of allocate().
    [[nodiscard]] virtual bool holds(const std::byte* byte) const {
        (void)byte;
        return false;
    }
    /// Whether allocate() would find room now. Only for memory with a bound of its own.
    [[nodiscard]] virtual bool has_room(std::size_t bytes) const {
        (void)bytes;
        return true;
    }
    /// Others may still write to the block when it is released, nobody knows until when.
    virtual void give_up(const std::byte* memory) { (void)memory; }
    /// Makes other memory (whole pages) as fast as that of allocate(), while the result lives. Null if there is nothing
    /// to do. Throws transfer_error.
    [[nodiscard]] virtual std::shared_ptr<void> pin(std::byte* memory, std::size_t bytes) {
        (void)memory;
        (void)bytes;
        return nullptr;
    }
};

/// Page-aligned ordinary memory.
class host_allocator final : public staging_allocator {
  public:
    [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
    void release(std::byte* memory, std::size_t bytes) noexcept override;
};

class staging_pool;

/// A flow's claim on staging memory. Its blocks go back when it ends. These rules keep the pool free of deadlocks. A
/// flow that has a block keeps at least one until it is done, so it always makes progress. If it waits for nobody, it
/// may hand its last block to another such flow and stand in line again. First blocks are given in order of arrival; a
/// flow that needs a single block may pass others a few times. Flows that wait for a sender while they hold a block
/// hold at most half of the cap together: they could fill the pools of two processes that send to each other. The same
/// holds for flows that wait for a receiver. Of each of the three kinds one flow gets a block whatever the cap says,
/// because the other kinds may wait for it. A sixteenth of the senders' half is for small flows alone, so that they
/// need not wait for large ones. Nobody waits for that reserve: it is one more chance for a flow that is in line
/// anyway.
class staging_share {
  public:
    enum class waits_for { nobody, sender, receiver };
    enum class needs { one_block, several };

    /// Calls `available` when an acquire() that was refused may succeed.
    staging_share(staging_pool& pool, std::shared_ptr<staging_allocator> allocator, std::size_t block_bytes,
                  waits_for whom, std::function<void()> available, needs wanted = needs::several);
    ~staging_share();
    staging_share(const staging_share&) = delete;
    staging_share& operator=(const staging_share&) = delete;

    /// A block, or null: then this share waits in line. Throws what the allocator throws.
    [[nodiscard]] std::byte* acquire();
    /// As acquire(), for a flow whose command is still gated. No other flow may have to wait for such a block: it comes
    /// from a sixteenth of a large cap that nothing else can need. It never waits in line.
    [[nodiscard]] std::byte* acquire_ahead();
    /// The same for a flow whose turn has not come. A few shares at a time, in order of arrival; the others wait in a
    /// line of their own until `available` is called.
    [[nodiscard]] std::byte* acquire_early();
    [[nodiscard]] bool waits_to_be_early() const { return m_in_early_line; }
    /// The command has started, and its turn has come: what was acquired ahead counts as any other block now.
    void started();
    /// Gives a block back for reuse by this share, or by others if they wait.
    void release(std::byte* block);
    /// Gives a block back for reuse by this share.
    void keep(std::byte* block) { m_idle.push_back(block); }
    [[nodiscard]] std::size_t block_bytes() const { return m_block_bytes; }

  private:
    friend class staging_pool;
    [[nodiscard]] std::size_t kind() const { return static_cast<std::size_t>(m_waits_for); }
    [[nodiscard]] bool waiting_for_first() const;
    /// For its whole flow one block is enough, of which the reserve holds several.
    [[nodiscard]] bool is_small_receive() const;
    void stand_in_line();
    void leave_early();
    /// Whom the last block goes to, or null.
    [[nodiscard]] staging_share* successor() const;

    staging_pool& m_pool;
    std::shared_ptr<staging_allocator> m_allocator;
    std::size_t m_block_bytes;
    waits_for m_waits_for;
    std::function<void()> m_available;
    needs m_needs;
    unsigned m_passed = 0; // by others, in line
    unsigned m_used = 0; // blocks, since it stood in line
    std::size_t m_held = 0;
    bool m_ahead = false; // took its first block by acquire_ahead(), and has not started
    bool m_early = false; // one of those few
    bool m_in_early_line = false; // wants to be
    bool m_reserved = false; // took its block from the reserve of small receives
    // Held, not in use; the list of a single one takes nothing from the heap.
    std::byte* m_first_idle[1];
    std::pmr::monotonic_buffer_resource m_room{m_first_idle, sizeof m_first_idle};
    std::pmr::vector<std::byte*> m_idle{&m_room};
};

/// One per engine, and one for each kind of memory with a limit of its own. Engine's thread only.
class staging_pool {
  public:
    /// `cap` is the most bytes that all shares together hold; 0: the option `staging`. Memory with a cap of its own
    /// only receives, so flows that wait for senders may hold all of it.
    staging_pool(const options& settings, const monotonic_clock& clock, std::size_t cap = 0);
    ~staging_pool();
    staging_pool(const staging_pool&) = delete;
    staging_pool& operator=(const staging_pool&) = delete;

    /// Largest block of which the cap holds two.
    [[nodiscard]] std::size_t largest_block() const;

    /// Frees memory that nobody used for a while. True if some is left for a later call.
    bool trim();

    [[nodiscard]] std::size_t held_bytes() const { return m_held; }
    [[nodiscard]] std::size_t cached_bytes() const { return m_cached; }

  private:
    friend class staging_share;
    struct cached_block {
        std::shared_ptr<staging_allocator> allocator;
        std::byte* memory;
        std::size_t bytes;
        time_point since;
    };

    [[nodiscard]] bool anybody_waits() const;
    [[nodiscard]] bool has_room(const staging_share& share);
    [[nodiscard]] bool fits(const staging_share& share);
    [[nodiscard]] bool fits_reserve(const staging_share& share);
    [[nodiscard]] std::size_t reserve() const;
    /// The newest block in the cache that suits `share`.
    [[nodiscard]] std::vector<cached_block>::reverse_iterator find_cached(const staging_share& share);
    [[nodiscard]] std::byte* take(staging_share& share);
    void give(staging_share& share, std::byte* block);
    /// The first block of `share`, which leaves the line.
    [[nodiscard]] std::byte* take_first(staging_share& share);
    void account(const staging_share& share, bool taken);
    void make_room(const staging_share& share);
    void drop_oldest();
    void wake();
    void wake_early();

    [[nodiscard]] std::size_t cap() const { return m_cap != 0 ? m_cap : m_options[option::staging]; }

    const options& m_options;
    const monotonic_clock& m_clock;
    std::size_t m_cap;
    std::shared_ptr<staging_allocator> m_host;
    std::size_t m_held = 0;
    std::size_t m_held_by[3] = {}; // by kind of share, of those that have started
    std::size_t m_held_ahead = 0; // by the others
    std::size_t m_held_reserved = 0; // of the reserve; not in m_held_by
    std::size_t m_cached = 0;
    std::vector<cached_block> m_cache;
    std::deque<staging_share*> m_line[3]; // shares without a block, by kind
    std::deque<staging_share*> m_early_line;
    std::size_t m_early = 0; // shares
};

} // namespace causeway::transfer

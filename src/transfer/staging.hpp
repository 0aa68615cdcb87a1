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
    /// Another process may still write to the block after its release: it must not be reused.
    virtual void give_up(const std::byte* memory) { (void)memory; }
    /// Page-locks other memory (whole pages) for the device while the result lives. Null if that gains nothing. Throws
    /// transfer_error.
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

/// A flow's claim on staging memory; blocks go back when it ends. The pool has no deadlocks because of these rules,
/// each with a test that starves without it (tests/unit/transfer/staging_test.cpp):
///
/// 1. All shares together hold at most the cap, and each class of them at most its quota (staging_pool::quota()). The
///    classes are flows that wait for nobody, for a sender, for a receiver. The last two have half of the cap each:
///    otherwise two processes, or a pipe's two ends, could fill each other's pools.
/// 2. A flow that is the only one of its class gets a block whatever the other classes hold: they may wait for it.
/// 3. A flow that has a block keeps one until it is done. If it waits for nobody, it may instead hand its last block
///    to the next in line of its class (gives_last_block_to()), and stand in line again.
/// 4. First blocks are given in order of arrival; nobody takes a second one while somebody has none.
/// 5. A flow that needs a single block passes others, each of them a few times.
/// 6. Small receives also have a quota of their own, so that large ones cannot hold them up. One that gets a block
///    there has not lost its place in line.
/// 7. A block that is read ahead of its turn holds nothing that others need. It is taken from the early quota, only if
///    free at once, if nobody waits for a first block, and if its class has room. From its turn on it counts in its
///    class, which so exceeds its quota by at most the early quota.
class staging_share {
  public:
    enum class waits_for { nobody, sender, receiver };
    enum class needs { one_block, several };
    /// When a block is given ahead of its turn: at once or never, or in a line, which gives out few at a time.
    enum class early { at_once, in_turn };

    /// Calls `available` when an acquire() that was refused may succeed.
    staging_share(staging_pool& pool, std::shared_ptr<staging_allocator> allocator, std::size_t block_bytes,
                  waits_for whom, std::function<void()> available, needs wanted = needs::several);
    ~staging_share();
    staging_share(const staging_share&) = delete;
    staging_share& operator=(const staging_share&) = delete;

    /// A block. Null: none is free, and a share that holds none now waits in line. Throws what the allocator throws.
    [[nodiscard]] std::byte* acquire();
    /// The first block of a flow that reads ahead of its turn; null if there is none now. With early::in_turn the share
    /// may then wait in a line for such blocks, until `available` is called.
    [[nodiscard]] std::byte* acquire_early(early how);
    [[nodiscard]] bool waits_to_be_early() const { return m_in_early_line; }
    /// Its turn has come: what was acquired early counts as any other block now.
    void started();
    /// Gives a block back: to whoever waits for it by the rules above, else for reuse by this share.
    void release(std::byte* block);
    /// Gives up a block that others may use for ever: it stays allocated, and counts no more.
    void lose(std::byte* block);
    /// Gives a block back for reuse by this share only.
    void keep(std::byte* block) { m_idle.push_back(block); }
    [[nodiscard]] std::size_t block_bytes() const { return m_block_bytes; }

  private:
    friend class staging_pool;
    /// What a block is counted as.
    enum class quota { waits_for_nobody, waits_for_sender, waits_for_receiver, small_receive, early };
    static constexpr std::size_t quotas = 5;
    [[nodiscard]] std::size_t kind() const { return static_cast<std::size_t>(m_waits_for); }
    [[nodiscard]] quota own_quota() const { return static_cast<quota>(m_waits_for); }
    [[nodiscard]] bool waiting_for_first() const;
    /// A receive whose whole flow needs one block, small enough that the quota of small receives holds several.
    [[nodiscard]] bool is_small_receive() const;
    void stand_in_line();
    void leave_early();
    /// Whom the last block goes to, or null.
    [[nodiscard]] staging_share* gives_last_block_to() const;

    staging_pool& m_pool;
    std::shared_ptr<staging_allocator> m_allocator;
    std::size_t m_block_bytes;
    waits_for m_waits_for;
    std::function<void()> m_available;
    needs m_needs;
    unsigned m_passed = 0; // by others, in line
    unsigned m_used = 0; // blocks, since it stood in line
    std::size_t m_held = 0;
    quota m_counted_as = own_quota();
    bool m_early = false; // holds a block got with early::in_turn
    bool m_in_early_line = false; // waits for such a block
    // Held, not in use; the list of a single one takes nothing from the heap.
    std::byte* m_first_idle[1];
    std::pmr::monotonic_buffer_resource m_room{m_first_idle, sizeof m_first_idle};
    std::pmr::vector<std::byte*> m_idle{&m_room};
};

/// One per engine, and one for each kind of memory with a limit of its own. Engine's thread only.
class staging_pool {
  public:
    /// All shares together hold at most `cap` bytes; 0: the option `staging`. With a `cap` the memory is for receives
    /// only, so flows that wait for senders may hold all of it.
    staging_pool(const options& settings, const monotonic_clock& clock, std::size_t cap = 0);
    ~staging_pool();
    staging_pool(const staging_pool&) = delete;
    staging_pool& operator=(const staging_pool&) = delete;

    /// The largest block, in bytes: the cap holds two, beside the early quota.
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
    /// The most that blocks of a class hold together.
    [[nodiscard]] std::size_t quota(staging_share::quota of) const;
    [[nodiscard]] bool fits(const staging_share& share, staging_share::quota as);
    /// The newest block in the cache that suits `share`.
    [[nodiscard]] std::vector<cached_block>::reverse_iterator find_cached(const staging_share& share);
    [[nodiscard]] std::byte* take(staging_share& share);
    void give(staging_share& share, std::byte* block);
    /// `share` holds one block less.
    void uncount(staging_share& share);
    /// The first block of `share`, which leaves the line.
    [[nodiscard]] std::byte* take_first(staging_share& share);
    [[nodiscard]] std::size_t& held(staging_share::quota as) { return m_held_as[static_cast<std::size_t>(as)]; }
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
    std::size_t m_held_as[staging_share::quotas] = {};
    std::size_t m_cached = 0;
    std::vector<cached_block> m_cache;
    std::vector<cached_block> m_lost; // see staging_share::lose()
    std::deque<staging_share*> m_line[3]; // shares without a block, by kind
    std::deque<staging_share*> m_early_line;
    std::size_t m_early = 0; // shares that hold a block got with early::in_turn
};

} // namespace causeway::transfer

// SPDX-License-Identifier: Apache-2.0
// One-sided commands between the heaps of two ranks, beside plain copies of the same bytes and messages by hand.
#include "perf/linked_pair.hpp"
#include "perf/routes.hpp"

#include <causeway/symmetric.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace perf {

namespace {

constexpr std::size_t word_bytes = 8;

/// A heap for each size, with bytes for gets, room for puts, a signal and a counter.
class one_sided_bench : public linked_pair {
  public:
    one_sided_bench(session& session, const bench_device& where, std::size_t bytes, bool& in_vain)
        : linked_pair(session, where, bytes, in_vain) {
        constexpr std::size_t gaps = 64 * kib; // the allocator's, and the words
        check_transfer(
            causeway_symmetric_init(where.context.get(), where.device, m_comm, m_data.whole_bytes() + m_bytes + gaps),
            "causeway_symmetric_init");
        m_given = allocate(m_data.whole_bytes());
        m_taken = allocate(m_bytes);
        m_words = reinterpret_cast<std::uint64_t*>(allocate(2 * word_bytes));
        std::size_t offset = 0;
        const auto heap = causeway_symmetric_buffer(m_given, &offset, nullptr);
        write_device(queue(), heap, offset, m_data.whole_bytes(), m_data.whole());
        check_transfer(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
    }
    one_sided_bench(const one_sided_bench&) = delete;
    one_sided_bench& operator=(const one_sided_bench&) = delete;
    ~one_sided_bench() { (void)causeway_symmetric_finalize(); }

    void put(const std::string& route) {
        measure(
            route, [this](apps::event& moved) { return by_each(moved, [this] { return enqueue_put(); }); },
            [this] { verify_heap(); });
    }
    void get(const std::string& route) {
        measure(
            route, [this](apps::event& moved) { return by_each(moved, [this] { return enqueue_get(); }); },
            [this] { verify_target(); });
    }
    /// The other rank's put waits for the event of its wait: neither host is between them.
    void signal(const std::string& route) {
        measure(
            route,
            [this](apps::event& moved) {
                return repeated([&] {
                           apps::event come;
                           if (m_rank == 0) {
                               moved = enqueue_signal();
                               come = enqueue_wait();
                           } else {
                               come = enqueue_wait();
                               moved = enqueue_signal(come.get());
                           }
                           wait_for(std::array{moved.get(), come.get()});
                       }) /
                       2;
            },
            [this] { verify_heap(); });
    }
    void atomic(const std::string& route) {
        if (!m_session.wants(route)) return;
        comparison made{route, word_bytes, limit_rule::sum};
        made.add_naive([this] { return there_and_back([this] { send_naively(); }, [this] { receive_naively(); }); },
                       {});
        add_ours(
            made, std::vector<forced_plan>(1),
            [this](apps::event& done) { return by_each(done, [this] { return enqueue_atomic(); }); },
            [this] { verify_count(); });
        made.add_limit("notice", "MPI message of 8 bytes", [this] { return notice(); });
        m_session.measure(std::move(made));
    }

  private:
    [[nodiscard]] std::byte* allocate(std::size_t bytes) const {
        auto* const made = causeway_symmetric_calloc(bytes, 1);
        if (made == nullptr) throw std::runtime_error(causeway_error_last_message());
        return static_cast<std::byte*>(made);
    }

    template <class Ours> void measure(const std::string& route, Ours ours, const std::function<void()>& check) {
        if (!m_session.wants(route)) return;
        comparison made{route, m_bytes, rule_for(m_bytes)};
        made.add_naive([this] { return there_and_back([this] { send_naively(); }, [this] { receive_naively(); }); },
                       [this] { verify_target(); });
        add_ours(made, m_session.plans(m_bytes), ours, check);
        if (m_copies_count) {
            made.add_limit("copies", "out, then in", [this] {
                return repeated([this] {
                    copy_out();
                    copy_in();
                });
            });
        } else {
            made.add_limit("copies", "memcpy", [this] {
                return repeated([this] { std::memcpy(m_incoming.data(), own_data(), m_bytes); });
            });
        }
        if (m_has_link)
            made.add_limit("copies", "CUDA's copy " + m_way, [this] {
                return repeated([this] {
                    if (m_link) m_link->copy();
                });
            });
        made.add_shown("notice", "MPI message of 8 bytes", [this] { return notice(); });
        m_session.measure(std::move(made));
    }

    double notice() {
        std::uint64_t word = 0;
        return there_and_back([&] { MPI_Send(&word, 1, MPI_UINT64_T, m_peer, tag, m_comm); },
                              [&] { MPI_Recv(&word, 1, MPI_UINT64_T, m_peer, tag, m_comm, MPI_STATUS_IGNORE); });
    }

    /// Seconds of one, each of which is waited for; first rank 0's, then rank 1's, while the other calls nothing.
    template <class Enqueue> double by_each(apps::event& last, Enqueue enqueue) {
        double seconds = 0;
        const auto first = m_window;
        for (const int initiator : {0, 1}) {
            m_window = first; // so that both end with the same one
            seconds += together([&] {
                for (int i = 0; i < m_repeats; ++i) {
                    advance();
                    if (m_rank != initiator) continue;
                    last = enqueue();
                    wait_for(std::array{last.get()});
                }
            });
        }
        return seconds / (2 * m_repeats);
    }
    apps::event enqueue_put() {
        cl_event put = nullptr;
        check_transfer(clEnqueuePut(m_where.out_of_order.get(), m_source.get(), CL_FALSE, own_offset(), m_bytes,
                                    m_taken, m_peer, 0, nullptr, &put),
                       "clEnqueuePut");
        return apps::event(put);
    }
    apps::event enqueue_get() {
        cl_event got = nullptr;
        check_transfer(clEnqueueGet(m_where.out_of_order.get(), m_target.get(), CL_FALSE, 0, m_bytes,
                                    m_given + test_data::offset_of(window_of(m_peer)), m_peer, 0, nullptr, &got),
                       "clEnqueueGet");
        return apps::event(got);
    }
    apps::event enqueue_signal(cl_event after = nullptr) {
        cl_event put = nullptr;
        check_transfer(clEnqueuePutSignal(m_where.out_of_order.get(), m_source.get(), CL_FALSE, own_offset(), m_bytes,
                                          m_taken, m_words, 1, CL_SIGNAL_ADD, m_peer, after ? 1 : 0,
                                          after ? &after : nullptr, &put),
                       "clEnqueuePutSignal");
        return apps::event(put);
    }
    apps::event enqueue_wait() {
        cl_event come = nullptr;
        check_transfer(clEnqueueSignalWait(m_where.out_of_order.get(), CL_FALSE, m_words, CL_COMPARE_GE, ++m_come, 0,
                                           nullptr, &come),
                       "clEnqueueSignalWait");
        return apps::event(come);
    }
    apps::event enqueue_atomic() {
        ++m_added;
        cl_event done = nullptr;
        check_transfer(clEnqueueSymmetricAtomic(m_where.out_of_order.get(), CL_FALSE, CL_ATOMIC_ADD, word_bytes,
                                                m_words + 1, 1, 0, m_peer, m_target.get(), 0, 0, nullptr, &done),
                       "clEnqueueSymmetricAtomic");
        return apps::event(done);
    }

    void verify_heap() {
        std::size_t offset = 0;
        const auto heap = causeway_symmetric_buffer(m_taken, &offset, nullptr);
        read_device(queue(), heap, offset, m_bytes, m_pinned.data());
        m_data.verify(m_pinned.data(), window_of(m_peer));
    }
    /// The last had this in its word before it added.
    void verify_count() {
        std::uint64_t found = 0;
        read_device(queue(), m_target.get(), 0, word_bytes, &found);
        if (found + 1 != m_added) throw wrong_data("wrong data: a counter");
    }

    std::byte *m_given = nullptr, *m_taken = nullptr;
    std::uint64_t* m_words = nullptr; // the signal and the counter
    std::uint64_t m_come = 0, m_added = 0;
};

} // namespace

void one_sided_routes(session& session, const bench_device& where, const std::string& suffix) {
    const std::string routes[] = {"one-sided-put" + suffix, "one-sided-get" + suffix, "one-sided-signal" + suffix,
                                  "one-sided-atomic" + suffix};
    const auto wants = [&](const std::string& each) { return session.wants(each); };
    if (std::none_of(std::begin(routes), std::end(routes), wants)) return;
    bool in_vain = false;
    if (wants(routes[3])) one_sided_bench(session, where, word_bytes, in_vain).atomic(routes[3]);
    if (std::none_of(std::begin(routes), std::begin(routes) + 3, wants)) return;
    // The heap has two more.
    for (const auto bytes : session.sizes(where.device, rank_pair::copies_held + 2)) {
        one_sided_bench bench(session, where, bytes, in_vain);
        bench.put(routes[0]);
        bench.get(routes[1]);
        bench.signal(routes[2]);
    }
}

} // namespace perf

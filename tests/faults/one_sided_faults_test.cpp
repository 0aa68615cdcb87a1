// SPDX-License-Identifier: Apache-2.0
// One-sided commands with every call that one side makes failing once.
#include "faults/scenes.hpp"

#include <causeway/symmetric.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

using namespace faults;
using support::bytes;

namespace {

constexpr std::size_t small = 1000, large = (300 << 10) + 5;

/// Each PE puts into the next one's heap, waits for the signal of the one before, and gets what never changes: as a
/// range, every other 8 bytes of it, and a word of it by an atomic.
class one_sided_scenario final : public scenario {
  public:
    one_sided_scenario(cl_device_id device, MPI_Comm comm, std::size_t size)
        : m_scene(device),
          m_other_queue(support::make_queue(m_scene.context(), device, support::queue_order::in_order)), m_size(size),
          m_sent(m_scene, size), m_got(m_scene, size), m_rows(m_scene, row * (size / 16)), m_fetched(m_scene, row) {
        if (causeway_symmetric_init(m_scene.context(), device, comm, std::size_t{4} << 20) != CL_SUCCESS)
            throw std::runtime_error(causeway_error_last_message());
        m_pe = causeway_symmetric_pe();
        m_peer = (m_pe + 1) % causeway_symmetric_pes();
        m_put = causeway_symmetric_calloc(size, 1);
        m_constant = causeway_symmetric_calloc(size, 1);
        m_signal = static_cast<std::uint64_t*>(causeway_symmetric_calloc(1, sizeof *m_signal));
        const auto own = constant_of(m_pe);
        EXPECT_EQ(causeway_symmetric_put(m_constant, own.data(), size, m_pe), CL_SUCCESS);
        EXPECT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    }
    one_sided_scenario(const one_sided_scenario&) = delete;
    one_sided_scenario& operator=(const one_sided_scenario&) = delete;
    ~one_sided_scenario() override { EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS); }

    void reset() override {
        ++m_run;
        m_source = put_by(m_pe);
        m_sent.fill(m_source);
        m_got.fill(support::pattern(m_size, 0));
        m_rows.fill(support::pattern(row * (m_size / 16), 0));
        m_fetched.fill(support::pattern(row, 0));
    }

    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueuePutSignal(m_scene.queue(), m_sent.buffer(), CL_FALSE, m_sent.offset(), m_size, m_put,
                                      m_signal, m_run, CL_SIGNAL_SET, m_peer, 0, nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueGet(m_scene.queue(), m_got.buffer(), CL_FALSE, m_got.offset(), m_size, m_constant, m_peer,
                                0, nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSignalWait(m_other_queue.get(), CL_FALSE, m_signal, CL_COMPARE_EQ, m_run, 0, nullptr,
                                       event);
        }));
        all.back().waits_for_message = true;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueGetStrided(m_scene.queue(), m_rows.buffer(), CL_FALSE, m_rows.offset(), row, m_constant,
                                       2 * row, row, m_size / 16, m_peer, 0, nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricAtomic(m_scene.queue(), CL_FALSE, CL_ATOMIC_FETCH, row, m_constant, 0, 0, m_peer,
                                            m_fetched.buffer(), m_fetched.offset(), 0, nullptr, event);
        }));
        return all;
    }

    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        m_sent.expect(m_source, m_size, true, failed);
        const auto &got = endings[1], &waited = endings[2];
        m_got.expect(constant_of(m_peer), got.succeeded() ? m_size : got.moved, got.refused != CL_SUCCESS, failed);
        const auto constant = constant_of(m_peer);
        bytes rows;
        for (std::size_t i = 0; i < m_size / 16; ++i)
            rows.insert(rows.end(), constant.begin() + static_cast<std::ptrdiff_t>(2 * row * i),
                        constant.begin() + static_cast<std::ptrdiff_t>(2 * row * i + row));
        const auto &strided = endings[3], &fetched = endings[4];
        m_rows.expect(rows, strided.succeeded() ? rows.size() : strided.moved, strided.refused != CL_SUCCESS, failed);
        m_fetched.expect(bytes(constant.begin(), constant.begin() + row), fetched.succeeded() ? row : fetched.moved,
                         fetched.refused != CL_SUCCESS, failed);
        if (!waited.succeeded()) return;
        bytes seen(m_size);
        EXPECT_EQ(causeway_symmetric_get(seen.data(), m_put, m_size, m_pe), CL_SUCCESS);
        const auto all = causeway_symmetric_pes();
        EXPECT_TRUE(support::same_bytes(put_by((m_pe + all - 1) % all), seen));
    }

    void touch() override {
        m_sent.touch();
        m_got.touch();
        m_rows.touch();
        m_fetched.touch();
    }
    std::vector<cl_context> contexts() const override { return {m_scene.context()}; }
    std::vector<cl_command_queue> queues() const override { return {m_scene.queue(), m_other_queue.get()}; }
    bool has_messages() const override { return true; }

  private:
    [[nodiscard]] bytes constant_of(int pe) const { return support::pattern(m_size, 1000 + std::uint64_t(pe)); }
    [[nodiscard]] bytes put_by(int pe) const { return support::pattern(m_size, 7 * m_run + std::uint64_t(pe)); }

    device_scene m_scene;
    support::queue_handle m_other_queue; // a wait holds back what is behind it
    std::size_t m_size;
    static constexpr std::size_t row = 8;
    framed_range m_sent, m_got, m_rows, m_fetched;
    int m_pe = 0, m_peer = 0;
    void *m_put = nullptr, *m_constant = nullptr;
    std::uint64_t* m_signal = nullptr;
    bytes m_source;
    std::uint64_t m_run = 0;
};

/// Every collective, a put of strided elements and a change of a word. What fails on one PE fails on all, or the next
/// calls would meet the wrong ones.
class collectives_scenario final : public scenario {
  public:
    explicit collectives_scenario(cl_device_id device) : m_scene(device), m_sent(m_scene, bytes_of(count)) {
        if (causeway_symmetric_init(m_scene.context(), device, MPI_COMM_WORLD, std::size_t{1} << 20) != CL_SUCCESS)
            throw std::runtime_error(causeway_error_last_message());
        m_pe = causeway_symmetric_pe();
        m_pes = static_cast<std::size_t>(causeway_symmetric_pes());
        for (auto& each : m_heap)
            each = static_cast<cl_uint*>(causeway_symmetric_calloc(count * m_pes, sizeof(cl_uint)));
        // A heap keeps the program of a reduction, and its queue.
        EXPECT_EQ(clEnqueueSymmetricReduce(m_scene.queue(), CL_TRUE, m_heap[summed], m_heap[source], count,
                                           CL_ELEMENT_UINT, CL_REDUCE_SUM, 0, nullptr, nullptr),
                  CL_SUCCESS);
    }
    collectives_scenario(const collectives_scenario&) = delete;
    collectives_scenario& operator=(const collectives_scenario&) = delete;
    ~collectives_scenario() override { EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS); }

    void reset() override {
        ++m_run;
        m_source = support::pattern(bytes_of(count), m_run);
        m_sent.fill(m_source);
        EXPECT_EQ(causeway_symmetric_put(m_heap[source], m_source.data(), m_source.size(), m_pe), CL_SUCCESS);
        const bytes zeros(bytes_of(count) * m_pes, 0);
        for (auto target : {summed, spread, collected, exchanged, strided, word})
            EXPECT_EQ(causeway_symmetric_put(m_heap[target], zeros.data(), zeros.size(), m_pe), CL_SUCCESS);
    }

    std::vector<started> start() override {
        auto* const on = m_scene.queue();
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricReduce(on, CL_FALSE, m_heap[summed], m_heap[source], count, CL_ELEMENT_UINT,
                                            CL_REDUCE_SUM, 0, nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricBroadcast(on, CL_FALSE, m_heap[spread], m_heap[source], bytes_of(count), 0, 0,
                                               nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricCollect(on, CL_FALSE, m_heap[collected], m_heap[source], bytes_of(count), 0,
                                             nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricAllToAll(on, CL_FALSE, m_heap[exchanged], m_heap[source], part(), 0, nullptr,
                                              event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueuePutStrided(on, m_sent.buffer(), CL_FALSE, m_sent.offset(), 4, m_heap[strided], 8, 4,
                                       count / 2, m_pe, 0, nullptr, event);
        }));
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueSymmetricAtomic(on, CL_FALSE, CL_ATOMIC_SET, 8, m_heap[word], m_run, 0, m_pe, nullptr, 0, 0,
                                            nullptr, event);
        }));
        all.push_back(
            start_one([&](cl_event* event) { return clEnqueueSymmetricBarrier(on, CL_FALSE, 0, nullptr, event); }));
        return all;
    }

    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        m_sent.expect(m_source, m_source.size(), true, failed);
        bytes sums(m_source.size()), copies, parts;
        for (std::size_t at = 0; at < sums.size(); at += sizeof(cl_uint)) {
            cl_uint one = 0;
            std::memcpy(&one, &m_source[at], sizeof one);
            one *= static_cast<cl_uint>(m_pes);
            std::memcpy(&sums[at], &one, sizeof one);
        }
        const auto own = m_source.begin() + static_cast<std::ptrdiff_t>(part()) * m_pe;
        for (std::size_t pe = 0; pe < m_pes; ++pe) {
            copies.insert(copies.end(), m_source.begin(), m_source.end());
            parts.insert(parts.end(), own, own + static_cast<std::ptrdiff_t>(part()));
        }
        const std::pair<std::size_t, const bytes&> expected[] = {
            {summed, sums}, {spread, m_source}, {collected, copies}, {exchanged, parts}};
        for (const auto& [target, with] : expected)
            if (endings[target].succeeded()) {
                EXPECT_TRUE(support::same_bytes(with, seen(target, with.size()))) << "of command " << target;
            }
        bytes spaced(bytes_of(count), 0);
        for (std::size_t i = 0; i < count / 2; ++i)
            std::copy_n(m_source.begin() + static_cast<std::ptrdiff_t>(4 * i), 4,
                        spaced.begin() + static_cast<std::ptrdiff_t>(8 * i));
        if (endings[strided].succeeded()) {
            EXPECT_TRUE(support::same_bytes(spaced, seen(strided, spaced.size())));
        }
        std::uint64_t value = 0;
        EXPECT_EQ(causeway_symmetric_get(&value, m_heap[word], 8, m_pe), CL_SUCCESS);
        if (endings[word].succeeded()) {
            EXPECT_EQ(value, m_run);
        }
    }

    void touch() override { m_sent.touch(); }
    std::vector<cl_context> contexts() const override { return {m_scene.context()}; }
    std::vector<cl_command_queue> queues() const override { return {m_scene.queue()}; }
    bool has_messages() const override { return true; }

  private:
    static constexpr std::size_t count = 5000;
    /// Targets by the numbers of their commands.
    enum : std::size_t { summed, spread, collected, exchanged, strided, word, source, ranges };
    [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t elements) { return elements * sizeof(cl_uint); }
    [[nodiscard]] std::size_t part() const { return bytes_of(count) / m_pes; }
    [[nodiscard]] bytes seen(std::size_t which, std::size_t size) const {
        bytes read(size);
        EXPECT_EQ(causeway_symmetric_get(read.data(), m_heap[which], size, m_pe), CL_SUCCESS);
        return read;
    }

    device_scene m_scene;
    framed_range m_sent;
    std::array<cl_uint*, ranges> m_heap{};
    int m_pe = 0;
    std::size_t m_pes = 1;
    bytes m_source;
    std::uint64_t m_run = 0;
};

class pes final : public team {
  public:
    explicit pes(int leader) : m_leader(leader) { MPI_Comm_rank(MPI_COMM_WORLD, &m_rank); }
    bool leads() const override { return m_rank == m_leader; }
    bool any(bool mine) override {
        int all = mine ? 1 : 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
        // The ranks share the processors with those that they wait for.
        for (int done = 0; done == 0; std::this_thread::yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return all != 0;
    }

  private:
    int m_leader, m_rank = 0;
};

class one_sided_faults : public testing::TestWithParam<support::device_under_test> {
  protected:
    static void fail_calls(std::size_t size, int leader = 0) {
        const support::option_scope keep("keep", "0");
        one_sided_scenario run(GetParam().device, MPI_COMM_WORLD, size);
        pes together(leader);
        fail_every_call(run, together);
    }
};
INSTANTIATE_TEST_SUITE_P(devices, one_sided_faults, testing::ValuesIn(one_device_each()),
                         [](const auto& info) { return info.param.name; });

} // namespace

TEST_P(one_sided_faults, of_small_puts) { fail_calls(small); }

TEST_P(one_sided_faults, of_large_puts) { fail_calls(large); }

TEST_P(one_sided_faults, of_collectives_and_boxes) {
    const support::option_scope keep("keep", "0");
    collectives_scenario run(GetParam().device);
    pes together(0);
    fail_every_call(run, together);
}

/// A heap begins on all PEs or on none, and nothing of a refused one is in the way of the next.
TEST_P(one_sided_faults, of_the_begin_of_a_heap) {
    const support::option_scope keep("keep", "0");
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pes together(0);
    const device_scene scene(GetParam().device);
    const auto begin = [&](fault_point* failing, unsigned nth) {
        arm(together.leads() ? failing : nullptr, nth, 1);
        const cl_int begun = causeway_symmetric_init(scene.context(), GetParam().device, MPI_COMM_WORLD, 4096);
        const std::string why = causeway_error_last_message();
        const bool hit = together.any(disarm());
        const bool any_begun = together.any(begun == CL_SUCCESS), any_refused = together.any(begun != CL_SUCCESS);
        EXPECT_NE(any_begun, any_refused) << "code " << begun << ": " << why;
        if (begun == CL_SUCCESS) {
            EXPECT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
            EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
        } else {
            EXPECT_NE(why, "");
            EXPECT_EQ(causeway_symmetric_pe(), -1);
        }
        return hit;
    };
    EXPECT_FALSE(begin(nullptr, 0));
    for (auto* const each : all_points()) {
        // Ranks that cannot speak to one another cannot tell one another so. One that does not find another's memory
        // takes it for one of another node, and looks for it there for 10 s.
        if (ranks > 1 && each->from != layer::opencl) continue;
        for (unsigned nth = 0; nth < 30; ++nth) {
            const auto step = "call " + std::to_string(nth) + " of " + each->name + " fails";
            SCOPED_TRACE(step);
            enter_step(step);
            if (!begin(each, nth)) break;
            EXPECT_FALSE(begin(nullptr, 0));
        }
    }
}

namespace {

/// Whether heaps of the device are served by messages: over a link, or by a device that was not used before.
/// Collective.
bool is_served(const device_scene& scene, cl_device_id device) {
    EXPECT_EQ(causeway_symmetric_init(scene.context(), device, MPI_COMM_WORLD, 4096), CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
    const char* const bridge = std::getenv("CAUSEWAY_BRIDGE");
    return pretended_discrete_devices::has_deceived(device) || (bridge != nullptr && std::string(bridge) == "host");
}

/// A heap that PEs serve by messages, which the first one cannot begin while a `Trouble` lives there.
template <class Trouble> void expect_no_begin(cl_device_id device, const std::string& cause, Trouble make_trouble) {
    const support::option_scope keep("keep", "0");
    const pretended_discrete_devices served;
    pes together(0);
    const device_scene scene(device);
    if (!is_served(scene, device)) GTEST_SKIP() << "the device was used before, as one of the host's memory";
    const auto init = [&] { return causeway_symmetric_init(scene.context(), device, MPI_COMM_WORLD, 4096); };
    {
        const auto trouble = together.leads() ? make_trouble() : decltype(make_trouble()){};
        EXPECT_NE(init(), CL_SUCCESS);
        EXPECT_NE(std::string(causeway_error_last_message()).find(cause), std::string::npos)
            << causeway_error_last_message();
        EXPECT_EQ(causeway_symmetric_pe(), -1);
    }
    EXPECT_FALSE(together.any(false)); // the trouble is over
    ASSERT_EQ(init(), CL_SUCCESS) << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
}

struct failing_calls {
    explicit failing_calls(const char* name) { arm(&point(name), 0, all_that_follow); }
    failing_calls(const failing_calls&) = delete;
    failing_calls& operator=(const failing_calls&) = delete;
    ~failing_calls() { EXPECT_TRUE(disarm()); }
};

} // namespace

TEST_P(one_sided_faults, of_an_engine_that_does_not_answer_at_the_begin) {
    expect_no_begin(GetParam().device,
                    "PE 0: serving the symmetric heap: the thread that advances transfers is held up",
                    [] { return std::make_unique<held_calls>(point("PMPI_Irecv")); });
}

TEST_P(one_sided_faults, of_a_pe_that_cannot_listen_at_the_begin) {
    expect_no_begin(GetParam().device, "PE 0: MPI_Irecv", [] { return std::make_unique<failing_calls>("PMPI_Irecv"); });
}

namespace {

/// Heaps served by messages, of which `failing` fails on the first PE while the others wait for it: for what they get,
/// and for a word.
void expect_end_of_waits(cl_device_id device, const char* failing) {
    const support::option_scope keep("keep", "0");
    const pretended_discrete_devices served;
    pes together(0);
    const device_scene scene(device);
    if (!is_served(scene, device)) GTEST_SKIP() << "the device was used before, as one of the host's memory";
    ASSERT_EQ(causeway_symmetric_init(scene.context(), device, MPI_COMM_WORLD, 4096), CL_SUCCESS)
        << causeway_error_last_message();
    auto* const word = static_cast<std::uint64_t*>(causeway_symmetric_calloc(1, sizeof(std::uint64_t)));
    ASSERT_NE(word, nullptr);
    if (together.leads()) arm(&point(failing), 0, all_that_follow);
    EXPECT_FALSE(together.any(false)); // it fails from now on
    const auto ended = [&](cl_int code) {
        const std::string why = causeway_error_last_message();
        EXPECT_EQ(code, CL_TRANSFER_PEER_FAILED) << why;
        // A PE of another node sees the connection end.
        const bool told = together.leads() ? why.find("MPI_I") != std::string::npos
                                           : why.find("PE 0 has given up") != std::string::npos ||
                                                 why.find("gave up as its MPI failed") != std::string::npos;
        EXPECT_TRUE(told) << why;
    };
    std::uint64_t got = 0;
    if (!together.leads()) { // one that it has heard before is answered
        cl_int code = CL_SUCCESS;
        while (code == CL_SUCCESS) code = causeway_symmetric_get(&got, word, sizeof got, 0);
        ended(code);
    }
    ended(causeway_symmetric_wait(word, sizeof *word, CL_COMPARE_EQ, 1));
    EXPECT_FALSE(together.any(false)); // all have seen it
    // PEs of one node meet without messages.
    static_cast<void>(causeway_symmetric_barrier());
    static_cast<void>(causeway_symmetric_finalize());
    EXPECT_EQ(causeway_symmetric_pe(), -1);
    if (together.leads()) {
        EXPECT_TRUE(disarm());
    }
    EXPECT_FALSE(together.any(false)); // nothing fails any more
    ASSERT_EQ(causeway_symmetric_init(scene.context(), device, MPI_COMM_WORLD, 4096), CL_SUCCESS)
        << causeway_error_last_message();
    EXPECT_EQ(causeway_symmetric_barrier(), CL_SUCCESS);
    EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
}

} // namespace

TEST_P(one_sided_faults, of_a_pe_that_cannot_listen_any_more) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1) GTEST_SKIP() << "takes one that asks";
    expect_end_of_waits(GetParam().device, "PMPI_Irecv");
}

TEST_P(one_sided_faults, of_a_pe_that_cannot_answer_any_more) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1) GTEST_SKIP() << "takes one that asks";
    expect_end_of_waits(GetParam().device, "PMPI_Isend");
}

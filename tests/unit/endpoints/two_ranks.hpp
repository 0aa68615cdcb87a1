// SPDX-License-Identifier: Apache-2.0
// Two ranks with an engine and a messenger each, between them the fake network.
#pragma once

#include "unit/endpoints/fake_network.hpp"
#include "unit/transfer/fakes.hpp"

#include "endpoints/device/address_ranges.hpp"
#include "endpoints/mpi/rank_endpoint.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace unit {

inline constexpr int tag = 7;

/// A window of host memory that blocks from another rank arrive in.
class arrivals final : public staging_allocator {
  public:
    static constexpr std::size_t bytes = std::size_t{64} << 10;
    explicit arrivals(bridge::windows& windows, const bridge::device_uuid& device = {})
        : m_window(windows.create(device, bytes)), m_ranges(m_window->address(), bytes) {}

    [[nodiscard]] std::byte* allocate(std::size_t wanted) override { return m_ranges.take(wanted); }
    void release(std::byte* memory, std::size_t size) noexcept override {
        if (reusable(memory)) m_ranges.give(memory, size);
    }
    [[nodiscard]] bool has_room(std::size_t wanted) const override { return m_ranges.has_room(wanted); }
    [[nodiscard]] bool reusable(const std::byte* memory) const override { return m_given_up.count(memory) == 0; }
    void give_up(const std::byte* memory) override { m_given_up.insert(memory); }
    [[nodiscard]] std::byte* first() const { return m_window->address(); }

  private:
    std::shared_ptr<bridge::known_window> m_window;
    endpoints::address_ranges m_ranges;
    std::set<const std::byte*> m_given_up;
};

/// What a device that meets others in windows has.
struct windowed_device {
    windowed_device(bridge::windows& windows, const options& settings, const monotonic_clock& clock,
                    const bridge::device_uuid& device = {})
        : windows(windows), device(device), memory(std::make_shared<arrivals>(windows, device)),
          pool(settings, clock, arrivals::bytes) {}
    bridge::windows& windows;
    bridge::device_uuid device;
    std::shared_ptr<arrivals> memory;
    staging_pool pool; // of the memory
};

/// Where the bytes of a device are.
enum class home { ordinary, in_window };

/// Device memory whose steps end at once; one of them may fail. With `window`, a device that meets others in windows.
class instant_memory final : public endpoint, window_source, window_target {
  public:
    instant_memory(std::vector<std::byte>& bytes, int failing_call, std::shared_ptr<windowed_device> window = nullptr,
                   home where = home::ordinary)
        : m_bytes(bytes), m_failing(failing_call), m_window(std::move(window)) {
        if (where == home::ordinary || bytes.empty()) return;
        m_home = m_window->memory->allocate(bytes.size()); // null if they are too many
        if (m_home != nullptr) std::copy(bytes.begin(), bytes.end(), m_home);
    }
    ~instant_memory() override {
        if (m_home != nullptr) m_window->memory->release(m_home, m_bytes.size());
    }
    [[nodiscard]] endpoint_traits traits() const override {
        return {
            .kind = medium::device,
            .device = {.is_known = m_window != nullptr, .uuid = m_window ? m_window->device : bridge::device_uuid{}},
            .in_window = m_home != nullptr};
    }
    [[nodiscard]] abilities offers() override { return {.leaves = this, .arrives = this}; }
    [[nodiscard]] bool use(const device_memory&) override { return false; }
    [[nodiscard]] device_name device_for(endpoint&) override { return traits().device; }
    [[nodiscard]] bool reaches(const device_name& other) const override {
        return m_window != nullptr && m_window->windows.bridge()->reaches(m_window->device, other.uuid);
    }
    [[nodiscard]] device_memory window() override {
        if (!m_window) return {};
        if (m_home != nullptr) return {.first = m_home};
        return {m_window->memory->first(), m_window->memory, &m_window->pool};
    }
    [[nodiscard]] std::string name() const override { return "memory"; }
    void read(std::size_t offset, block_reference to, step& done) override {
        if (m_failing-- == 0) return done.finish({0, {status::out_of_resources, 0, 0, "reading fails"}});
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.address());
        done.finish({to.size(), {}});
    }
    void write(std::size_t offset, block_reference from, step& done) override {
        if (m_failing-- == 0) return done.finish({0, {status::out_of_resources, 0, 0, "writing fails"}});
        auto* const to = m_home != nullptr ? m_home : m_bytes.data();
        std::copy_n(from.address(), from.size(), to + offset);
        done.finish({from.size(), {}});
    }
    void close(std::size_t, const failure&, step& done) override {
        if (m_home != nullptr) std::copy_n(m_home, m_bytes.size(), m_bytes.begin());
        done.finish({});
    }

  private:
    std::vector<std::byte>& m_bytes;
    int m_failing;
    std::shared_ptr<windowed_device> m_window;
    std::byte* m_home = nullptr; // in the window
};

/// How bytes travel in a test of the protocol.
struct way_of_blocks {
    const char* title;
    const char* strategy;
    home where = home::ordinary; ///< the bytes of both devices
};

inline std::string title_of(const ::testing::TestParamInfo<way_of_blocks>& each) { return each.param.title; }

/// Every test of the protocol, with blocks as messages, in memory that both ranks have mapped, in memory of a device,
/// and between buffers that lie there.
class by_strategy : public ::testing::TestWithParam<way_of_blocks> {
  public:
    by_strategy() {
        name = GetParam().strategy;
        where = GetParam().where;
    }
    ~by_strategy() override { find_segment = comm::shared_segment::open; }
    inline static const char* name = "";
    inline static home where = home::ordinary;
    inline static endpoints::windows::finder find_segment = comm::shared_segment::open;
    [[nodiscard]] static bool on_device() { return std::string(name) == "device-window"; }
    [[nodiscard]] static bool shares_windows() { return std::string(name) == "shared-window" || on_device(); }
};
#define CAUSEWAY_BY_STRATEGY(suite)                                                                                    \
    INSTANTIATE_TEST_SUITE_P(, suite,                                                                                  \
                             ::testing::Values(way_of_blocks{"messages", "pipelined"},                                 \
                                               way_of_blocks{"window", "shared-window"},                               \
                                               way_of_blocks{"device_window", "device-window"},                        \
                                               way_of_blocks{"buffers_in_windows", "device-window", home::in_window}), \
                             title_of)

/// As above, for what blocks on devices do not do: come before the receive has started.
#define CAUSEWAY_BY_HOST_STRATEGY(suite)                                                                               \
    INSTANTIATE_TEST_SUITE_P(                                                                                          \
        , suite, ::testing::Values(way_of_blocks{"messages", "pipelined"}, way_of_blocks{"window", "shared-window"}),  \
        title_of)

struct one_rank {
    one_rank(fake_network& network, int number, std::uint64_t node = 1)
        : messages(settings, network.port(number), by_strategy::find_segment, node, &windows) {
        settings.set("strategy", by_strategy::name);
        settings.set("block", "4");
        settings.set("depth", "2");
        settings.set("eager", "0");
        machine.add(messages);
        if (!by_strategy::on_device()) return;
        windows.use(bridge::make_host_bridge());
        window = std::make_shared<windowed_device>(windows, settings, clock);
        messages.devices().use(std::make_unique<comm::node_post>(key, number), number);
    }
    /// `other` opens this rank's window.
    void show_window(int number, one_rank& other, int others_number) {
        if (!window) return;
        messages.devices().know(others_number, other.key);
        messages.devices().comes_from(others_number, {});
        messages.devices().offer(others_number, window->memory->first());
        other.messages.devices().look();
        other.messages.devices().show_filler({}, number);
        messages.devices().look();
    }
    void settle() {
        while (machine.step()) {}
    }
    fake_clock clock;
    options settings;
    engine machine{settings, clock, 1};
    bridge::windows windows{settings};
    std::shared_ptr<windowed_device> window;
    const comm::socket_key key = comm::socket_key::make();
    endpoints::messenger messages;
    ordered_gate turns;
    std::vector<int> order;

    std::shared_ptr<command> send(std::vector<std::byte>& bytes, int to, int with_tag = tag, int failing = -1,
                                  std::vector<std::unique_ptr<gate>> gates = {}) {
        auto work = bench::make(std::make_unique<instant_memory>(bytes, failing, window, by_strategy::where),
                                endpoints::make_send_endpoint({messages, turns}, 0, to, with_tag), bytes.size(),
                                nullptr, std::move(gates));
        machine.submit(work);
        return work;
    }
    std::shared_ptr<command> receive(std::vector<std::byte>& bytes, int from, int with_tag = tag, int failing = -1,
                                     std::vector<std::unique_ptr<gate>> gates = {}) {
        auto work = bench::make(endpoints::make_receive_endpoint({messages, turns}, 0, from, with_tag, nullptr),
                                std::make_unique<instant_memory>(bytes, failing, window, by_strategy::where),
                                bytes.size(), nullptr, std::move(gates));
        machine.submit(work);
        return work;
    }
};

struct two_ranks {
    std::uint64_t node_of_b = 1; // a's is 1
    fake_network network{2};
    one_rank a{network, 0}, b{network, 1, node_of_b};
    bool windows_are_open = show_windows();

    bool show_windows() {
        a.show_window(0, b, 1);
        b.show_window(1, a, 0);
        return true;
    }

    void settle() {
        for (bool moves = true; moves;) {
            moves = a.machine.step();
            moves = b.machine.step() || moves;
        }
    }
    /// Delivers everything in the order that `choices` says.
    void run(chooser& choices) {
        settle();
        while (network.deliverable() > 0) {
            network.deliver(choices.choose(network.deliverable()));
            settle();
        }
    }
    /// As above, and what has to be repeated is repeated.
    void run_on(chooser& choices) {
        run(choices);
        for (int i = 0; i < 10; ++i) {
            for (auto* const rank : {&a, &b}) rank->clock.advance(std::chrono::seconds(1));
            run(choices);
        }
    }
    /// Nothing is left over: no exchange, no block receive, no message that nobody takes.
    void expect_quiet(const std::string& when = "") {
        SCOPED_TRACE(when);
        EXPECT_FALSE(a.messages.busy());
        EXPECT_FALSE(b.messages.busy());
        for (int rank = 0; rank < 2; ++rank) {
            EXPECT_LE(network.open_receives(rank), 4u); // the listeners
            EXPECT_EQ(network.unexpected(rank), 0u);
        }
        EXPECT_EQ(a.machine.staging().held_bytes(), 0u);
        EXPECT_EQ(b.machine.staging().held_bytes(), 0u);
        for (const auto& each : {a.window, b.window}) EXPECT_EQ(each ? each->pool.held_bytes() : 0u, 0u);
    }
};

inline int status_of(const std::shared_ptr<command>& work) { return work->report().status; }

} // namespace unit

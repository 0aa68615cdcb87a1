// SPDX-License-Identifier: Apache-2.0
// Endpoints, gates and a clock that a test moves by hand.
#pragma once

#include "unit/explore.hpp"

#include "transfer/engine.hpp"

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace unit {

using namespace causeway;
using namespace causeway::transfer;

class fake_clock final : public monotonic_clock {
  public:
    [[nodiscard]] time_point now() const override { return m_now; }
    void advance(std::chrono::nanoseconds time) { m_now += time; }

  private:
    time_point m_now = time_point(std::chrono::hours(1));
};

/// Steps that somebody has begun and that the test ends one by one, in any order.
class pending_steps {
  public:
    void add(step& which, std::function<outcome()> work) { m_steps.push_back({&which, std::move(work)}); }
    [[nodiscard]] std::size_t count() const { return m_steps.size(); }
    void finish(std::size_t index) {
        auto done = std::move(m_steps[index]);
        m_steps.erase(m_steps.begin() + static_cast<std::ptrdiff_t>(index));
        done.which->finish(done.work());
    }

  private:
    struct pending {
        step* which;
        std::function<outcome()> work;
    };
    std::vector<pending> m_steps;
};

/// Counts the calls of a scenario, and makes one of them fail.
struct fault_plan {
    int failing_call = -1; ///< counted from 0; -1 for none
    int calls = 0;
    [[nodiscard]] bool fails() { return calls++ == failing_call; }
};

/// Bytes in a vector, behind an endpoint whose every step waits for the test.
class fake_endpoint final : public endpoint, waiting_end, lending_target, window_source {
  public:
    struct life {
        int enqueued = 0, abandoned = 0, opened = 0, prepared = 0, closed = 0, cancelled = 0;
        int asked = 0; // for its traits
        int in_flight = 0, most_in_flight = 0;
        std::vector<std::size_t> read_offsets, write_offsets;
        std::size_t close_moved = 0;
        failure close_error;
        std::vector<std::uint64_t> goes_to; // a source
    };

    fake_endpoint(pending_steps& steps, std::vector<std::byte>& bytes, endpoint_traits traits, life& seen,
                  fault_plan* faults = nullptr)
        : m_steps(steps), m_bytes(bytes), m_traits(traits), m_seen(seen), m_faults(faults) {}

    [[nodiscard]] endpoint_traits traits() const override {
        ++m_seen.asked;
        auto told = m_traits;
        told.sets_size = m_sets_size;
        return told;
    }
    [[nodiscard]] std::string name() const override { return "fake"; }
    [[nodiscard]] abilities offers() override { return {.waits = this, .lends = this, .leaves = this}; }
    [[nodiscard]] std::size_t block_limit() const override { return m_block_limit; }
    void set_size_at_open(std::size_t bytes) {
        m_sets_size = true;
        m_size = bytes;
    }
    void set_block_limit(std::size_t bytes) { m_block_limit = bytes; }
    void set_first_block(std::size_t bytes) { m_first_block = bytes; }
    /// A source that ends before the transfer does.
    void set_end(std::size_t bytes) { m_end = bytes; }

    void enqueued() override { ++m_seen.enqueued; }
    void abandoned() override { ++m_seen.abandoned; }
    void open(const open_request& request, step& done) override {
        ++m_seen.opened;
        m_mapped = request.map;
        const auto bytes = m_sets_size ? m_size : request.bytes;
        if (fails()) {
            m_steps.add(done, [this] {
                --m_seen.opened;
                return broken(0);
            });
        } else {
            m_steps.add(done, [this, bytes] {
                if (m_seen.cancelled == 0) return outcome{bytes, {}};
                --m_seen.opened;
                return outcome{0, {status::cancelled, 0, 0, "the fake was cancelled"}};
            });
        }
    }
    std::size_t prepare(std::size_t block_bytes) override {
        ++m_seen.prepared;
        return m_first_block == 0 ? block_bytes : m_first_block;
    }
    [[nodiscard]] std::byte* memory() const override {
        return m_mapped || m_traits.has_memory ? m_bytes.data() : nullptr;
    }
    void read(std::size_t offset, block_reference block, step& done) override {
        m_seen.read_offsets.push_back(offset);
        begin(done, [this, offset, block, fault = fails()] {
            const auto there = offset < m_end ? std::min(block.size(), m_end - offset) : 0;
            if (fault) return broken(0);
            std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), there, block.address());
            if (there < block.size()) return outcome{there, {status::end_of_file, 0, 0, "the end"}};
            return outcome{block.size(), {}};
        });
    }
    void write(std::size_t offset, block_reference block, step& done) override {
        m_seen.write_offsets.push_back(offset);
        begin(done, [this, offset, block, fault = fails()] {
            if (fault) return broken(0);
            // What does not lie in a device's memory already does not get there.
            if (!m_lends_device_memory)
                std::copy(block.begin(), block.end(), m_bytes.begin() + static_cast<std::ptrdiff_t>(offset));
            return outcome{block.size(), {}};
        });
    }
    void cancel() override { ++m_seen.cancelled; }

    /// As a target: lends the memory of its bytes, which `reader` reads.
    void lend_for(std::uint64_t reader, bool is_device_memory = false) {
        m_reader = reader;
        m_lends_device_memory = is_device_memory;
    }
    [[nodiscard]] bool lends_device_memory() const override { return m_lends_device_memory; }
    [[nodiscard]] bool lends() const override { return m_reader != 0; }
    void lend(std::shared_ptr<staging_allocator>, std::function<void()>) override {}
    [[nodiscard]] bool reaches(const device_name&) const override { return false; }
    [[nodiscard]] bool use(const device_memory&) override { return false; }
    [[nodiscard]] std::uint64_t reader() const override { return m_reader; }
    [[nodiscard]] block_memory borrow(std::size_t offset) override {
        return {m_bytes.data() + offset, m_lends_device_memory ? memory_kind::window : memory_kind::host};
    }
    void goes_to(std::uint64_t process) override { m_seen.goes_to.push_back(process); }
    void close(std::size_t moved, const failure& error, step& done) override {
        ++m_seen.closed;
        m_seen.close_moved = moved;
        m_seen.close_error = error;
        m_steps.add(done, [fault = fails()] { return fault ? broken(0) : outcome{}; });
    }

  private:
    [[nodiscard]] bool fails() { return m_faults != nullptr && m_faults->fails(); }
    static outcome broken(std::size_t bytes) { return {bytes, {status::io_error, 5, 0, "broken by the test"}}; }
    void begin(step& done, std::function<outcome()> work) {
        m_seen.most_in_flight = std::max(m_seen.most_in_flight, ++m_seen.in_flight);
        m_steps.add(done, [this, work = std::move(work)] {
            --m_seen.in_flight;
            return work();
        });
    }

    pending_steps& m_steps;
    std::vector<std::byte>& m_bytes;
    endpoint_traits m_traits;
    life& m_seen;
    fault_plan* m_faults;
    bool m_mapped = false;
    std::uint64_t m_reader = 0;
    bool m_lends_device_memory = false;
    std::size_t m_first_block = 0;
    bool m_sets_size = false;
    std::size_t m_size = 0;
    std::size_t m_end = std::numeric_limits<std::size_t>::max();
    std::size_t m_block_limit = std::numeric_limits<std::size_t>::max();
};

/// Opens, or fails, when the test says so.
struct fake_gate_state {
    gate::state value = gate::state::closed;
    int looks = 0, armed = 0;
    std::shared_ptr<waker> engine;
    std::uint64_t command = 0;
};

class fake_gate final : public gate {
  public:
    explicit fake_gate(fake_gate_state& state) : m_state(state) {}
    [[nodiscard]] state look() override {
        ++m_state.looks;
        return m_state.value;
    }
    void arm(const std::shared_ptr<waker>& engine, std::uint64_t command) override {
        ++m_state.armed;
        m_state.engine = engine;
        m_state.command = command;
    }

  private:
    fake_gate_state& m_state;
};

/// Notes how a command ended, and in which order commands did.
class fake_listener final : public completion_listener {
  public:
    explicit fake_listener(std::vector<int>& order, int name) : m_order(order), m_name(name) {}
    void completed(const failure& result) override {
        ++times;
        error = result;
        m_order.push_back(m_name);
    }
    void step_over() override {
        ++steps_over;
        if (at_step_over) at_step_over();
    }
    int times = 0, steps_over = 0;
    std::function<void()> at_step_over;
    failure error;

  private:
    std::vector<int>& m_order;
    int m_name;
};

/// An engine with fakes all around.
struct bench {
    fake_clock clock;
    options settings;
    pending_steps steps;
    std::vector<int> order;
    std::unique_ptr<engine> machine = std::make_unique<engine>(settings, clock, 2);

    /// Steps until nothing more happens by itself.
    void settle() {
        while (machine->step()) {}
    }
    [[nodiscard]] std::shared_ptr<fake_listener> listener(int name = 0) {
        return std::make_shared<fake_listener>(order, name);
    }
    [[nodiscard]] static std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 1) {
        std::vector<std::byte> made(bytes);
        for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + seed * 17 + i / 251) & 0xff);
        return made;
    }
    [[nodiscard]] static std::shared_ptr<command> make(std::unique_ptr<endpoint> source,
                                                       std::unique_ptr<endpoint> target, std::size_t bytes,
                                                       std::shared_ptr<completion_listener> told,
                                                       std::vector<std::unique_ptr<gate>> gates = {},
                                                       std::vector<std::shared_ptr<command>> after = {}) {
        std::vector<std::unique_ptr<flow>> flows;
        flows.push_back(std::make_unique<flow>(std::move(source), std::move(target), bytes));
        return std::make_shared<command>(std::move(flows), std::move(told), std::move(gates), std::move(after));
    }
};

} // namespace unit

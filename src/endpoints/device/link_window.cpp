// SPDX-License-Identifier: Apache-2.0
// Copies on the device by OpenCL, between devices by the bridge, one after the other for each block.
#include "endpoints/device/link_window.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace causeway::endpoints {

/// The blocks of a window that others fill.
class link_window::arrival_memory final : public transfer::staging_allocator {
  public:
    explicit arrival_memory(std::shared_ptr<bridge::known_window> window)
        : m_window(std::move(window)), m_ranges(m_window->address(), m_window->bytes()) {}

    [[nodiscard]] const std::shared_ptr<bridge::known_window>& window() const { return m_window; }
    /// Part of it is never handed out again.
    [[nodiscard]] bool is_damaged() const { return !m_given_up.empty(); }

    [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
        auto* const block = m_ranges.take(bytes);
        if (block == nullptr)
            throw transfer_error(status::out_of_resources, "no room for " + bytes_text(bytes) + " in a window of " +
                                                               bytes_text(m_window->bytes()));
        return block;
    }
    [[nodiscard]] bool has_room(std::size_t bytes) const override { return m_ranges.has_room(bytes); }
    void release(std::byte* memory, std::size_t bytes) noexcept override {
        // What was given up is never handed out again.
        if (m_given_up.count(memory) == 0) m_ranges.give(memory, bytes);
    }
    [[nodiscard]] bool reusable(const std::byte* memory) const override { return m_given_up.count(memory) == 0; }
    void give_up(const std::byte* memory) override { m_given_up.insert(memory); }

  private:
    std::shared_ptr<bridge::known_window> m_window;
    address_ranges m_ranges;
    std::set<const std::byte*> m_given_up;
};

/// A block on its way to a window of another device.
class link_window::departure final : private transfer::step_owner {
  public:
    departure(link_window& owner, std::shared_ptr<bridge::known_window> window, cl::queue queue, buffer_range from,
              std::span<std::byte> block, transfer::step& done)
        : m_owner(owner), m_window(std::move(window)), m_queue(std::move(queue)), m_from(std::move(from)),
          m_block(block), m_done(done), m_step(*this) {}

    [[nodiscard]] std::size_t bytes() const { return m_block.size(); }

    void begin(std::byte* place) {
        m_place = place;
        m_step.begin();
        const auto& out = m_owner.m_imports.at(m_owner.m_out->key()).buffer;
        m_owner.copy(m_queue, out, m_from.buffer, m_from.offset, out,
                     static_cast<std::size_t>(place - m_owner.m_out->address()), m_block.size(), "copying out", m_step);
    }

  private:
    void step_finished() override {
        const auto result = m_step.take();
        if (!result.error && !std::exchange(m_crossing, true)) {
            m_step.begin();
            m_owner.m_bridge.copy(m_owner.m_uuid, m_block.data(), m_place, m_block.size(), m_step);
            return;
        }
        auto& done = m_done;
        m_owner.departed(*this, m_place, m_block.size()); // this is gone
        done.finish(result);
    }

    link_window& m_owner;
    std::shared_ptr<bridge::known_window> m_window;
    cl::queue m_queue;
    buffer_range m_from;
    std::span<std::byte> m_block;
    transfer::step& m_done;
    transfer::step m_step;
    std::byte* m_place = nullptr;
    bool m_crossing = false;
};

/// A copy on the device, whose time is looked at.
class link_window::timed_copy final : private transfer::step_owner {
  public:
    timed_copy(link_window& owner, std::size_t bytes, transfer::step& done)
        : m_owner(owner), m_bytes(bytes), m_done(done), m_step(*this), m_begun(owner.m_clock.now()) {
        m_step.begin();
    }
    [[nodiscard]] transfer::step& step() { return m_step; }

  private:
    void step_finished() override {
        const auto result = m_step.take();
        auto& done = m_done;
        m_owner.copied(*this, m_bytes, m_begun); // this is gone
        done.finish(result);
    }

    link_window& m_owner;
    std::size_t m_bytes;
    transfer::step& m_done;
    transfer::step m_step;
    time_point m_begun;
};

namespace {

/// Several of the largest copies one behind the other on a slow card take less; kernels worth overlapping take longer.
constexpr auto usual_time = std::chrono::milliseconds(1);
constexpr double usual_bytes_per_second = 100e9;
/// The first copies to and from memory that the driver has not laid out yet take as long.
constexpr unsigned slow_copies_of_a_crowd = 3;
constexpr auto longest_row = std::chrono::seconds(1);
/// For so long no other copy tries; twice as long each time.
constexpr auto first_crowded_time = std::chrono::seconds(1), longest_crowded_time = std::chrono::seconds(64);

/// Of what the option allows: the most is for blocks that arrive, as these wait for the other end too.
std::size_t bytes_in(const options& settings) { return settings[option::window] / 2; }

} // namespace

link_window::link_window(const options& settings, const monotonic_clock& clock, bridge_watch& bridge,
                         copy_watch& copies, cl::context context, cl_device_id device)
    : m_options(settings), m_clock(clock), m_bridge(bridge), m_copies(copies), m_context(std::move(context)), m_device(device),
      m_uuid(cl::facts_of(device).uuid), m_external(device), m_pool(settings, clock, bytes_in(settings)) {}

link_window::~link_window() = default;

bool link_window::possible(const bridge::windows& windows, cl_device_id device) {
    const auto facts = cl::facts_of(device);
    if (!windows.serves(facts.uuid) || facts.host_memory != windows.bridge()->host_memory()) return false;
    return facts.host_memory || facts.imports_memory;
}

std::size_t link_window::largest_departure() const { return m_out ? m_out->bytes() : m_options[option::window] / 4; }

bool link_window::can_depart() {
    if (m_out) return true;
    const auto now = m_clock.now();
    if (now < m_next_departure) return false;
    m_next_departure = now + std::chrono::milliseconds(m_options[option::keep]);
    try {
        m_bridge.windows().bridge()->start(m_uuid);
        auto made = m_bridge.windows().create(m_uuid, largest_departure());
        (void)import(made);
        m_out_ranges.emplace(made->address(), made->bytes());
        m_out = std::move(made);
        return true;
    } catch (...) {
        return false; // as for arrivals()
    }
}

transfer::device_memory link_window::arrivals() {
    if (m_in && m_in->is_damaged()) return {}; // it goes with the link
    if (!m_in) {
        const auto now = m_clock.now();
        if (now < m_next_try) return {};
        m_next_try = now + std::chrono::milliseconds(m_options[option::keep]);
        try {
            auto window = m_bridge.windows().create(m_uuid, bytes_in(m_options));
            (void)import(window);
            m_in = std::make_shared<arrival_memory>(std::move(window));
        } catch (...) {
            return {}; // the device's memory is full, or the option forbids it: there are other ways
        }
    }
    return {m_in->window()->address(), m_in, &m_pool};
}

bool link_window::can_fill(const bridge::known_window& window) const {
    return window.device() == m_uuid || m_bridge.windows().bridge()->reaches(m_uuid, window.device());
}

const cl::buffer& link_window::import(const std::shared_ptr<bridge::known_window>& window) {
    std::erase_if(m_imports, [](const auto& each) { return each.second.window.expired(); });
    auto& known = m_imports[window->key()];
    if (!known.buffer) {
        if (m_bridge.windows().bridge()->host_memory()) {
            cl_int code = CL_SUCCESS;
            known.buffer = cl::buffer::adopt(clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                            window->bytes(), window->address(), &code));
            cl::check(code, "making a buffer of a window");
        } else {
            known.buffer = m_external.import(m_context.get(), window->shared().release(), window->bytes());
        }
        known.window = window;
    }
    return known.buffer;
}

void link_window::copy(const cl::queue& queue, const cl::buffer& window, const cl::buffer& from,
                       std::size_t from_offset, const cl::buffer& to, std::size_t to_offset, std::size_t bytes,
                       const char* what, transfer::step& done) {
    const bool owned = m_bridge.windows().bridge()->host_memory();
    cl_event raw = nullptr;
    cl_int code = owned ? CL_SUCCESS : m_external.acquire(queue.get(), window.get());
    if (code == CL_SUCCESS)
        code = clEnqueueCopyBuffer(queue.get(), from.get(), to.get(), from_offset, to_offset, bytes, 0, nullptr,
                                   owned ? &raw : nullptr);
    if (code == CL_SUCCESS && !owned) code = m_external.release(queue.get(), window.get(), &raw);
    auto running = cl::event::adopt(raw);
    const auto offset = to.get() == window.get() ? from_offset : to_offset;
    if (code == CL_SUCCESS) {
        m_copying.push_back(std::make_unique<timed_copy>(*this, bytes, done));
        m_copies.add(queue, std::move(running), offset, bytes, what, m_copying.back()->step());
    } else {
        // What was enqueued may still use the block.
        (void)clFinish(queue.get());
        done.finish({0, {code, 0, 0, buffer_text(what, offset, bytes) + ": " + cl::code_text(code)}});
    }
}

void link_window::fill(const std::shared_ptr<bridge::known_window>& window, const cl::queue& queue,
                       const buffer_range& from, std::span<std::byte> block, transfer::step& done) {
    try {
        // A device that does not reach itself over the bridge needs none.
        if (!m_bridge.windows().bridge()->reaches(m_uuid, window->device())) {
            if (window->device() != m_uuid)
                throw transfer_error(status::invalid_operation, "no direct link leads to the device that a block is for");
            const auto& there = import(window);
            copy(queue, there, from.buffer, from.offset, there, static_cast<std::size_t>(block.data() - window->address()),
                 block.size(), "copying out", done);
            return;
        }
        if (from.home != nullptr) {
            m_bridge.copy(m_uuid, block.data(), from.home, block.size(), done);
            return;
        }
        if (!m_out || block.size() > m_out->bytes())
            throw transfer_error(status::out_of_resources, "no room for a block of " + bytes_text(block.size()) +
                                                               " on its way to another device");
        m_departures.push_back(std::make_unique<departure>(*this, window, queue, from, block, done));
        m_waiting.push_back(m_departures.back().get());
    } catch (...) {
        done.finish({0, current_failure()});
        return;
    }
    begin_departures();
}

void link_window::copied(timed_copy& which, std::size_t bytes, time_point begun) {
    const std::chrono::duration<double> usual(double(bytes) / usual_bytes_per_second);
    const auto now = m_clock.now();
    if (now - begun <= usual_time + usual) {
        m_slow_in_a_row = 0;
        m_crowded_time = {};
    } else if (m_slow_in_a_row == 0 || begun >= m_slow_at) {
        m_slow_in_a_row = m_slow_in_a_row == 0 || now - m_slow_at > longest_row ? 1 : m_slow_in_a_row + 1;
        m_slow_at = now;
        if (m_slow_in_a_row < slow_copies_of_a_crowd || is_crowded()) return forget(which);
        m_slow_in_a_row = 0;
        m_crowded_time = std::clamp(2 * m_crowded_time, first_crowded_time, longest_crowded_time);
        m_crowded_until = now + m_crowded_time;
        if (m_options[option::explain] != 0)
            tell_user("copies on the device wait for kernels: its transfers go through the host for " +
                      std::to_string(m_crowded_time.count()) + " s");
    }
    forget(which);
}

void link_window::forget(const timed_copy& which) {
    std::erase_if(m_copying, [&](const auto& each) { return each.get() == &which; });
}

void link_window::begin_departures() {
    while (!m_waiting.empty()) {
        auto& next = *m_waiting.front();
        auto* const place = m_out_ranges->take(next.bytes());
        if (place == nullptr) return;
        m_waiting.pop_front();
        next.begin(place);
    }
}

void link_window::departed(departure& which, std::byte* place, std::size_t bytes) {
    m_out_ranges->give(place, bytes);
    std::erase_if(m_departures, [&](const auto& each) { return each.get() == &which; });
    begin_departures();
}

void link_window::empty(const std::shared_ptr<bridge::known_window>& window, const cl::queue& queue,
                        std::span<const std::byte> block, const buffer_range& to, transfer::step& done) {
    try {
        const auto& there = import(window);
        copy(queue, there, there, static_cast<std::size_t>(block.data() - window->address()), to.buffer, to.offset,
             block.size(), "copying in", done);
    } catch (...) {
        done.finish({0, current_failure()});
    }
}

} // namespace causeway::endpoints

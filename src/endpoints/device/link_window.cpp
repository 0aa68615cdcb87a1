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

/// A block on its way to a window of another device.
class link_window::departure final : private transfer::step_owner {
  public:
    departure(link_window& owner, std::shared_ptr<bridge::known_window> out,
              std::shared_ptr<bridge::known_window> window, buffer_range from, transfer::block_reference block,
              transfer::step& done)
        : m_owner(owner), m_out(std::move(out)), m_window(std::move(window)), m_from(std::move(from)), m_block(block),
          m_done(done), m_step(*this) {}

    void begin() {
        m_owner.m_shared->when_room(m_block.size(), [this](std::byte* range) { copy_out(range); });
    }
    void give_back() { m_owner.m_shared->give(m_range, m_block.size()); }

  private:
    void copy_out(std::byte* range) {
        m_range = range;
        m_step.begin();
        try {
            const auto& out = m_owner.import(m_out);
            m_owner.copy(direction::out, out, m_from.buffer, m_from.offset, out,
                         static_cast<std::size_t>(range - m_out->address()), m_block.size(), "copying out", m_step);
        } catch (...) {
            m_step.finish({0, current_failure()});
        }
    }
    void step_finished() override {
        const auto result = m_step.take();
        const bool has_crossed = std::exchange(m_crossing, true);
        if (!has_crossed) m_owner.m_shared->is_there(m_block.size());
        if (!result.error && !has_crossed) {
            m_step.begin();
            m_owner.m_bridge.copy(m_owner.m_uuid, m_block.address(), m_range, m_block.size(), m_step);
            return;
        }
        auto& done = m_done;
        m_owner.departed(*this); // this is gone
        done.finish(result);
    }

    link_window& m_owner;
    std::shared_ptr<bridge::known_window> m_out, m_window; // it goes through the first into the second
    buffer_range m_from;
    transfer::block_reference m_block;
    transfer::step& m_done;
    transfer::step m_step;
    std::byte* m_range = nullptr;
    bool m_crossing = false;
};

/// A copy on the device, whose time is looked at.
class link_window::timed_copy final : private transfer::step_owner {
  public:
    timed_copy(link_window& owner, std::size_t bytes, bool is_judged, transfer::step& done)
        : m_owner(owner), m_bytes(bytes), m_is_judged(is_judged), m_done(done), m_step(*this),
          m_begun(owner.m_clock.now()) {
        m_step.begin();
    }
    [[nodiscard]] transfer::step& step() { return m_step; }

  private:
    void step_finished() override {
        const auto result = m_step.take();
        auto& done = m_done;
        m_owner.copied(*this, m_bytes, m_begun, m_is_judged); // this is gone
        done.finish(result);
    }

    link_window& m_owner;
    std::size_t m_bytes;
    bool m_is_judged;
    transfer::step& m_done;
    transfer::step m_step;
    time_point m_begun;
};

namespace {

/// Several of the largest copies one behind the other on a slow card take less; kernels worth overlapping take longer.
constexpr auto usual_time = std::chrono::milliseconds(1);
constexpr double usual_bytes_per_second = 100e9;
constexpr unsigned slow_copies_of_a_crowd = 3;
constexpr auto longest_row = std::chrono::seconds(1);
/// An engine that was away for so large a part of the time cannot tell when a copy was over.
constexpr int look_away_part = 4;
/// The first copies to and from memory that the driver has not laid out yet take as long as those behind kernels.
constexpr std::size_t most_known_buffers = 64;
/// For so long no other copy tries; twice as long each time.
constexpr auto first_crowded_time = std::chrono::seconds(1), longest_crowded_time = std::chrono::seconds(64);

} // namespace

link_window::link_window(const options& settings, const monotonic_clock& clock, bridge_watch& bridge,
                         copy_watch& copies, std::shared_ptr<device_windows> shared, cl::context context,
                         cl_device_id device)
    : m_options(settings), m_clock(clock), m_bridge(bridge), m_copies(copies), m_shared(std::move(shared)),
      m_context(std::move(context)), m_device(device), m_uuid(m_shared->device()), m_external(device) {}

link_window::~link_window() = default;

bool link_window::possible(const bridge::windows& windows, cl_device_id device) {
    const auto facts = cl::facts_of(device);
    if (!windows.serves(facts.uuid) || facts.host_memory != windows.bridge()->host_memory()) return false;
    return facts.host_memory || facts.imports_memory;
}

bool link_window::imports(const std::shared_ptr<bridge::known_window>& window) {
    // What is under way goes on.
    const auto known = m_imports.find(window->key());
    if (known != m_imports.end() && known->second.buffer) return true;
    if (m_clock.now() < m_next_import) return false;
    try {
        (void)import(window);
        return true;
    } catch (const transfer_error& refused) {
        m_next_import = m_clock.now() + std::chrono::milliseconds(m_options[option::keep]);
        m_shared->say_once(std::string("no window of the device: ") + refused.what());
        return false; // there are other ways
    }
}

bool link_window::may_import() const {
    return m_clock.now() >= m_next_import ||
           std::any_of(m_imports.begin(), m_imports.end(), [](const auto& each) { return bool(each.second.buffer); });
}

std::shared_ptr<bridge::known_window> link_window::departures() {
    if (!may_import()) return nullptr;
    auto out = m_shared->departures();
    return out && imports(out) ? out : nullptr;
}

transfer::device_memory link_window::arrivals() {
    if (!may_import()) return {};
    auto memory = m_shared->arrivals();
    if (memory.first == nullptr || !imports(m_bridge.windows().at(memory.first))) return {};
    return memory;
}

bool link_window::can_fill(const bridge::known_window& window) const {
    return window.device() == m_uuid || m_bridge.windows().bridge()->reaches(m_uuid, window.device());
}

const cl::buffer& link_window::import(const std::shared_ptr<bridge::known_window>& window) {
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

void link_window::trim() {
    std::erase_if(m_imports, [](const auto& each) { return each.second.window.expired(); });
}

const cl::queue& link_window::queue(direction which) {
    auto& made = m_queues[static_cast<std::size_t>(which)];
    if (!made) made = cl::make_queue(m_context.get(), m_device);
    return made;
}

void link_window::copy(direction which, const cl::buffer& window, const cl::buffer& from, std::size_t from_offset,
                       const cl::buffer& to, std::size_t to_offset, std::size_t bytes, const char* what,
                       transfer::step& done) {
    const bool owned = m_bridge.windows().bridge()->host_memory();
    const auto& queue = this->queue(which);
    const bool is_known = this->is_known(which == direction::out ? from.get() : to.get());
    cl_event raw = nullptr;
    cl_int code = owned ? CL_SUCCESS : m_external.acquire(queue.get(), window.get());
    if (code == CL_SUCCESS) {
        code = clEnqueueCopyBuffer(queue.get(), from.get(), to.get(), from_offset, to_offset, bytes, 0, nullptr,
                                   owned ? &raw : nullptr);
        const auto released = owned ? CL_SUCCESS : m_external.release(queue.get(), window.get(), &raw);
        if (code == CL_SUCCESS) code = released;
    }
    auto running = cl::event::adopt(raw);
    const auto offset = which == direction::out ? from_offset : to_offset;
    if (code == CL_SUCCESS) {
        m_copying.push_back(std::make_unique<timed_copy>(*this, bytes, is_known, done));
        m_copies.add_at_once(queue, std::move(running), offset, bytes, what, m_copying.back()->step());
    } else {
        // What was enqueued may still use the block.
        (void)clFinish(queue.get());
        done.finish({0, {code, 0, 0, buffer_text(what, offset, bytes) + ": " + cl::code_text(code)}});
    }
}

bool link_window::is_known(cl_mem buffer) {
    if (std::find(m_known_buffers.begin(), m_known_buffers.end(), buffer) != m_known_buffers.end()) return true;
    m_known_buffers.push_back(buffer);
    if (m_known_buffers.size() > most_known_buffers) m_known_buffers.pop_front();
    return false;
}

void link_window::fill(const std::shared_ptr<bridge::known_window>& window, const buffer_range& from,
                       transfer::block_reference block, transfer::step& done) {
    try {
        // A device that does not reach itself over the bridge needs none.
        if (!m_bridge.windows().bridge()->reaches(m_uuid, window->device())) {
            if (window->device() != m_uuid)
                throw transfer_error(status::invalid_operation,
                                     "no direct link leads to the device that a block is for");
            const auto& there = import(window);
            copy(direction::out, there, from.buffer, from.offset, there,
                 static_cast<std::size_t>(block.address() - window->address()), block.size(), "copying out", done);
            return;
        }
        if (from.home != nullptr) {
            m_bridge.copy(m_uuid, block.address(), from.home, block.size(), done);
            return;
        }
        auto out = departures();
        if (!out || block.size() > out->bytes())
            throw transfer_error(status::out_of_resources, "no room for a block of " + bytes_text(block.size()) +
                                                               " on its way to another device");
        m_departures.push_back(std::make_unique<departure>(*this, std::move(out), window, from, block, done));
    } catch (...) {
        done.finish({0, current_failure()});
        return;
    }
    m_departures.back()->begin();
}

void link_window::copied(timed_copy& which, std::size_t bytes, time_point begun, bool is_judged) {
    if (is_judged) judge(bytes, begun);
    forget(which);
}

void link_window::judge(std::size_t bytes, time_point begun) {
    const std::chrono::duration<double> usual(double(bytes) / usual_bytes_per_second);
    const auto now = m_clock.now();
    if (now - begun <= usual_time + usual) {
        m_slow_in_a_row = 0;
        m_crowded_time = {};
        return;
    }
    if (now - std::max(begun, m_copies.looked_before()) > (now - begun) / look_away_part) return;
    if (m_slow_in_a_row > 0 && begun < m_slow_at) return;
    m_slow_in_a_row = m_slow_in_a_row == 0 || now - m_slow_at > longest_row ? 1 : m_slow_in_a_row + 1;
    m_slow_at = now;
    if (m_slow_in_a_row < slow_copies_of_a_crowd || is_crowded()) return;
    m_slow_in_a_row = 0;
    m_crowded_time = std::clamp(2 * m_crowded_time, first_crowded_time, longest_crowded_time);
    m_crowded_until = now + m_crowded_time;
    m_shared->tell("copies on the device wait for kernels: its transfers go through the host for " +
                   std::to_string(m_crowded_time.count()) + " s");
}

void link_window::forget(const timed_copy& which) {
    std::erase_if(m_copying, [&](const auto& each) { return each.get() == &which; });
}

void link_window::departed(departure& which) {
    const auto over = std::find_if(m_departures.begin(), m_departures.end(),
                                   [&](const auto& each) { return each.get() == &which; });
    (*over)->give_back();
    m_departures.erase(over);
}

void link_window::empty(const std::shared_ptr<bridge::known_window>& window, transfer::block_reference block,
                        const buffer_range& to, transfer::step& done) {
    try {
        const auto& there = import(window);
        copy(direction::in, there, there, static_cast<std::size_t>(block.address() - window->address()), to.buffer,
             to.offset, block.size(), "copying in", done);
    } catch (...) {
        done.finish({0, current_failure()});
    }
}

} // namespace causeway::endpoints

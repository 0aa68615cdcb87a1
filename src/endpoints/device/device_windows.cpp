// SPDX-License-Identifier: Apache-2.0
// Makes the windows of a device, and lets go of them.
#include "endpoints/device/device_windows.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace causeway::endpoints {

namespace {

/// What windows are rounded up to on GPUs: two that are whole units stay within an option that is none.
constexpr std::size_t unit = std::size_t{2} << 20;
std::size_t whole(std::size_t bytes) { return std::max(unit, bytes / unit * unit); }
/// Of what the option allows: the most is for blocks that arrive, as these wait for the other end too.
std::size_t arrival_bytes(const options& settings) { return whole(settings[option::window] / 2); }
/// A copy of so much on the device takes as long as enqueueing the next.
constexpr std::size_t much = std::size_t{16} << 20;
std::size_t departure_bytes(const options& settings) { return whole(settings[option::window] / 4); }

} // namespace

/// The blocks of a window that others fill.
class device_windows::arrival_memory final : public transfer::staging_allocator {
  public:
    explicit arrival_memory(std::shared_ptr<bridge::known_window> window)
        : m_window(std::move(window)), m_ranges(m_window->address(), m_window->bytes()) {}

    [[nodiscard]] std::byte* first() const { return m_window->address(); }
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
        if (reusable(memory)) m_ranges.give(memory, bytes);
    }
    [[nodiscard]] bool reusable(const std::byte* memory) const override { return m_given_up.count(memory) == 0; }
    void give_up(const std::byte* memory) override { m_given_up.insert(memory); }

  private:
    std::shared_ptr<bridge::known_window> m_window;
    address_ranges m_ranges;
    std::set<const std::byte*> m_given_up;
};

device_windows::device_windows(const options& settings, const monotonic_clock& clock, bridge::windows& windows,
                               const bridge::device_uuid& device)
    : m_options(settings), m_clock(clock), m_windows(windows), m_device(device),
      m_pool(settings, clock, arrival_bytes(settings)) {}

device_windows::~device_windows() = default;

std::shared_ptr<bridge::known_window> device_windows::make(std::size_t bytes, const char* what_for,
                                                           time_point& next_try) {
    const auto now = m_clock.now();
    if (now < next_try) return nullptr;
    next_try = now + std::chrono::milliseconds(m_options[option::keep]);
    try {
        m_windows.bridge()->start(m_device);
        return m_windows.create(m_device, bytes);
    } catch (...) {
        say_once(std::string("no window of the device for blocks that ") + what_for + ": " + current_failure().message);
        return nullptr;
    }
}

void device_windows::say_once(const std::string& why) {
    if (std::exchange(m_told, why) != why) tell(why);
}

std::shared_ptr<bridge::known_window> device_windows::departures() {
    if (!m_out) {
        m_out = make(departure_bytes(m_options), "leave", m_next_out);
        if (m_out) m_out_ranges.emplace(m_out->address(), m_out->bytes());
    }
    m_out_used = m_clock.now();
    return m_out;
}

void device_windows::when_room(std::size_t bytes, std::function<void(std::byte*)> begin) {
    m_waiting.push_back({bytes, std::move(begin)});
    (void)serve();
}

void device_windows::give(std::byte* range, std::size_t bytes) {
    m_out_ranges->give(range, bytes);
    m_out_used = m_clock.now();
}

bool device_windows::serve() {
    bool progress = false;
    while (!m_waiting.empty() && m_entering < much) {
        auto* const range = m_out_ranges->take(m_waiting.front().bytes);
        if (range == nullptr) break;
        const auto next = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_entering += next.bytes;
        next.begin(range);
        progress = true;
    }
    return progress;
}

transfer::device_memory device_windows::arrivals() {
    // Blocks that are under way keep what is damaged, and so does a process that may still write to it.
    if (m_in && m_in->is_damaged()) m_in = nullptr;
    if (!m_in)
        if (auto made = make(arrival_bytes(m_options), "arrive", m_next_in))
            m_in = std::make_shared<arrival_memory>(std::move(made));
    if (!m_in) return {};
    m_in_used = m_clock.now();
    return {m_in->first(), m_in, &m_pool};
}

bool device_windows::trim(time_point now) {
    const auto keep = std::chrono::milliseconds(m_options[option::keep]);
    (void)m_pool.trim();
    // What is under way, and blocks that are kept for others, hold the memory too.
    if (m_in && m_in.use_count() == 1 && now - m_in_used >= keep) m_in = nullptr;
    if (m_out && m_out.use_count() == 1 && now - m_out_used >= keep) {
        m_out_ranges.reset();
        m_out = nullptr;
    }
    return m_in || m_out;
}

} // namespace causeway::endpoints

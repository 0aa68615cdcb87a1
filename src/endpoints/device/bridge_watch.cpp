// SPDX-License-Identifier: Apache-2.0
// Asks the bridge about its copies.
#include "endpoints/device/bridge_watch.hpp"

#include "base/error.hpp"

#include <utility>

namespace causeway::endpoints {

void bridge_watch::copy(const bridge::device_uuid& by, std::byte* to, const std::byte* from, std::size_t bytes,
                        transfer::step& done) {
    try {
        m_copies.push_back({m_windows.bridge()->begin_copy(by, to, from, bytes), bytes, &done});
    } catch (...) {
        const auto why = current_failure();
        m_windows.break_off(why.message);
        done.finish({0, why});
    }
}

namespace {

/// A copy of so many bytes is over soon: it is asked again at once, which takes less than all else that the engine
/// looks at in between.
constexpr std::size_t largest_asked_again = std::size_t{64} << 10;
constexpr int looks_at_once = 8;

} // namespace

bool bridge_watch::poll(time_point) {
    bool progress = false;
    for (std::size_t i = 0; i < m_copies.size();) {
        auto state = m_windows.bridge()->look(m_copies[i].number);
        for (int look = 1;
             state == bridge::copy_state::running && m_copies[i].bytes <= largest_asked_again && look < looks_at_once;
             ++look)
            state = m_windows.bridge()->look(m_copies[i].number);
        if (state == bridge::copy_state::running) {
            ++i;
            continue;
        }
        progress = true;
        const auto over = m_copies[i];
        m_copies.erase(m_copies.begin() + static_cast<std::ptrdiff_t>(i));
        // It may begin the next one.
        if (state == bridge::copy_state::done) {
            over.done->finish({over.bytes, {}});
        } else {
            const auto why = "the link between the devices failed while it copied " + bytes_text(over.bytes);
            m_windows.break_off(why);
            over.done->finish({0, {status::out_of_resources, 0, 0, why}});
        }
    }
    return progress;
}

} // namespace causeway::endpoints

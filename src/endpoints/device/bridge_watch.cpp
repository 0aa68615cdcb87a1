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

bool bridge_watch::poll(time_point) {
    bool progress = false;
    for (std::size_t i = 0; i < m_copies.size();) {
        const auto state = m_windows.bridge()->look(m_copies[i].number);
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

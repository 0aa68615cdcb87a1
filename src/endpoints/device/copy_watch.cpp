// SPDX-License-Identifier: Apache-2.0
// Polls the events of copies under way: cheaper and faster than a callback while they are few and short.
#include "endpoints/device/copy_watch.hpp"

#include "cl/calls.hpp"

namespace causeway::endpoints {

void copy_watch::add(cl::event running, std::size_t bytes, const char* what, transfer::step& done) {
    m_copies.push_back({std::move(running), bytes, what, &done});
}

bool copy_watch::poll(time_point) {
    bool progress = false;
    // A step that finishes may add copies.
    for (std::size_t i = 0; i < m_copies.size();) {
        const auto status = cl::status_of(m_copies[i].running.get());
        if (status > CL_COMPLETE) {
            ++i;
            continue;
        }
        auto ended = std::move(m_copies[i]);
        m_copies.erase(m_copies.begin() + static_cast<std::ptrdiff_t>(i));
        progress = true;
        if (status == CL_COMPLETE) {
            ended.done->finish({ended.bytes, {}});
        } else {
            ended.done->finish({0, {status, 0, 0, std::string(ended.what) + ": " + cl::code_text(status)}});
        }
    }
    return progress;
}

} // namespace causeway::endpoints

// SPDX-License-Identifier: Apache-2.0
// Streams for a while once blocks through the caches were slow; the longer, the more often that is found again.
#include "endpoints/device/outward_copies.hpp"

#include <algorithm>

namespace causeway::endpoints {

namespace {

constexpr auto shortest_span = std::chrono::milliseconds(20);
constexpr auto longest_span = std::chrono::milliseconds(500);
/// One block tells what streaming brings.
constexpr auto rate_lasts = std::chrono::seconds(1);
/// One block may be slow because the thread had to wait for its processor; after streaming it confirms what is known.
constexpr int slow_blocks = 2, slow_blocks_again = 1;

} // namespace

bool outward_copies::is_to_stream(time_point now) const {
    return now < m_streams_until || m_streamed_rate == 0 || now - m_streamed_last >= rate_lasts;
}

void outward_copies::learn(bool streamed, std::size_t bytes, time_point begun, time_point ended) {
    const auto seconds = std::chrono::duration<double>(ended - begun).count();
    if (seconds <= 0) return;
    const auto rate = static_cast<double>(bytes) / seconds;
    if (streamed) {
        m_streamed_rate = rate;
        m_streamed_last = ended;
    } else if (rate >= m_streamed_rate / 2) {
        m_slow = 0;
        m_span = {};
    } else if (++m_slow >= (m_span.count() == 0 ? slow_blocks : slow_blocks_again)) {
        m_slow = 0;
        m_span = std::clamp<std::chrono::nanoseconds>(2 * m_span, shortest_span, longest_span);
        m_streams_until = ended + m_span;
    }
}

} // namespace causeway::endpoints

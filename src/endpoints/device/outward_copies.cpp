// SPDX-License-Identifier: Apache-2.0
// Streams for a while once blocks through the caches were slow; the longer, the more often that is found again.
#include "endpoints/device/outward_copies.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

namespace {

constexpr auto shortest_span = std::chrono::milliseconds(20);
constexpr auto longest_span = std::chrono::milliseconds(500);
/// Two blocks tell what streaming brings, as one may meet memory that is new, or have to wait for its processor.
constexpr int streamed_to_know = 2;
constexpr auto rate_lasts = std::chrono::seconds(1);
/// One block may be slow because the thread had to wait for its processor; after streaming it confirms what is known.
constexpr int slow_blocks = 2, slow_blocks_again = 1;

} // namespace

bool outward_copies::is_to_stream(time_point now) const {
    return now < m_streams_until || m_streamed < streamed_to_know || now - m_streamed_last >= rate_lasts;
}

void outward_copies::learn(bool streamed, std::size_t bytes, time_point begun, time_point ended) {
    const auto seconds = std::chrono::duration<double>(ended - begun).count();
    if (seconds <= 0) return;
    const auto rate = static_cast<double>(bytes) / seconds;
    if (streamed) {
        if (begun - m_streamed_last >= rate_lasts) m_streamed = 0;
        m_rate_before = std::exchange(m_rate, rate);
        m_streamed = std::min(m_streamed + 1, streamed_to_know);
        m_streamed_last = ended;
        if (m_suspected > 0 && m_streamed == streamed_to_know) confirm(ended);
    } else if (!is_slow(rate)) {
        m_slow = 0;
        m_span = {};
    } else if (++m_slow >= (m_span.count() == 0 ? slow_blocks : slow_blocks_again)) {
        // Perhaps where the bytes come from is slow: streaming is asked beside it.
        m_slow = 0;
        m_suspected = rate;
        m_streamed = 0;
    }
}

bool outward_copies::is_slow(double rate) const { return rate < std::max(m_rate, m_rate_before) / 2; }

void outward_copies::confirm(time_point now) {
    if (is_slow(std::exchange(m_suspected, 0))) {
        m_span = std::clamp<std::chrono::nanoseconds>(2 * m_span, shortest_span, longest_span);
        m_streams_until = now + m_span;
    } else {
        m_span = {};
    }
}

} // namespace causeway::endpoints

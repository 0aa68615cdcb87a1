// SPDX-License-Identifier: Apache-2.0
// Names the activities of a flow's two ends.
#include "transfer/flow_trace.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

activity moves_of(side where, medium kind, bool direct) {
    if (direct) return activity::copy;
    const bool source = where == side::source;
    switch (kind) {
    case medium::device: return source ? activity::copy_out : activity::copy_in;
    case medium::rank: return source ? activity::receive : activity::send;
    case medium::host:
    case medium::file:
    case medium::stream: break;
    }
    return source ? activity::read : activity::write;
}

} // namespace

void flow_trace::use(recorder* to, std::uint64_t transfer, unsigned flow) {
    m_to = to;
    m_transfer = transfer;
    m_flow = flow;
}

void flow_trace::planned(const endpoint_traits& source, const endpoint_traits& target, const plan& chosen) {
    m_ends[0] = {moves_of(side::source, source.kind, chosen.direct), source.kind, chosen.map_source, source.resource};
    m_ends[1] = {moves_of(side::target, target.kind, chosen.direct), target.kind, chosen.map_target, target.resource};
}

void flow_trace::tell(side where, activity what, time_point begun, std::size_t offset, std::size_t bytes,
                      bool failed) const {
    m_to->block_over({m_transfer, m_flow, what, at(where).resource, offset, bytes, begun, m_to->now(), failed});
}

void flow_trace::block_over(side where, time_point begun, std::size_t offset, std::size_t bytes, bool failed) const {
    if (m_to == nullptr) return;
    tell(where, at(where).moves, std::max(begun, m_started), offset, bytes, failed);
}

void flow_trace::opened(side where, std::size_t bytes, bool failed) const {
    // What a gated flow has met holds up nobody.
    if (m_to == nullptr || m_started == time_point{}) return;
    if (at(where).maps) {
        tell(where, where == side::source ? activity::map_out : activity::map_in, m_started, 0, bytes, failed);
    } else if (at(where).kind == medium::rank) {
        tell(where, activity::meet, m_started, 0, 0, failed);
    }
}

void flow_trace::closed(side where, std::size_t bytes) const {
    if (m_to == nullptr || !at(where).maps) return;
    tell(where, where == side::source ? activity::map_out : activity::map_in, m_closing, 0, bytes, false);
}

} // namespace causeway::transfer

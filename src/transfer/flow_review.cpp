// SPDX-License-Identifier: Apache-2.0
// What the blocks of a flow took, for the tuner, its user and the timeline.
#include "transfer/flow_review.hpp"

#include "transfer/tuner/explanation.hpp"
#include "transfer/tuner/estimate.hpp"

namespace causeway::transfer {

namespace {

/// Times what it is known to take, that is still its own time.
constexpr double longest_of_a_link = 4;

} // namespace

void flow_review::teach(tuner& pupil, bool was_alone) const {
    const auto& chosen = m_flow.m_plan;
    if (!chosen || m_flow.m_failure || chosen->direct || m_flow.m_ahead || m_flow.m_early) return;
    const auto &source = m_flow.m_source_traits, &target = m_flow.m_target_traits;
    if (chosen->device_window && (source.in_window || target.in_window)) return;
    const bool shares = m_flow.shares_memory();
    const auto samples = [&](side where, bool is_mapped) {
        return is_mapped ? m_flow.m_timer.map_sample(where, m_flow.m_bytes) : m_flow.m_timer.samples(where);
    };
    const auto from = samples(side::source, chosen->map_source), to = samples(side::target, chosen->map_target);
    if (auto* const probe = m_flow.m_probe.get()) {
        probe->source = from;
        probe->target = to;
        probe->was_alone = was_alone;
        probe->shared = shares && !chosen->device_window;
        probe->linked = chosen->device_window;
        return;
    }
    // Who forces plans tries what may be bad, and figures do not matter to them.
    if (!was_alone || chosen->why == plan::reason::forced) return;
    if (chosen->device_window) {
        teach_link(pupil);
        return;
    }
    // Beside another rank on the same processors a device is slower than it is in a process of its own.
    const bool has_rank = way().touches(medium::rank);
    const auto learn = [&](const endpoint_traits& end, operation what, const sample_pair& seen) {
        // Figures of a device are those of its commands.
        if (end.resource.empty() || end.maps_at_once || (has_rank && end.kind == medium::device)) return;
        for (const auto& each : seen) pupil.learn(end.resource, what, each);
    };
    switch (source.kind) {
    case medium::device: learn(source, chosen->map_source ? operation::map_out : operation::copy_out, from); break;
    case medium::file:
        // What the engine's thread reads by itself tells nothing of blocks that I/O threads come for.
        if (!m_flow.m_read_at_once) learn(source, operation::read, from);
        break;
    case medium::rank: learn(source, shares ? operation::window : operation::receive, from); break;
    default: break;
    }
    switch (target.kind) {
    case medium::device: learn(target, chosen->map_target ? operation::map_in : operation::copy_in, to); break;
    case medium::file: learn(target, operation::write, to); break;
    case medium::rank:
        if (!shares) learn(target, operation::send, to);
        break;
    default: break;
    }
}

void flow_review::teach_link(tuner& pupil) const {
    const auto learn = [&](const endpoint_traits& end, operation what, side where) {
        if (end.resource.empty()) return;
        const auto known = pupil.find(end.resource, what);
        for (const auto& each : m_flow.m_timer.samples(where)) {
            // It waited for a kernel: that is no property of the link, which plans would shun for ever.
            if (known && each.seconds > longest_of_a_link * known->seconds(each.bytes)) continue;
            pupil.learn(end.resource, what, each);
        }
    };
    const auto &source = m_flow.m_source_traits, &target = m_flow.m_target_traits;
    // A sender's block is under way for as long as its own part takes, not the other rank's.
    if (target.kind == medium::rank) return;
    if (same_device(source.device, target.device)) return; // within one device there is no link
    learn(source, operation::link, side::source);
    learn(target, operation::link_in, side::target);
}

std::string flow_review::explanation(const tuner& known, std::chrono::nanoseconds took) const {
    if (!m_flow.m_plan || m_flow.m_probe) return {};
    const auto expected = estimate(known, way()).seconds(*m_flow.m_plan, m_flow.m_bytes);
    return explain({m_flow.m_source->name(), m_flow.m_target->name(), m_flow.m_bytes, m_flow.moved(), *m_flow.m_plan,
                    expected, took, m_flow.m_failure});
}

void flow_review::tell(transfer_span& told, const tuner& known) const {
    told.flow = m_flow.m_trace.flow();
    told.source = m_flow.m_source->name();
    told.target = m_flow.m_target->name();
    told.bytes = m_flow.m_bytes;
    told.moved = m_flow.moved();
    told.message = m_flow.m_message;
    if (m_flow.m_plan) {
        const auto along = way();
        const estimate figures(known, along);
        told.chosen = *m_flow.m_plan;
        told.expected_seconds = figures.seconds(told.chosen, told.bytes);
        told.limit_seconds = figures.limit(told.chosen, told.bytes);
    }
    m_flow.m_trace.to()->transfer_over(told);
}

} // namespace causeway::transfer

// SPDX-License-Identifier: Apache-2.0
// Disjoint segments of addresses, each with its last writer and those who have read it since.
#include "tasks/dependences.hpp"

#include <algorithm>
#include <iterator>

namespace causeway::tasks {

void dependence_node::precede(dependence_node& next) {
    if (&next == this || is_done()) return;
    const std::lock_guard lock(m_lock);
    if (m_done.load(std::memory_order_relaxed)) return;
    // One task often waits for another because of several segments in a row.
    if (!m_successors.empty() && m_successors.back() == &next) return;
    m_successors.push_back(&next);
    next.retain();
    next.hold();
}

void dependence_domain::enter(dependence_node& node, std::span<const region> regions) {
    for (const auto& each : regions)
        if (each.orders() && each.bytes != 0) enter_range(node, each);
    if (m_segments.size() >= m_sweep_at) sweep();
}

void dependence_domain::enter_range(dependence_node& node, const region& range) {
    const auto end = range.begin + range.bytes;
    split(range.begin);
    split(end);
    auto at = m_segments.lower_bound(range.begin);
    if (range.writes()) {
        for (auto each = at; each != m_segments.end() && each->first < end; ++each) {
            if (each->second.writer) each->second.writer->precede(node);
            for (auto* reader : each->second.readers) reader->precede(node);
        }
        // What needs memory comes before anything is forgotten.
        const auto whole = m_segments.try_emplace(range.begin).first;
        drop(whole->second);
        whole->second.end = end;
        whole->second.writer = &node;
        whole->second.readers.clear();
        node.retain();
        for (auto each = std::next(whole); each != m_segments.end() && each->first < end; each = m_segments.erase(each))
            drop(each->second);
        return;
    }
    for (auto from = range.begin; from < end;) {
        if (at == m_segments.end() || at->first > from) {
            const auto gap_end = at == m_segments.end() ? end : std::min(end, at->first);
            at = m_segments.emplace_hint(at, from, segment{gap_end, nullptr, {}});
        }
        auto& here = at->second;
        if (here.writer) here.writer->precede(node);
        if (here.readers.empty() || here.readers.back() != &node) {
            // Read by many for long: those that are done are of no use. Looked for each time that the number has
            // doubled.
            if (const auto count = here.readers.size(); count >= 16 && (count & (count - 1)) == 0)
                std::erase_if(here.readers, [](dependence_node* reader) {
                    const bool done = reader->is_done();
                    if (done) reader->release();
                    return done;
                });
            here.readers.push_back(&node);
            node.retain();
        }
        from = here.end;
        ++at;
    }
}

void dependence_domain::split(std::uintptr_t at) {
    auto after = m_segments.upper_bound(at);
    if (after == m_segments.begin()) return;
    const auto around = std::prev(after);
    if (around->first == at || around->second.end <= at) return;
    auto right = around->second;
    m_segments.emplace_hint(after, at, right);
    around->second.end = at;
    if (right.writer) right.writer->retain();
    for (auto* each : right.readers) each->retain();
}

void dependence_domain::drop(segment& which) {
    if (which.writer) which.writer->release();
    for (auto* each : which.readers) each->release();
}

void dependence_domain::sweep() {
    for (auto each = m_segments.begin(); each != m_segments.end();) {
        const auto* writer = each->second.writer;
        const auto& readers = each->second.readers;
        const bool over = (!writer || writer->is_done()) &&
                          std::all_of(readers.begin(), readers.end(),
                                      [](const auto* reader) { return reader->is_done(); });
        if (over) drop(each->second);
        each = over ? m_segments.erase(each) : std::next(each);
    }
    m_sweep_at = std::max<std::size_t>(1024, 2 * m_segments.size());
}

void dependence_domain::clear() {
    for (auto& each : m_segments) drop(each.second);
    m_segments.clear();
}

} // namespace causeway::tasks

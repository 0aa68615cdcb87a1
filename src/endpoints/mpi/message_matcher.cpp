// SPDX-License-Identifier: Apache-2.0
// Receives in order of enqueue, messages in order of arrival, both found by source and tag.
#include "endpoints/mpi/message_matcher.hpp"

#include <cstdint>
#include <utility>

namespace causeway::endpoints {

namespace {

/// The patterns that a message from `source` with `tag` fits.
template <class Do> void for_patterns(int source, int tag, Do&& act) {
    act(source, tag);
    act(any_source, tag);
    if (tag < 0) return; // the library's own: no wildcard is meant for them
    act(source, any_tag);
    act(any_source, any_tag);
}

} // namespace

template <class Do> void message_index::for_keys(const message& of, Do&& act) {
    for_patterns(of.source, of.tag, [&](int source, int tag) { act(key{source, tag, of.arrival}); });
}

void message_index::insert(const message& which) {
    for_keys(which, [&](const key& each) { m_keys.insert(each); });
}

void message_index::erase(const message& which) {
    for_keys(which, [&](const key& each) { m_keys.erase(each); });
}

std::optional<std::uint64_t> message_index::oldest(int source, int tag) const {
    const auto found = m_keys.lower_bound({source, tag, 0});
    if (found == m_keys.end() || std::get<0>(*found) != source || std::get<1>(*found) != tag) return {};
    return std::get<2>(*found);
}

std::optional<int> message_index::source_from(int first) const {
    const auto found = m_keys.lower_bound({first, INT32_MIN, 0});
    return found != m_keys.end() ? std::optional(std::get<0>(*found)) : std::nullopt;
}

message_matcher::entries::iterator message_matcher::first_fit(const message& which) {
    auto first = m_receives.end();
    for_patterns(which.source, which.tag, [&](int source, int tag) {
        const auto found = m_patterns.lower_bound({source, tag, 0});
        if (found == m_patterns.end() || std::get<0>(*found) != source || std::get<1>(*found) != tag) return;
        const auto position = std::get<2>(*found);
        if (first == m_receives.end() || position < first->first) first = m_receives.find(position);
    });
    return first;
}

bool message_matcher::would_overtake(const message& which, const entry& to) const {
    const auto is_older = [&](const message_index& of) {
        const auto found = of.oldest(which.source, to.tag);
        return found && *found < which.arrival;
    };
    return is_older(m_waiting) || is_older(m_early);
}

bool message_matcher::can_have(entries::iterator fit, const message& which) const {
    return fit != m_receives.end() && (fit->second.now == state::early || fit->second.now == state::open) &&
           !would_overtake(which, fit->second);
}

message_matcher::entries::iterator message_matcher::entry_of(const receiver& who) {
    const auto found = m_position_of.find(&who);
    return found != m_position_of.end() ? m_receives.find(found->second) : m_receives.end();
}

void message_matcher::enter(receiver& who, int source, int tag) {
    const auto position = ++m_entered;
    m_receives.emplace_hint(m_receives.end(), position, entry{&who, source, tag, state::gated});
    m_patterns.insert({source, tag, position});
    m_position_of.emplace(&who, position);
}

void message_matcher::open_early(receiver& who) {
    const auto found = entry_of(who);
    found->second.now = state::early;
    m_changes.push_back({change::of::opening, 0, 0, found->first});
    settle();
}

void message_matcher::open(receiver& who) {
    const auto found = entry_of(who);
    if (found->second.now == state::matched_early) {
        remove(found);
    } else {
        found->second.now = state::open;
        m_changes.push_back({change::of::opening, 0, 0, found->first});
    }
    settle();
}

void message_matcher::leave(receiver& who) {
    const auto found = entry_of(who);
    if (found == m_receives.end()) return;
    remove(found);
    settle();
}

void message_matcher::put_back(receiver& who, message&& found) {
    const auto receive = entry_of(who);
    if (receive != m_receives.end() && receive->second.now == state::matched_early) {
        drop_early(receive->second);
        receive->second.now = state::gated;
    }
    keep(std::move(found));
    leave(who);
}

void message_matcher::remove(entries::iterator receive) {
    const auto position = receive->first;
    auto& which = receive->second;
    if (which.now == state::matched_early) drop_early(which);
    m_changes.push_back({change::of::receive, which.source, which.tag, position});
    m_patterns.erase({which.source, which.tag, position});
    m_position_of.erase(which.who);
    m_receives.erase(receive);
}

void message_matcher::drop_early(entry& receive) {
    const auto& was = receive.early;
    m_early.erase(was);
    m_announced.erase({was.source, was.sender, was.arrival});
    m_changes.push_back({change::of::message, was.source, was.tag, 0});
}

void message_matcher::keep(message&& waiting) {
    m_waiting.insert(waiting);
    if (!waiting.eager) m_announced.insert({{waiting.source, waiting.sender, waiting.arrival}, 0});
    m_messages.emplace(waiting.arrival, std::move(waiting));
}

message message_matcher::take(messages::iterator waiting) {
    auto taken = std::move(waiting->second);
    m_messages.erase(waiting);
    m_waiting.erase(taken);
    if (!taken.eager) m_announced.erase({taken.source, taken.sender, taken.arrival});
    m_changes.push_back({change::of::message, taken.source, taken.tag, 0});
    return taken;
}

void message_matcher::give(entries::iterator fit, message&& found) {
    auto& who = *fit->second.who;
    if (fit->second.now == state::early) {
        fit->second.now = state::matched_early;
        fit->second.early = {
            .source = found.source, .tag = found.tag, .sender = found.sender, .arrival = found.arrival};
        m_early.insert(found);
        if (!found.eager) m_announced.insert({{found.source, found.sender, found.arrival}, fit->first});
    } else {
        remove(fit);
    }
    who.matched(std::move(found));
}

void message_matcher::arrived(message&& announced) {
    announced.arrival = ++m_arrivals;
    const auto fit = first_fit(announced);
    if (can_have(fit, announced)) {
        give(fit, std::move(announced));
        settle();
    } else {
        keep(std::move(announced));
    }
}

bool message_matcher::withdrawn(int source, std::uint64_t sender) {
    const auto found = m_announced.lower_bound({source, sender, 0});
    if (found == m_announced.end() || std::get<0>(found->first) != source || std::get<1>(found->first) != sender)
        return false;
    const auto arrival = std::get<2>(found->first);
    const auto position = found->second;
    if (position == 0) {
        (void)take(m_messages.find(arrival));
    } else {
        const auto early = m_receives.find(position);
        if (!early->second.who->withdrawn()) return false;
        drop_early(early->second);
        early->second.now = state::early;
        m_changes.push_back({change::of::opening, 0, 0, position});
    }
    settle();
    return true;
}

void message_matcher::forget_announced(int own) {
    for (auto each = m_messages.begin(); each != m_messages.end();) {
        const auto which = each++;
        if (!which->second.eager && which->second.source != own) (void)take(which);
    }
    settle();
}

void message_matcher::settle() {
    if (std::exchange(m_is_settling, true)) return;
    struct end_of_settling {
        bool& state;
        ~end_of_settling() { state = false; }
    } const end{m_is_settling};
    // By number: what is matched may add some.
    for (std::size_t next = 0; next < m_changes.size(); ++next) follow(change(m_changes[next]));
    m_changes.clear();
}

void message_matcher::follow(const change& up) {
    switch (up.what) {
    case change::of::message:
        // Of each source a receive gets the oldest message only. Those behind this one are now the oldest for what it
        // fits.
        (void)try_message(m_waiting.oldest(up.source, up.tag));
        (void)try_message(m_waiting.oldest(up.source, any_tag));
        return;
    case change::of::opening:
        if (const auto found = m_receives.find(up.position); found != m_receives.end()) try_receive(found);
        return;
    case change::of::receive: try_behind(up); return;
    }
}

bool message_matcher::try_message(std::optional<std::uint64_t> arrival, std::optional<std::uint64_t> only_to) {
    if (!arrival) return false;
    const auto found = m_messages.find(*arrival);
    const auto fit = first_fit(found->second);
    if (!can_have(fit, found->second) || (only_to && fit->first != *only_to)) return false;
    give(fit, take(found));
    return true;
}

void message_matcher::try_receive(entries::iterator receive) {
    const auto position = receive->first;
    const auto tag = receive->second.tag;
    // The oldest of all is the one, but where that waits for another receive.
    if (try_message(m_waiting.oldest(receive->second.source, tag), position) || receive->second.source != any_source)
        return;
    if (!m_waiting.oldest(any_source, tag)) return;
    std::optional<std::uint64_t> best;
    for (auto source = m_waiting.source_from(0); source; source = m_waiting.source_from(*source + 1)) {
        const auto oldest = m_waiting.oldest(*source, tag);
        if (!oldest || (best && *best < *oldest)) continue;
        const auto& which = m_messages.find(*oldest)->second;
        if (const auto fit = first_fit(which); fit->first == position && can_have(fit, which)) best = oldest;
    }
    (void)try_message(best, position);
}

void message_matcher::try_behind(const change& gone) {
    if (!m_waiting.oldest(gone.source, gone.tag)) return;
    if (gone.source != any_source && gone.tag != any_tag) {
        (void)try_message(m_waiting.oldest(gone.source, gone.tag));
        return;
    }
    for (auto each = m_receives.upper_bound(gone.position); each != m_receives.end();) {
        const auto position = each->first;
        const auto& next = each->second;
        // Behind one that all of those messages fit there is none for them.
        const bool takes_all = (next.source == any_source || next.source == gone.source) &&
                               (next.tag == any_tag || next.tag == gone.tag);
        if (next.now == state::early || next.now == state::open) try_receive(each);
        if (takes_all) return;
        each = m_receives.upper_bound(position);
    }
}

} // namespace causeway::endpoints

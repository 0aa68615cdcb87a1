// SPDX-License-Identifier: Apache-2.0
// Two lists: receives in order of enqueue, messages in order of arrival.
#include "endpoints/mpi/message_matcher.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

bool message_matcher::fits(const message& which, const entry& to) {
    // Tags below 0 are the library's own: no wildcard is meant for them.
    return (to.source == any_source || to.source == which.source) &&
           (to.tag == which.tag || (to.tag == any_tag && which.tag >= 0));
}

message_matcher::entries::iterator message_matcher::first_fit(const message& which) {
    return std::find_if(m_receives.begin(), m_receives.end(), [&](const entry& each) { return fits(which, each); });
}

bool message_matcher::would_overtake(const message& which, const entry& to) const {
    const auto is_older = [&](const message& other) {
        return other.arrival < which.arrival && other.source == which.source && fits(other, to);
    };
    return std::any_of(m_messages.begin(), m_messages.end(), is_older) ||
           std::any_of(m_receives.begin(), m_receives.end(), [&](const entry& each) {
               return each.now == state::matched_early && is_older(each.early);
           });
}

bool message_matcher::can_have(entries::iterator fit, const message& which) const {
    return fit != m_receives.end() && (fit->now == state::early || fit->now == state::open) &&
           !would_overtake(which, *fit);
}

message_matcher::entries::iterator message_matcher::entry_of(const receiver& who) {
    return std::find_if(m_receives.begin(), m_receives.end(), [&](const entry& each) { return each.who == &who; });
}

void message_matcher::enter(receiver& who, int source, int tag) {
    m_receives.push_back({&who, source, tag, state::gated});
}

void message_matcher::open_early(receiver& who) {
    entry_of(who)->now = state::early;
    match_waiting();
}

void message_matcher::open(receiver& who) {
    const auto found = entry_of(who);
    if (found->now == state::matched_early) {
        m_receives.erase(found);
    } else {
        found->now = state::open;
    }
    match_waiting();
}

void message_matcher::leave(receiver& who) {
    std::erase_if(m_receives, [&](const entry& each) { return each.who == &who; });
    match_waiting();
}

void message_matcher::put_back(receiver& who, message&& found) {
    const auto later = std::find_if(m_messages.begin(), m_messages.end(),
                                    [&](const message& each) { return each.arrival > found.arrival; });
    m_messages.insert(later, std::move(found));
    leave(who);
}

void message_matcher::give(entries::iterator fit, message&& found) {
    auto& who = *fit->who;
    if (fit->now == state::early) {
        fit->now = state::matched_early;
        fit->early = {.source = found.source, .tag = found.tag, .sender = found.sender, .arrival = found.arrival};
    } else {
        m_receives.erase(fit);
    }
    who.matched(std::move(found));
}

void message_matcher::arrived(message&& announced) {
    announced.arrival = ++m_arrivals;
    const auto fit = first_fit(announced);
    if (can_have(fit, announced)) {
        give(fit, std::move(announced));
    } else {
        m_messages.push_back(std::move(announced));
    }
}

bool message_matcher::withdrawn(int source, std::uint64_t sender) {
    const auto early = std::find_if(m_receives.begin(), m_receives.end(), [&](const entry& each) {
        return each.now == state::matched_early && each.early.source == source && each.early.sender == sender;
    });
    if (early != m_receives.end()) {
        if (!early->who->withdrawn()) return false;
        early->now = state::early;
        match_waiting();
        return true;
    }
    return std::erase_if(m_messages, [&](const message& each) {
               return !each.eager && each.source == source && each.sender == sender;
           }) > 0;
}

void message_matcher::match_waiting() {
    for (auto each = m_messages.begin(); each != m_messages.end();) {
        const auto fit = first_fit(*each);
        if (!can_have(fit, *each)) {
            ++each;
            continue;
        }
        auto found = std::move(*each);
        each = m_messages.erase(each);
        give(fit, std::move(found));
    }
}

} // namespace causeway::endpoints

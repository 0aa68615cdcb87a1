// SPDX-License-Identifier: Apache-2.0
// Two lists in order of arrival.
#include "endpoints/mpi/message_matcher.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

std::list<message_matcher::entry>::iterator message_matcher::first_fit(const message& which) {
    return std::find_if(m_receives.begin(), m_receives.end(), [&](const entry& each) {
        return (each.source == any_source || each.source == which.source) &&
               (each.tag == any_tag || each.tag == which.tag);
    });
}

void message_matcher::enter(receiver& who, int source, int tag) { m_receives.push_back({&who, source, tag, false}); }

void message_matcher::open(receiver& who) {
    const auto found =
        std::find_if(m_receives.begin(), m_receives.end(), [&](const entry& each) { return each.who == &who; });
    found->open = true;
    match_waiting();
}

void message_matcher::leave(receiver& who) {
    std::erase_if(m_receives, [&](const entry& each) { return each.who == &who; });
    match_waiting();
}

void message_matcher::arrived(message&& announced) {
    const auto fit = first_fit(announced);
    if (fit != m_receives.end() && fit->open) {
        auto& who = *fit->who;
        m_receives.erase(fit);
        who.matched(std::move(announced));
    } else {
        m_messages.push_back(std::move(announced));
    }
}

bool message_matcher::withdrawn(int source, std::uint64_t sender) {
    return std::erase_if(m_messages, [&](const message& each) {
               return !each.eager && each.source == source && each.sender == sender;
           }) > 0;
}

void message_matcher::match_waiting() {
    for (auto each = m_messages.begin(); each != m_messages.end();) {
        const auto fit = first_fit(*each);
        if (fit == m_receives.end() || !fit->open) {
            ++each;
            continue;
        }
        auto found = std::move(*each);
        each = m_messages.erase(each);
        auto& who = *fit->who;
        m_receives.erase(fit);
        who.matched(std::move(found));
    }
}

} // namespace causeway::endpoints

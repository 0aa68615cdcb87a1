// SPDX-License-Identifier: Apache-2.0
// A line of operations, of which those at its front may have ended out of order.
#include "endpoints/symmetric/operation_order.hpp"

#include <algorithm>

namespace causeway::endpoints {

void operation_order::turn::join() {
    m_number = m_order.m_first + m_order.m_line.size();
    m_order.m_line.push_back(m_kind == kind::fence ? state::fence : state::plain);
    if (m_kind == kind::fence) ++m_order.m_fences;
}

void operation_order::turn::wait(std::function<void()> came) {
    if (m_order.may_begin(m_number)) {
        came();
    } else {
        m_order.m_waiting.emplace(m_number, std::move(came));
    }
}

void operation_order::turn::leave(const failure& why) {
    if (!std::exchange(m_is_over, true) && m_kind == kind::fence) --m_order.m_made_fences;
    const auto number = std::exchange(m_number, 0);
    if (number == 0) return;
    if (why && !m_order.m_failure) m_order.m_failure = why;
    m_order.m_waiting.erase(number);
    m_order.state_of(number) = state::ended;
    if (m_kind == kind::fence) --m_order.m_fences;
    while (!m_order.m_line.empty() && m_order.m_line.front() == state::ended) {
        m_order.m_line.pop_front();
        ++m_order.m_first;
    }
    m_order.pass();
}

bool operation_order::may_begin(std::uint64_t number) {
    if (state_of(number) == state::fence) return number == m_first;
    if (m_fences == 0) return true;
    const auto before = m_line.begin() + static_cast<std::ptrdiff_t>(number - m_first);
    return std::find(m_line.begin(), before, state::fence) == before;
}

void operation_order::pass() {
    m_again = true;
    if (m_passing) return; // by one that was let pass, and has ended at once
    m_passing = true;
    while (std::exchange(m_again, false)) {
        for (auto each = m_waiting.begin(); each != m_waiting.end() && !m_again;) {
            if (!may_begin(each->first)) break; // and none behind it
            auto came = std::move(each->second);
            each = m_waiting.erase(each);
            came(); // may end it, and change the list
            m_again = true;
        }
    }
    m_passing = false;
}

} // namespace causeway::endpoints

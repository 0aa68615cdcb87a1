// SPDX-License-Identifier: Apache-2.0
// A symmetric word for atomics: in shared memory, on another node, or in a device's own memory.
#pragma once

#include "oshmem/job.hpp"

#include <cstdint>

namespace causeway::oshmem {

template <class Bits> class remote_word {
  public:
    /// Ends the job for an address that is not symmetric.
    remote_word(const char* call, const void* address, int pe)
        : m_all(job::required(call)), m_call(call), m_address(address), m_pe(pe),
          m_near(m_all.is_distant(address) || m_all.is_remote(pe) ? nullptr
                                                                  : static_cast<Bits*>(m_all.at(address, pe, call))) {}

    [[nodiscard]] Bits load() const {
        return m_near != nullptr ? __atomic_load_n(m_near, __ATOMIC_SEQ_CST) : there(word_operation::fetch);
    }
    void store(Bits value) const {
        if (m_near != nullptr) {
            __atomic_store_n(m_near, value, __ATOMIC_SEQ_CST);
        } else {
            tell(word_operation::set, value);
        }
    }
    [[nodiscard]] Bits exchange(Bits value) const {
        return m_near != nullptr ? __atomic_exchange_n(m_near, value, __ATOMIC_SEQ_CST)
                                 : there(word_operation::swap, value);
    }
    Bits fetch_add(Bits value) const {
        return m_near != nullptr ? __atomic_fetch_add(m_near, value, __ATOMIC_SEQ_CST)
                                 : there(word_operation::add, value);
    }
    Bits fetch_and(Bits value) const {
        return m_near != nullptr ? __atomic_fetch_and(m_near, value, __ATOMIC_SEQ_CST)
                                 : there(word_operation::bit_and, value);
    }
    Bits fetch_or(Bits value) const {
        return m_near != nullptr ? __atomic_fetch_or(m_near, value, __ATOMIC_SEQ_CST)
                                 : there(word_operation::bit_or, value);
    }
    Bits fetch_xor(Bits value) const {
        return m_near != nullptr ? __atomic_fetch_xor(m_near, value, __ATOMIC_SEQ_CST)
                                 : there(word_operation::bit_xor, value);
    }
    /// Stores `value` if the word is `expected`. Returns its former value.
    Bits compare_exchange(Bits expected, Bits value) const {
        if (m_near == nullptr) return there(word_operation::compare_swap, value, expected);
        __atomic_compare_exchange_n(m_near, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    }

  private:
    void tell(word_operation what, Bits operand) const {
        if (m_all.is_distant(m_address)) {
            there(what, operand);
        } else {
            m_all.tell_remote(m_call, what, sizeof(Bits), m_address, operand, m_pe);
        }
    }
    Bits there(word_operation what, Bits operand = 0, Bits compared = 0) const {
        if (!m_all.is_distant(m_address))
            return static_cast<Bits>(
                m_all.change_remote(m_call, what, sizeof(Bits), m_address, operand, compared, m_pe));
        return static_cast<Bits>(m_all.device().atomic(m_call, what, sizeof(Bits), m_address, operand, compared, m_pe));
    }

    job& m_all;
    const char* m_call;
    const void* m_address;
    int m_pe;
    Bits* m_near; // null in a device's own memory and on other nodes
};

} // namespace causeway::oshmem

// SPDX-License-Identifier: Apache-2.0
// The C boundary of the platform: exceptions become OpenCL codes; query results go into the caller's memory.
#pragma once

#include "platform/object.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace causeway::platform {

/// The code behind the exception that is being handled. Call inside a catch block only.
[[nodiscard]] inline cl_int current_code() noexcept {
    try {
        throw;
    } catch (const refusal& refused) {
        return refused.code;
    } catch (const std::bad_alloc&) {
        return CL_OUT_OF_HOST_MEMORY;
    } catch (const std::exception&) {
        return CL_OUT_OF_RESOURCES;
    }
}

/// Runs `action`, which returns a code; what it throws becomes the code.
template <class Action> cl_int guard(Action action) noexcept {
    try {
        return action();
    } catch (...) {
        return current_code();
    }
}

/// Runs `action`, which returns a ref to a new object, and gives the object to the program: a clCreate... call. On
/// failure returns null and sets `code`.
template <class Action> auto make(cl_int* code, Action action) noexcept -> decltype(action().give()) {
    cl_int result = CL_SUCCESS;
    decltype(action().give()) made = nullptr;
    try {
        made = action().give();
    } catch (...) {
        result = current_code();
    }
    if (code != nullptr) *code = result;
    return made;
}

inline void require(bool holds, cl_int code) {
    if (!holds) throw refusal{code};
}
inline void check(cl_int code) { require(code == CL_SUCCESS, code); }

/// Where a clGet...Info call wants its result: the arguments size, value and size_ret.
class answer {
  public:
    answer(size_t size, void* value, size_t* size_ret) : m_size(size), m_value(value), m_size_ret(size_ret) {}

    cl_int bytes(const void* data, size_t size) const {
        if (m_value != nullptr) {
            if (m_size < size) return CL_INVALID_VALUE;
            if (size != 0) std::memcpy(m_value, data, size);
        }
        if (m_size_ret != nullptr) *m_size_ret = size;
        return CL_SUCCESS;
    }
    template <class Value> cl_int operator()(const Value& value) const { return bytes(&value, sizeof value); }
    template <class Value> cl_int list(std::span<const Value> values) const {
        return bytes(values.data(), values.size_bytes());
    }
    /// `text` with its terminating null.
    cl_int text(std::string_view text) const {
        const std::vector<char> ended = [&] {
            std::vector<char> letters(text.begin(), text.end());
            letters.push_back('\0');
            return letters;
        }();
        return bytes(ended.data(), ended.size());
    }
    /// Lets a driver's query, `ask(size, value, size_ret)`, fill in the result.
    template <class Ask> cl_int from(Ask ask) const { return ask(m_size, m_value, m_size_ret); }

    [[nodiscard]] size_t size() const { return m_size; }
    [[nodiscard]] void* value() const { return m_value; }

  private:
    size_t m_size;
    void* m_value;
    size_t* m_size_ret;
};

} // namespace causeway::platform

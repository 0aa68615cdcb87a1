// SPDX-License-Identifier: Apache-2.0
// A digest of the calls that a rank's program made; ranks compare it to see whether their programs have diverged.
#pragma once

#include "platform/opencl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace causeway::platform {

enum class api_call : std::uint32_t {
    none,
#define CAUSEWAY_ENTRY(name) name,
#define CAUSEWAY_REFUSED(name, code)
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED
#define CAUSEWAY_EXTENSION(name, function) name,
#include "platform/extension_points.def"
#undef CAUSEWAY_EXTENSION
    transfer ///< one of CL/cl_data_transfer.h
};

/// An argument as it is on every rank.
struct call_argument {
    /// object: the number of the call that made it. pointer: only whether it is null.
    enum class sort : std::uint32_t { number, object, pointer };
    sort what = sort::number;
    std::uint64_t value = 0;
};

/// The last call, and a hash of all calls (like FNV-1a, by words). Add only what is the same on every rank.
class call_record {
  public:
    static constexpr std::size_t most_arguments = 16;
    /// Shift, within object::made_by, of the index among the objects that one call makes.
    static constexpr unsigned several_shift = 40;

    template <class... Arguments> void begin(api_call function, Arguments... arguments) {
        static_assert(sizeof...(arguments) <= most_arguments);
        m_function = function;
        m_count = 0;
        m_sorts = 0;
        ++m_number;
        mix(static_cast<std::uint64_t>(function));
        (add(arguments), ...);
    }
    /// Adds what an argument points to.
    void mix(std::uint64_t value) {
        m_hash = (m_hash ^ value) * 0x100000001b3;
        m_hash ^= m_hash >> 32; // a product alone keeps a difference of top bits in the top bits, where the next step
                                // may cancel it
    }
    void mix(const void* bytes, std::size_t size) {
        const auto* from = static_cast<const char*>(bytes);
        for (std::uint64_t word = 0; size != 0;
             from += std::min(size, sizeof word), size -= std::min(size, sizeof word)) {
            word = 0;
            std::memcpy(&word, from, std::min(size, sizeof word));
            mix(word);
        }
    }

    [[nodiscard]] std::uint64_t number() const { return m_number; } ///< calls so far
    [[nodiscard]] std::uint64_t hash() const { return m_hash; }
    [[nodiscard]] bool operator==(const call_record& other) const {
        return m_hash == other.m_hash && m_number == other.m_number;
    }
    /// The last call, for the user.
    [[nodiscard]] std::string text() const;
    /// How this record of rank `mine` differs from another, for the user.
    [[nodiscard]] std::string difference(int mine, const call_record& other, int theirs) const;

  private:
    void add(const call_argument& argument) {
        m_values[m_count] = argument.value;
        m_sorts |= static_cast<std::uint32_t>(argument.what) << (2 * m_count++);
        mix(argument.value);
    }
    [[nodiscard]] bool looks_like(const call_record& other) const;

    std::uint64_t m_hash = 0xcbf29ce484222325;
    std::uint64_t m_number = 0;
    api_call m_function = api_call::none;
    std::uint32_t m_count = 0;
    std::uint32_t m_sorts = 0; ///< two bits for each
    std::array<std::uint64_t, most_arguments> m_values{};
};

[[nodiscard]] std::string name_of(api_call function);
/// The function behind a command.
[[nodiscard]] std::string function_of(cl_command_type type);

} // namespace causeway::platform

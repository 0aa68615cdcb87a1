// SPDX-License-Identifier: Apache-2.0
// A file descriptor with an owner.
#pragma once

#include <utility>

namespace causeway {

/// `number`, or a copy above 2 if it is 0 to 2: a program that has closed one of these would print into whatever is
/// opened next. The copy closes on exec, and `number` is closed. A negative number stays as it is, and errno with it.
/// -1 and errno if there is no room for the copy.
[[nodiscard]] int above_standard(int number);

/// Closed with this object.
class descriptor {
  public:
    descriptor() = default;
    /// Owns `number` from now on, `above_standard`; a negative one is none.
    explicit descriptor(int number) : m_number(above_standard(number)) {}
    ~descriptor();
    descriptor(descriptor&& other) noexcept : m_number(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }

    /// A duplicate of `number` that closes on exec. Throws transfer_error(out_of_resources).
    [[nodiscard]] static descriptor copy_of(int number);

    [[nodiscard]] int get() const { return m_number; }
    [[nodiscard]] int release() { return std::exchange(m_number, -1); }
    /// Closes it now. 0, or the errno: it is closed then, too.
    [[nodiscard]] int close();

  private:
    int m_number = -1;
};

} // namespace causeway

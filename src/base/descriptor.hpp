// SPDX-License-Identifier: Apache-2.0
// A file descriptor with an owner.
#pragma once

#include <utility>

namespace causeway {

/// Returns `number`, unless it is 0 to 2: then closes it and returns a copy above 2 that closes on exec, or -1, with
/// errno, if the copy fails. (A program that has closed its standard streams would print into the file that gets their
/// number.) Returns a negative number as it is, with errno unchanged.
[[nodiscard]] int above_standard(int number);

/// Closed with this object.
class descriptor {
  public:
    descriptor() = default;
    /// Owns above_standard(number); a negative number means none.
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
    /// Closes it now. Returns 0 or the errno; it is closed in either case.
    [[nodiscard]] int close();

  private:
    int m_number = -1;
};

} // namespace causeway

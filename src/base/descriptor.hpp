// SPDX-License-Identifier: Apache-2.0
// A file descriptor with an owner.
#pragma once

#include <utility>

namespace causeway {

/// Closed with this object.
class descriptor {
  public:
    descriptor() = default;
    /// Owns `number` from now on; a negative one is none.
    explicit descriptor(int number) : m_number(number) {}
    ~descriptor();
    descriptor(descriptor&& other) noexcept : m_number(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }

    /// Another one for what `number` names, closed in programs that the process becomes. Throws transfer_error(out_of_resources).
    [[nodiscard]] static descriptor copy_of(int number);

    [[nodiscard]] int get() const { return m_number; }
    [[nodiscard]] int release() { return std::exchange(m_number, -1); }
    /// Closes it now. 0, or the errno: it is closed then, too.
    [[nodiscard]] int close();

  private:
    int m_number = -1;
};

} // namespace causeway

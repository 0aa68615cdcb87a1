// SPDX-License-Identifier: Apache-2.0
// A program without standard input, output or error.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

namespace support {

/// Closes descriptors 0 to 2 for its lifetime. Nothing that a test says meanwhile is seen.
class without_standard_descriptors {
  public:
    without_standard_descriptors() {
        for (int each = 0; each < 3; ++each) {
            m_kept[static_cast<std::size_t>(each)] = ::fcntl(each, F_DUPFD_CLOEXEC, 100);
            ::close(each);
        }
    }
    without_standard_descriptors(const without_standard_descriptors&) = delete;
    without_standard_descriptors& operator=(const without_standard_descriptors&) = delete;
    ~without_standard_descriptors() {
        for (int each = 0; each < 3; ++each) {
            const int kept = m_kept[static_cast<std::size_t>(each)];
            ::close(each); // what a fault has put there
            if (kept < 0) continue;
            ::dup2(kept, each);
            ::close(kept);
        }
    }

    /// Those of 0 to 2 that are open.
    [[nodiscard]] static std::vector<int> open_ones() {
        std::vector<int> found;
        for (int each = 0; each < 3; ++each)
            if (::fcntl(each, F_GETFD) >= 0) found.push_back(each);
        return found;
    }

  private:
    std::array<int, 3> m_kept{};
};

} // namespace support

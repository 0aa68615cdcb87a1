// SPDX-License-Identifier: Apache-2.0
// Locks of open file descriptions: unlike those of processes, they do not end when another descriptor is closed.
#include "base/node_turns.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <thread>

namespace causeway {

namespace {

/// No lock waits for a while and no longer.
constexpr auto between_trials = std::chrono::milliseconds(2);

bool set(int file, std::uint64_t number, short kind) {
    struct flock what{};
    what.l_type = kind;
    what.l_whence = SEEK_SET;
    what.l_start = static_cast<off_t>(number % std::numeric_limits<off_t>::max());
    what.l_len = 1;
    return ::fcntl(file, F_OFD_SETLK, &what) == 0;
}

} // namespace

node_turns::node_turns(const std::filesystem::path& file)
    : m_file(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    struct stat facts{};
    if (::fstat(m_file.get(), &facts) != 0 || facts.st_uid != ::geteuid()) m_file = descriptor();
}

bool node_turns::take(std::uint64_t number, std::chrono::milliseconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        if (set(m_file.get(), number, F_WRLCK)) return true;
        const bool is_taken = errno == EAGAIN || errno == EACCES;
        if (!is_taken || std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(between_trials);
    }
}

void node_turns::give_back(std::uint64_t number) const { (void)set(m_file.get(), number, F_UNLCK); }

} // namespace causeway

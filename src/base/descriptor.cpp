// SPDX-License-Identifier: Apache-2.0
// close(2) and fcntl(2).
#include "base/descriptor.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace causeway {

namespace {

constexpr int first_above_standard = STDERR_FILENO + 1;

} // namespace

int above_standard(int number) {
    if (number < 0 || number >= first_above_standard) return number;
    const int made = ::fcntl(number, F_DUPFD_CLOEXEC, first_above_standard);
    const int error = errno;
    ::close(number);
    errno = error;
    return made;
}

descriptor::~descriptor() { (void)close(); }

descriptor descriptor::copy_of(int number) {
    descriptor made(::fcntl(number, F_DUPFD_CLOEXEC, first_above_standard));
    if (made.get() < 0)
        throw transfer_error(status::out_of_resources,
                             "duplicating descriptor " + std::to_string(number) + ": " + errno_text(errno), errno);
    return made;
}

int descriptor::close() {
    const int number = release();
    // Also one that was interrupted is closed (close(2)).
    return number < 0 || ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

} // namespace causeway

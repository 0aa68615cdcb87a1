// SPDX-License-Identifier: Apache-2.0
// Texts of failures, and the one place where the library may write a warning.
#include "base/error.hpp"

#include "base/printable.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <set>

namespace causeway {

failure current_failure() noexcept {
    try {
        throw;
    } catch (const transfer_error& error) {
        return error.as_failure();
    } catch (const std::bad_alloc&) {
        return {status::out_of_host_memory, 0, 0, "out of host memory"};
    } catch (const std::exception& error) {
        return {status::out_of_resources, 0, 0, error.what()};
    } catch (...) {
        return {status::out_of_resources, 0, 0, "an exception that is no std::exception"};
    }
}

std::string bytes_text(unsigned long long bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + " " + units[unit];
}

std::string errno_text(int error_number) {
    char text[256] = "";
    // The GNU form returns the text, which need not be in the buffer.
    return strerror_r(error_number, text, sizeof text);
}

void tell_user(const std::string& text) {
    const auto line = "causeway: " + printable(text, "\n\t") + "\n";
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void warn_once(const std::string& text) {
    static std::mutex mutex; // guards said
    static auto& said = *new std::set<std::string>; // threads and exit functions outlive static objects
    const std::lock_guard lock(mutex);
    if (said.insert(text).second) std::fprintf(stderr, "causeway: warning: %s\n", printable(text, "\n\t").c_str());
}

} // namespace causeway

// SPDX-License-Identifier: Apache-2.0
// Commands of the shell, which may change files and say what differs between ranks: rank 0 runs them, and what they
// print and how they end comes to all.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

namespace {

using namespace causeway_run;

/// Streams that popen() has made, and rank 0's of the command.
std::map<std::FILE*, std::FILE*>& opened() {
    static auto& all = *new std::map<std::FILE*, std::FILE*>;
    return all;
}

std::FILE* output_of_rank_0(std::FILE* command) {
    const cookie_io_functions_t calls = {[](void* of, char* bytes, std::size_t size) {
                                             auto* const real = static_cast<std::FILE*>(of);
                                             return read_of_rank_0(real == nullptr ? -1 : ::fileno(real), bytes, size);
                                         },
                                         nullptr, nullptr, nullptr};
    return fopencookie(command, "r", calls);
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

int system(const char* command) {
    static auto* const ask = next<int(const char*)>("system");
    return asks(CAUSEWAY_CALLER) ? once_for_all([&] { return ask(command); }) : ask(command);
}

std::FILE* popen(const char* command, const char* mode) {
    static auto* const ask = next<std::FILE*(const char*, const char*)>("popen");
    if (!asks(CAUSEWAY_CALLER)) return ask(command, mode);
    meet(); // others may still read what it changes
    auto* const real = is_rank_0() ? ask(command, mode) : nullptr;
    const int error = agree(is_rank_0() && real == nullptr ? errno : 0);
    if (error != 0) {
        errno = error;
        return nullptr;
    }
    auto* const made = std::string_view(mode).starts_with('r') ? output_of_rank_0(real)
                       : is_rank_0()                           ? real
                                                               : std::fopen("/dev/null", "w");
    opened()[made] = real;
    return made;
}

int pclose(std::FILE* of) {
    static auto* const ask = next<int(std::FILE*)>("pclose");
    const auto found = opened().find(of);
    if (found == opened().end()) return ask(of);
    auto* const real = found->second;
    opened().erase(found);
    if (of != real) std::fclose(of);
    return static_cast<int>(result_of_rank_0(real != nullptr ? ask(real) : 0, nullptr, 0));
}

} // extern "C"
#pragma GCC visibility pop

// SPDX-License-Identifier: Apache-2.0
// `causeway cc`: the compiler of directives, which is a program of its own, as LLVM is nothing for this one.
#include "cc/command.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace cc {

bool is_asked(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "cc") == 0; }

int become_compiler(int, char** argv) {
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "causeway-cc";
    const std::string program = beside.string();
    argv[1] = const_cast<char*>(program.c_str());
    execv(program.c_str(), argv + 1);
    std::fprintf(stderr,
                 "causeway: %s: %s\nThe compiler of directives is built where Clang 19 is installed (Debian: "
                 "libclang-19-dev).\n",
                 program.c_str(), std::strerror(errno));
    return 1;
}

} // namespace cc

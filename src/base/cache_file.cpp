// SPDX-License-Identifier: Apache-2.0
// Where the XDG base directory specification says; read with suspicion, written beside the file and renamed.
#include "base/cache_file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace causeway {

namespace {

/// Makes the folder of the file; what went wrong, or an empty text.
std::string make_folder(const std::filesystem::path& folder) {
    // Root with the home of somebody else would leave him folders and files that he cannot write.
    auto there = folder;
    struct stat facts{};
    while (::stat(there.c_str(), &facts) != 0 && there.has_relative_path()) there = there.parent_path();
    const bool is_others = facts.st_uid != ::geteuid() && (there == folder || ::geteuid() == 0);
    if (is_others) return there.string() + " belongs to another user";
    std::error_code failed;
    const auto parent = folder.parent_path();
    std::filesystem::create_directories(parent, failed); // mkdir says why, if so
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return "making " + folder.string() + ": " + errno_text(errno);
    return "";
}

std::string write_in_place(const std::string& path, const std::string& text) {
    auto fresh = path + ".XXXXXX";
    const descriptor file(::mkostemp(fresh.data(), O_CLOEXEC));
    if (file.get() < 0) return "writing " + path + ": " + errno_text(errno);
    std::size_t done = 0;
    int error = 0;
    while (done < text.size() && error == 0) {
        const auto count = ::write(file.get(), text.data() + done, text.size() - done);
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return "";
    ::unlink(fresh.c_str());
    return "writing " + path + ": " + errno_text(error);
}

} // namespace

std::string cache_file(std::string_view name) {
    // A path that is not absolute counts as none.
    const auto folder_in = [](const char* variable) {
        const char* const value = ::secure_getenv(variable);
        return std::filesystem::path(value != nullptr && value[0] == '/' ? value : "");
    };
    auto folder = folder_in("XDG_CACHE_HOME");
    if (folder.empty()) {
        folder = folder_in("HOME");
        if (folder.empty()) return "";
        folder /= ".cache";
    }
    return (folder / "causeway" / name).string();
}

cache_content read_cache_file(const std::string& path, std::size_t most_bytes) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts{};
    if (file.get() < 0 && errno == ENOENT) return {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) return {{}, errno_text(errno)};
    if (!S_ISREG(facts.st_mode)) return {{}, "it is no regular file"};
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0) return {{}, "it belongs to another user"};
    std::string text(std::min(static_cast<std::size_t>(facts.st_size), most_bytes), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto count = ::read(file.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {{}, errno_text(errno)};
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    return {std::move(text), ""};
}

std::string write_cache_file(const std::string& path, const std::string& text) {
    auto problem = make_folder(std::filesystem::path(path).parent_path());
    return problem.empty() ? write_in_place(path, text) : problem;
}

} // namespace causeway

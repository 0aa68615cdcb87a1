// SPDX-License-Identifier: Apache-2.0
// open(2), read(2), write(2), readdir(3).
#include "base/whole_file.hpp"

#include "base/descriptor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace causeway {

std::optional<std::string> read_file(const std::filesystem::path& file) {
    const descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (from.get() < 0) return {};
    // Files of /proc do not tell their size.
    constexpr std::size_t least_room = 4096;
    std::string text;
    for (std::size_t done = 0;;) {
        if (text.size() == done) text.resize(done + std::max(done, least_room));
        const auto count = ::read(from.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {};
        done += static_cast<std::size_t>(count);
        if (count != 0) continue;
        text.resize(done);
        return text;
    }
}

std::string first_line_of(const std::filesystem::path& file) {
    auto text = read_file(file).value_or("");
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
}

bool write_file(const std::filesystem::path& file, std::string_view bytes) {
    descriptor to(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
    if (to.get() < 0) return false;
    while (!bytes.empty()) {
        const auto count = ::write(to.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    const int error = to.close();
    if (error != 0) errno = error;
    return error == 0;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    descriptor from(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (from.get() < 0) return {};
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> open(::fdopendir(from.get()), close);
    if (open == nullptr) return {};
    (void)from.release(); // closedir() closes it
    std::vector<std::filesystem::path> found;
    while (const auto* const entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") found.push_back(folder / name);
    }
    return found;
}

} // namespace causeway

// SPDX-License-Identifier: Apache-2.0
// Finds the folders by /proc/self/cgroup.
#include "base/cgroup.hpp"

#include "base/whole_file.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace causeway::cgroup {

namespace {

namespace fs = std::filesystem;

struct controller_folder {
    fs::path mount, folder; // the latter below the mount
};

bool has_word(std::string_view list, std::string_view word) {
    for (std::size_t from = 0; from <= list.size();) {
        const auto to = std::min(list.find(',', from), list.size());
        if (list.substr(from, to - from) == word) return true;
        from = to + 1;
    }
    return false;
}

/// Version 1 has a hierarchy for a controller, or for some, version 2 one for all (cgroups(7)): "4:cpu,cpuacct:/a" or
/// "0::/a". Where both are there, version 2 is mounted beside the others and has what they leave.
std::optional<controller_folder> find(const fs::path& root, std::string_view controller) {
    const auto mounts = root / "sys/fs/cgroup";
    std::istringstream lines(read_file(root / "proc/self/cgroup").value_or(""));
    std::optional<controller_folder> found;
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto folder = fs::path(line.substr(second + 1)).relative_path();
        if (has_word(controllers, controller)) {
            for (const auto& name : {std::string(controller), controllers})
                if (fs::exists(mounts / name)) return controller_folder{mounts / name, folder};
        } else if (controllers.empty()) {
            found = controller_folder{fs::exists(mounts / "unified") ? mounts / "unified" : mounts, folder};
        }
    }
    return found;
}

} // namespace

void for_each_folder(const fs::path& root, std::string_view controller,
                     const std::function<void(const fs::path&)>& look) {
    const auto own = find(root, controller);
    if (!own) return;
    // In a container the name may be the one that the cgroup has outside: then only the mount itself is there.
    for (auto inner = own->folder;; inner = inner.parent_path()) {
        look(own->mount / inner);
        if (inner.empty()) return;
    }
}

} // namespace causeway::cgroup

// SPDX-License-Identifier: Apache-2.0
// Files of /proc and /sys as a test wants them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

/// A folder with those that the test writes, which goes with it.
class made_up_system {
  public:
    made_up_system() {
        std::string name = std::filesystem::temp_directory_path() / "causeway-system-XXXXXX";
        if (mkdtemp(name.data()) != nullptr) m_root = name;
    }
    made_up_system(const made_up_system&) = delete;
    made_up_system& operator=(const made_up_system&) = delete;
    ~made_up_system() { std::filesystem::remove_all(m_root); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text << '\n';
    }
    [[nodiscard]] const std::filesystem::path& root() const { return m_root; }

  private:
    std::filesystem::path m_root;
};

// SPDX-License-Identifier: Apache-2.0
// A temporary folder, removed by its destructor.
#pragma once

#include "temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace study {

class temporary_folder {
  public:
    /// TMPDIR/name-XXXXXX. Throws std::runtime_error if it cannot be made.
    explicit temporary_folder(const std::string& name)
        : m_path((causeway_tool::temporary_directory() / (name + "-XXXXXX")).string()) {
        if (::mkdtemp(m_path.data()) == nullptr)
            throw std::runtime_error("cannot make a folder " + m_path + ": " + std::strerror(errno));
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] std::filesystem::path path() const { return m_path; }

  private:
    std::string m_path;
};

} // namespace study

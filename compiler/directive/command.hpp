// SPDX-License-Identifier: Apache-2.0
// Child processes of the compiler driver, and their temporary files.
#pragma once
#include <string>
#include <vector>

namespace directive {

/// Runs the program `arguments` and waits for its end. Returns its exit status; 127 if it could not be started. If
/// `output` is not null, appends the program's standard output to it.
int run(const std::vector<std::string>& arguments, std::string* output = nullptr);
/// Replaces this process by the program (exec). Returns only if that fails.
int become(const std::vector<std::string>& arguments);

/// A temporary folder, removed with its contents by the destructor.
class scratch_folder {
  public:
    scratch_folder();
    ~scratch_folder();
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    std::string file(const std::string& name) const { return m_path + "/" + name; }

  private:
    std::string m_path;
};

bool write_file(const std::string& path, const std::string& content);

} // namespace directive

// SPDX-License-Identifier: Apache-2.0
// Where loaders of OpenCL look for implementations, by the rules of ocl-icd (libOpenCL(7)).
#pragma once

#include <string>
#include <vector>

namespace causeway::opencl_vendors {

/// One implementation that a source names.
struct implementation {
    std::string file;    ///< its .icd file; the library itself where that is named
    std::string library; ///< a path, or a name that the dynamic loader looks for; empty if the file does not name any
};

enum class kind { folder, file, library };

struct source {
    kind what = kind::folder;
    std::string name; ///< as given; an .icd file found in the default folder gets that folder as its path
    std::vector<implementation> implementations; ///< of a folder those of its .icd files, sorted by name
};

/// OPENCL_VENDOR_PATH, or /etc/OpenCL/vendors: the folder that counts where nothing else is named.
[[nodiscard]] std::string default_folder();

/// What a value of OCL_ICD_VENDORS names: a folder, an .icd file, else a library. An .icd file without a slash is
/// looked for in the default folder first. An empty value is the default folder. What it names need not exist.
[[nodiscard]] source source_of(const std::string& value);

} // namespace causeway::opencl_vendors

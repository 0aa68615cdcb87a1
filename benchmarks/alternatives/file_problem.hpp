// SPDX-License-Identifier: Apache-2.0
// A cached file that goes to a device, and a device buffer that goes to a file.
#pragma once

#include "common/opencl.hpp"
#include "way.hpp"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace alternatives {

/// A file that goes with its stream; until then it has a name, by which cuFile looks it up. Throws std::system_error.
struct close_and_remove {
    std::filesystem::path path;
    void operator()(std::FILE* file) const;
};
using stream = std::unique_ptr<std::FILE, close_and_remove>;
[[nodiscard]] stream make_file(const std::filesystem::path& directory);

/// Repeated until all is moved. Throw std::system_error.
void read_all(int file, std::byte* into, std::size_t bytes, std::size_t offset);
void write_all(int file, const std::byte* from, std::size_t bytes, std::size_t offset);

struct file_problem {
    file_problem(cl_device_id device, std::size_t bytes, const std::filesystem::path& directory);

    cl_device_id device;
    std::size_t bytes; // of one transfer
    test_data data;
    apps::context context;
    apps::queue queue;
    apps::buffer source, target; // source holds all of the data
    stream input, output;        // so does input
    std::vector<std::byte> memory; // ordinary
};

/// `load` takes the bytes from `offset` of the input to the device, `store` those from `offset` of the device's data to
/// the start of the output; both return when all is there.
struct file_way {
    std::string name, variant;
    std::function<void(std::size_t offset)> load, store;
    std::function<void(std::byte* into)> fetch; // what load has left; that in the problem's target if there is none
    std::string missing; // why it cannot be done here
};

// One file each.
[[nodiscard]] file_way causeway_files(file_problem& problem);
[[nodiscard]] file_way plain_files(file_problem& problem);
[[nodiscard]] file_way double_buffered_files(file_problem& problem, unsigned threads, std::size_t block);
/// `library` may be empty: where the system or CUDA has it. One call for all, or as many at once as there are threads.
[[nodiscard]] file_way cufile_files(file_problem& problem, unsigned threads, const std::string& library);

} // namespace alternatives

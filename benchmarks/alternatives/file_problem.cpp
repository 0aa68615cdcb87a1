// SPDX-License-Identifier: Apache-2.0
// The files and buffers that all ways share.
#include "file_problem.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace alternatives {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

void close_and_remove::operator()(std::FILE* file) const {
    std::fclose(file);
    unlink(path.c_str());
}

stream make_file(const std::filesystem::path& directory) {
    std::string path = directory / "alternatives-XXXXXX";
    const int made = mkstemp(path.data());
    if (made < 0) throw_errno("making a file in " + directory.string());
    return {fdopen(made, "w+b"), {path}};
}

void read_all(int file, std::byte* into, std::size_t bytes, std::size_t offset) {
    while (bytes > 0) {
        const auto some = pread(file, into, bytes, off_t(offset));
        if (some <= 0) throw_errno("reading the file");
        into += some;
        offset += std::size_t(some);
        bytes -= std::size_t(some);
    }
}

void write_all(int file, const std::byte* from, std::size_t bytes, std::size_t offset) {
    while (bytes > 0) {
        const auto some = pwrite(file, from, bytes, off_t(offset));
        if (some <= 0) throw_errno("writing the file");
        from += some;
        offset += std::size_t(some);
        bytes -= std::size_t(some);
    }
}

file_problem::file_problem(cl_device_id on, std::size_t size, const std::filesystem::path& directory)
    : device(on), bytes(size), data(size), context(apps::create_context(on)),
      queue(apps::create_in_order_queue(context.get(), on)),
      source(apps::create_buffer(context.get(), data.whole_bytes())), target(apps::create_buffer(context.get(), size)),
      input(make_file(directory)), output(make_file(directory)), memory(size) {
    apps::check(clEnqueueWriteBuffer(queue.get(), source.get(), CL_TRUE, 0, data.whole_bytes(), data.whole(), 0,
                                     nullptr, nullptr),
                "clEnqueueWriteBuffer");
    write_all(fileno(input.get()), data.whole(), data.whole_bytes(), 0);
    write_all(fileno(output.get()), data.whole(), size, 0);
}

} // namespace alternatives

// SPDX-License-Identifier: Apache-2.0
// One OpenCL device with a queue, programs, and the applications of the paper on it.
#pragma once

#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#undef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paper {

using shape = std::vector<std::size_t>;

/// What a kernel takes, in its order.
struct argument {
    enum class sort { input, output, atoms, number, count, local } what;
    std::size_t bytes = 0;
};

/// An application of the paper's Tables 3 and 4, with sizes for runs of minutes.
struct application {
    std::string name, kernel;
    shape global, local; ///< local is empty where the driver chooses
    std::vector<argument> arguments;
    unsigned number = 0, count = 0; ///< items, and terms of each
    unsigned per_item = 1; ///< the most items that a work-item may process; 1: the kernel has no loop over items
};
[[nodiscard]] std::vector<application> applications();

enum class access { read_write, narrow };
enum class allocation { device, host };
enum class transfer { none, copy, map };

class device {
  public:
    device(cl_platform_id platform, cl_device_id raw);
    ~device();
    device(const device&) = delete;
    device& operator=(const device&) = delete;

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] bool is_cpu() const { return m_is_cpu; }
    [[nodiscard]] std::size_t largest_group(const application& of, const std::string& options);

    /// A launch that can be repeated to time it. Throws std::runtime_error, as all functions here.
    [[nodiscard]] std::function<void()> launch(const application& of, const shape& global, const shape& local,
                                               const std::string& options);
    /// What one launch leaves in the kernel's last buffer.
    [[nodiscard]] std::vector<float> result(const application& of, const std::string& options);
    /// As launch(), with the transfers in and out; each call stores their seconds in `way_in` and `way_out`.
    [[nodiscard]] std::function<void()> cycle(const application& of, access how, allocation where, transfer by,
                                              double* way_in, double* way_out);

    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_device_id raw = nullptr;

    /// A program of this kernel alone.
    cl_program build(const std::string& kernel, const std::string& options);
    /// The driver's binary of that program; build_from() makes the program of it in another device object.
    [[nodiscard]] std::vector<unsigned char> binary_of(const std::string& kernel, const std::string& options);
    void build_from(const std::vector<unsigned char>& binary, const std::string& kernel, const std::string& options);

  private:
    cl_kernel make_kernel(const application& of, const std::string& options, const std::vector<cl_mem>& memory);
    std::vector<cl_mem> make_memory(const application& of, access how, allocation where);

    std::string m_name;
    bool m_is_cpu = false;
    std::map<std::pair<std::string, std::string>, cl_program> m_programs;
    std::vector<cl_mem> m_memory;
    std::vector<cl_kernel> m_kernels;
};

/// all_devices(): the first device of each platform, because its others are alike. every_device(): all of all
/// platforms.
[[nodiscard]] std::vector<std::pair<cl_platform_id, cl_device_id>> all_devices();
[[nodiscard]] std::vector<std::pair<cl_platform_id, cl_device_id>> every_device();
/// The device's name, with the version of its driver.
[[nodiscard]] std::string name_of(cl_device_id of);
/// What buffers contain before a launch.
[[nodiscard]] std::vector<float> contents(std::size_t count);
void check(cl_int code, const std::string& what);
[[nodiscard]] double now();

} // namespace paper

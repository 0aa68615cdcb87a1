// SPDX-License-Identifier: Apache-2.0
// Makes what the applications need and runs them.
#include "study/paper/device.hpp"

#include "study/paper/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace paper {

namespace {

/// What all kernels have in common, and this one. Blank lines are between them.
std::string source_of(const std::string& kernel) {
    const std::string all = kernel_source;
    const auto begin = all.find("__kernel void " + kernel + "(");
    if (begin == std::string::npos) throw std::runtime_error("there is no kernel " + kernel);
    const auto end = std::min(all.find("\n\n", begin), all.size());
    const auto helper = all.find("float normal(");
    return all.substr(0, all.find("__kernel")) + all.substr(helper, all.find("\n\n", helper) - helper) + "\n" +
           all.substr(begin, end - begin) + "\n";
}

std::string text_of(cl_device_id device, cl_device_info what) {
    std::string text(512, '\0');
    (void)clGetDeviceInfo(device, what, text.size(), text.data(), nullptr);
    return text.c_str();
}

} // namespace

void check(cl_int code, const std::string& what) {
    if (code != CL_SUCCESS) throw std::runtime_error(what + " gives code " + std::to_string(code));
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<application> applications() {
    using sort = argument::sort;
    const auto floats = [](sort what, std::size_t n) { return argument{what, n * sizeof(float)}; };
    const argument number{sort::number}, count{sort::count};
    std::vector<application> all;
    const auto flat = [&](const std::string& name, const std::string& kernel, std::size_t n, std::size_t inputs,
                          shape local, unsigned per_item) {
        application made{name, kernel, {n}, std::move(local), {}, static_cast<unsigned>(n), 0, per_item};
        for (std::size_t i = 0; i < inputs; ++i) made.arguments.push_back(floats(sort::input, n));
        made.arguments.push_back(floats(sort::output, n));
        made.arguments.push_back(number);
        all.push_back(std::move(made));
    };
    for (const std::size_t n : {10'000, 100'000, 1'000'000, 10'000'000})
        flat("Square " + std::to_string(n), "square", n, 1, {}, 1000);
    for (const std::size_t n : {110'000, 1'100'000, 5'500'000})
        flat("Vectoraddition " + std::to_string(n), "vectoadd", n, 2, {}, 1000);
    for (const std::size_t n : {128, 256}) {
        const std::vector<argument> square{floats(sort::input, n * n), floats(sort::input, n * n),
                                           floats(sort::output, n * n), number};
        all.push_back(
            {"Matrixmul " + std::to_string(n), "matrixmul", {n, n}, {16, 16}, square, static_cast<unsigned>(n)});
        all.push_back({"Matrixmul(naive) " + std::to_string(n),
                       "matrixmul_naive",
                       {n, n},
                       {16, 16},
                       square,
                       static_cast<unsigned>(n)});
    }
    all.push_back({"Reduction 640000",
                   "reduce",
                   {640'000},
                   {256},
                   {floats(sort::input, 640'000), floats(sort::output, 2500), number, {sort::local, 1024}},
                   640'000});
    all.push_back({"Histogram 409600",
                   "histogram256",
                   {409'600},
                   {128},
                   {floats(sort::input, 409'600), floats(sort::output, 256), number},
                   409'600});
    all.push_back({"Prefixsum 1024",
                   "prefixsum",
                   {1024},
                   {1024},
                   {floats(sort::input, 1024), floats(sort::output, 1024), number, {sort::local, 4096}},
                   1024});
    flat("Blackscholes 1638400", "blackscholes", 1280 * 1280, 2, {256}, 100);
    all.push_back({"Binomialoption 25500",
                   "binomialoption",
                   {25'500},
                   {255},
                   {floats(sort::input, 100), floats(sort::output, 100), number, {sort::local, 1020}},
                   100});
    all.push_back({"CP",
                   "cenergy",
                   {64, 512},
                   {16, 8},
                   {floats(sort::atoms, 4 * 400), floats(sort::output, 64 * 512), number, count},
                   64 * 512,
                   400,
                   4});
    flat("MRI-Q computePhiMag", "phimag", 3072, 2, {512}, 4);
    const std::vector<argument> mri{floats(sort::atoms, 4 * 256), floats(sort::input, 32'768),
                                    floats(sort::output, 2 * 32'768), number, count};
    all.push_back({"MRI-Q computeQ", "computeq", {32'768}, {256}, mri, 32'768, 256, 4});
    flat("MRI-FHD RhoPhi", "rhophi", 3072, 2, {512}, 4);
    all.push_back({"MRI-FHD computeFHD", "computefhd", {32'768}, {256}, mri, 32'768, 256, 4});
    flat("ILP", "ilp", 65'536, 1, {256}, 1);
    flat("Chain", "chain", 1'000'000, 1, {}, 100);
    return all;
}

std::string name_of(cl_device_id of) {
    return text_of(of, CL_DEVICE_NAME) + ", driver " + text_of(of, CL_DRIVER_VERSION);
}

std::vector<float> contents(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 1 + static_cast<float>(i % 97) / 97;
    return values;
}

std::vector<std::pair<cl_platform_id, cl_device_id>> every_device() {
    std::vector<std::pair<cl_platform_id, cl_device_id>> all;
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return all;
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (auto* const platform : platforms) {
        cl_uint found = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found) != CL_SUCCESS) continue;
        std::vector<cl_device_id> devices(found);
        check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices.data(), nullptr), "clGetDeviceIDs");
        for (auto* const each : devices) all.emplace_back(platform, each);
    }
    return all;
}

std::vector<std::pair<cl_platform_id, cl_device_id>> all_devices() {
    auto all = every_device();
    const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
    all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
    return all;
}

device::device(cl_platform_id platform, cl_device_id of) : raw(of), m_name(name_of(of)) {
    cl_device_type type = 0;
    check(clGetDeviceInfo(raw, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "clGetDeviceInfo");
    m_is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    const cl_context_properties on[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
    cl_int code = CL_SUCCESS;
    context = clCreateContext(on, 1, &raw, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue = clCreateCommandQueue(context, raw, 0, &code);
    check(code, "clCreateCommandQueue");
}

device::~device() {
    for (auto* const each : m_kernels) clReleaseKernel(each);
    for (auto* const each : m_memory) clReleaseMemObject(each);
    for (const auto& [options, each] : m_programs) clReleaseProgram(each);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

cl_program device::build(const std::string& kernel, const std::string& options) {
    auto& known = m_programs[{kernel, options}];
    if (known != nullptr) return known;
    cl_int code = CL_SUCCESS;
    const auto source = source_of(kernel);
    const char* text = source.c_str();
    known = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(known, 1, &raw, options.c_str(), nullptr, nullptr), "clBuildProgram " + options);
    return known;
}

std::vector<unsigned char> device::binary_of(const std::string& kernel, const std::string& options) {
    auto* const program = build(kernel, options);
    std::size_t size = 0;
    check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "clGetProgramInfo");
    std::vector<unsigned char> binary(size);
    auto* first = binary.data();
    check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(unsigned char*), &first, nullptr), "clGetProgramInfo");
    return binary;
}

void device::build_from(const std::vector<unsigned char>& binary, const std::string& kernel,
                        const std::string& options) {
    cl_int code = CL_SUCCESS;
    const auto* const first = binary.data();
    const std::size_t size = binary.size();
    auto& made = m_programs[{kernel, options}];
    made = clCreateProgramWithBinary(context, 1, &raw, &size, const_cast<const unsigned char**>(&first), nullptr,
                                     &code);
    check(code, "clCreateProgramWithBinary");
    check(clBuildProgram(made, 1, &raw, options.c_str(), nullptr, nullptr), "clBuildProgram of a binary");
}

cl_kernel device::make_kernel(const application& of, const std::string& options, const std::vector<cl_mem>& memory) {
    cl_int code = CL_SUCCESS;
    auto* const kernel = clCreateKernel(build(of.kernel, options), of.kernel.c_str(), &code);
    check(code, "clCreateKernel " + of.kernel);
    m_kernels.push_back(kernel);
    std::size_t next = 0;
    for (cl_uint i = 0; i < of.arguments.size(); ++i) {
        const auto& each = of.arguments[i];
        switch (each.what) {
        case argument::sort::number: code = clSetKernelArg(kernel, i, sizeof of.number, &of.number); break;
        case argument::sort::count: code = clSetKernelArg(kernel, i, sizeof of.count, &of.count); break;
        case argument::sort::local: code = clSetKernelArg(kernel, i, each.bytes, nullptr); break;
        default: code = clSetKernelArg(kernel, i, sizeof(cl_mem), &memory[next++]);
        }
        check(code, "clSetKernelArg");
    }
    return kernel;
}

std::vector<cl_mem> device::make_memory(const application& of, access how, allocation where) {
    std::vector<cl_mem> made;
    for (const auto& each : of.arguments) {
        if (each.bytes == 0 || each.what == argument::sort::local) continue;
        cl_mem_flags flags = how == access::read_write             ? CL_MEM_READ_WRITE
                             : each.what == argument::sort::output ? CL_MEM_WRITE_ONLY
                                                                   : CL_MEM_READ_ONLY;
        if (where == allocation::host) flags |= CL_MEM_ALLOC_HOST_PTR;
        cl_int code = CL_SUCCESS;
        auto* const memory = clCreateBuffer(context, flags, each.bytes, nullptr, &code);
        check(code, "clCreateBuffer");
        m_memory.push_back(memory);
        const auto values = contents(each.bytes / sizeof(float));
        check(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, each.bytes, values.data(), 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
        made.push_back(memory);
    }
    return made;
}

std::size_t device::largest_group(const application& of, const std::string& options) {
    cl_int code = CL_SUCCESS;
    auto* const kernel = clCreateKernel(build(of.kernel, options), of.kernel.c_str(), &code);
    check(code, "clCreateKernel " + of.kernel);
    std::size_t largest = 1;
    (void)clGetKernelWorkGroupInfo(kernel, raw, CL_KERNEL_WORK_GROUP_SIZE, sizeof largest, &largest, nullptr);
    clReleaseKernel(kernel);
    return largest;
}

std::function<void()> device::launch(const application& of, const shape& global, const shape& local,
                                     const std::string& options) {
    const auto memory = make_memory(of, access::read_write, allocation::device);
    auto* const kernel = make_kernel(of, options, memory);
    return [this, kernel, global, local] {
        check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                                     local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
              "clEnqueueNDRangeKernel");
        check(clFinish(queue), "clFinish");
    };
}

std::vector<float> device::result(const application& of, const std::string& options) {
    launch(of, of.global, of.local, options)();
    std::size_t bytes = 0;
    for (const auto& each : of.arguments)
        if (each.what == argument::sort::output) bytes = each.bytes;
    std::vector<float> values(bytes / sizeof(float));
    check(clEnqueueReadBuffer(queue, m_memory.back(), CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return values;
}

std::function<void()> device::cycle(const application& of, access how, allocation where, transfer by, double* way_in,
                                    double* way_out) {
    const auto memory = make_memory(of, how, where);
    auto* const kernel = make_kernel(of, "", memory);
    std::vector<std::pair<cl_mem, std::size_t>> in, out;
    std::size_t next = 0, most = 0;
    for (const auto& each : of.arguments) {
        if (each.bytes == 0 || each.what == argument::sort::local) continue;
        (each.what == argument::sort::output ? out : in).emplace_back(memory[next++], each.bytes);
        most = std::max(most, each.bytes);
    }
    const auto own = std::make_shared<std::vector<std::byte>>(most, std::byte{63});
    const auto move = [this, by, own](const std::vector<std::pair<cl_mem, std::size_t>>& all, bool is_in) {
        for (const auto& [object, bytes] : all) {
            if (by == transfer::map) {
                cl_int code = CL_SUCCESS;
                void* const at = clEnqueueMapBuffer(queue, object, CL_TRUE, is_in ? CL_MAP_WRITE : CL_MAP_READ, 0,
                                                    bytes, 0, nullptr, nullptr, &code);
                check(code, "clEnqueueMapBuffer");
                check(clEnqueueUnmapMemObject(queue, object, at, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
                check(clFinish(queue), "clFinish");
            } else if (is_in) {
                check(clEnqueueWriteBuffer(queue, object, CL_TRUE, 0, bytes, own->data(), 0, nullptr, nullptr),
                      "clEnqueueWriteBuffer");
            } else {
                check(clEnqueueReadBuffer(queue, object, CL_TRUE, 0, bytes, own->data(), 0, nullptr, nullptr),
                      "clEnqueueReadBuffer");
            }
        }
    };
    return [this, kernel, of, in, out, move, way_in, way_out] {
        const auto begin = now();
        move(in, true);
        *way_in = now() - begin;
        check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(of.global.size()), nullptr, of.global.data(),
                                     of.local.empty() ? nullptr : of.local.data(), 0, nullptr, nullptr),
              "clEnqueueNDRangeKernel");
        check(clFinish(queue), "clFinish");
        const auto computed = now();
        move(out, false);
        *way_out = now() - computed;
    };
}

} // namespace paper

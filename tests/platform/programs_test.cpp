// SPDX-License-Identifier: Apache-2.0
// Programs and kernels: sources, binaries, logs, headers, linking, sub-devices, native kernels and samplers.
#include "platform_fixture.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <string>
#include <unistd.h>

using namespace support;

namespace {

using programs = platform_test;
constexpr std::size_t items = 64;

/// Of every device.
std::string logs_of(const program_handle& program, const std::vector<cl_device_id>& devices) {
    std::string all;
    for (auto* const device : devices) {
        std::vector<char> log(100000);
        (void)clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
        all += log.data() + std::string("\n");
    }
    return all;
}

TEST_F(programs, what_was_built_comes_back_from_its_binaries_for_every_device) {
    const auto built = build(add_source);
    std::vector<size_t> sizes(devices().size());
    ASSERT_EQ(
        clGetProgramInfo(built.get(), CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t), sizes.data(), nullptr),
        CL_SUCCESS);
    std::vector<std::vector<unsigned char>> binaries;
    std::vector<unsigned char*> places;
    for (const auto size : sizes) {
        ASSERT_GT(size, 0U);
        binaries.emplace_back(size);
    }
    for (auto& binary : binaries) places.push_back(binary.data());
    ASSERT_EQ(clGetProgramInfo(built.get(), CL_PROGRAM_BINARIES, places.size() * sizeof(unsigned char*), places.data(),
                               nullptr),
              CL_SUCCESS);
    std::vector<cl_int> status(devices().size(), 1);
    cl_int code = CL_SUCCESS;
    // In the reverse of the platform's order.
    const std::vector<cl_device_id> reversed(devices().rbegin(), devices().rend());
    std::vector<size_t> reversed_sizes(sizes.rbegin(), sizes.rend());
    std::vector<const unsigned char*> reversed_places(places.rbegin(), places.rend());
    const program_handle program(clCreateProgramWithBinary(context(), static_cast<cl_uint>(reversed.size()),
                                                           reversed.data(), reversed_sizes.data(),
                                                           reversed_places.data(), status.data(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(status, std::vector<cl_int>(devices().size(), CL_SUCCESS));
    const std::vector<unsigned char> nonsense(reversed_sizes.front(), 7);
    auto with_nonsense = reversed_places;
    with_nonsense.front() = nonsense.data();
    const program_handle refused(clCreateProgramWithBinary(context(), static_cast<cl_uint>(reversed.size()),
                                                           reversed.data(), reversed_sizes.data(), with_nonsense.data(),
                                                           status.data(), &code));
    if (refused.get() != nullptr) { // NVIDIA's driver looks at a binary when it is built
        EXPECT_NE(clBuildProgram(refused.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    } else {
        EXPECT_EQ(code, CL_INVALID_BINARY);
        EXPECT_EQ(status.front(), CL_INVALID_BINARY); // on every rank
    }
    ASSERT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(items, 2);
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
        launch(queue(i), add, buffer, 3, items);
        EXPECT_EQ(read(queue(i), buffer, items), std::vector<cl_uint>(items, 5));
    }
}

TEST_F(programs, in_callbacks_only_the_own_devices_have_binaries) {
    struct asking {
        cl_program program;
        std::vector<size_t> sizes;
        std::vector<std::vector<unsigned char>> binaries;
        std::promise<cl_int> code;
    };
    const auto built = build(add_source);
    const auto bytes = devices().size() * sizeof(size_t);
    std::vector<size_t> sizes(devices().size());
    ASSERT_EQ(clGetProgramInfo(built.get(), CL_PROGRAM_BINARY_SIZES, bytes, sizes.data(), nullptr), CL_SUCCESS);
    asking of{built.get(), std::vector<size_t>(devices().size()), {}, {}};
    for (const auto size : sizes) of.binaries.emplace_back(size, static_cast<unsigned char>(7));
    const auto ask = [](cl_event, cl_int, void* data) {
        auto& of = *static_cast<asking*>(data);
        std::vector<unsigned char*> places;
        for (auto& binary : of.binaries) places.push_back(binary.data());
        const auto code = clGetProgramInfo(of.program, CL_PROGRAM_BINARY_SIZES, of.sizes.size() * sizeof(size_t),
                                           of.sizes.data(), nullptr);
        of.code.set_value(code != CL_SUCCESS
                              ? code
                              : clGetProgramInfo(of.program, CL_PROGRAM_BINARIES, places.size() * sizeof places[0],
                                                 places.data(), nullptr));
    };
    auto code = of.code.get_future();
    event_handle marker;
    ASSERT_EQ(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, marker.out()), CL_SUCCESS);
    ASSERT_EQ(clSetEventCallback(marker.get(), CL_COMPLETE, ask, &of), CL_SUCCESS);
    ASSERT_EQ(clFlush(queue()), CL_SUCCESS);
    ASSERT_EQ(code.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    ASSERT_EQ(code.get(), CL_SUCCESS);
    size_t own = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        own += of.sizes[i] == 0 ? 0 : 1;
        EXPECT_TRUE(of.sizes[i] == 0 || of.sizes[i] == sizes[i]) << "device " << i;
        const bool is_untouched = std::all_of(of.binaries[i].begin(), of.binaries[i].end(),
                                              [](auto byte) { return byte == 7; });
        EXPECT_EQ(is_untouched, of.sizes[i] == 0) << "device " << i;
    }
    EXPECT_GT(own, 0U);
    const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
    if (ranks == nullptr) ranks = std::getenv("PMI_SIZE");
    const size_t shares = ranks != nullptr && std::getenv("CAUSEWAY_CLUSTER") != nullptr ? std::stoul(ranks) : 1;
    EXPECT_EQ(own < sizes.size(), shares > 1);
}

TEST_F(programs, one_that_is_built_for_one_device_has_a_binary_for_that_one) {
    cl_int code = CL_SUCCESS;
    const char* source = add_source;
    const program_handle program(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(clBuildProgram(program.get(), 1, devices().data(), "", nullptr, nullptr), CL_SUCCESS);
    std::vector<size_t> sizes(devices().size());
    ASSERT_EQ(
        clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t), sizes.data(), nullptr),
        CL_SUCCESS);
    EXPECT_GT(sizes.front(), 0U);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(items, 2);
    const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    launch(queue(), add, buffer, 3, items);
    EXPECT_EQ(read(queue(), buffer, items), std::vector<cl_uint>(items, 5));
}

TEST_F(programs, errors_are_in_the_log_of_each_driver_and_the_callback_comes) {
    const char* source = "__kernel void broken(__global int* data) { data[0] = no_such_thing; }";
    cl_int code = CL_SUCCESS;
    const program_handle program(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "-DX=1", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
    std::map<std::string, std::string> logs; // a driver may stop at its first device, as NVIDIA's does
    std::map<std::string, bool> failed;
    for (auto* const device : devices()) {
        char driver[256] = "";
        ASSERT_EQ(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver, driver, nullptr), CL_SUCCESS);
        std::vector<char> log(100000);
        ASSERT_EQ(clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr),
                  CL_SUCCESS);
        logs[driver] += log.data();
        cl_build_status status = CL_BUILD_NONE;
        ASSERT_EQ(
            clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr),
            CL_SUCCESS);
        EXPECT_NE(status, CL_BUILD_SUCCESS);
        failed[driver] |= status == CL_BUILD_ERROR;
        char options[100] = "";
        ASSERT_EQ(
            clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, nullptr),
            CL_SUCCESS);
        EXPECT_STREQ(options, "-DX=1") << "the program's own options";
    }
    for (const auto& [driver, did] : failed) EXPECT_TRUE(did) << driver;
    for (const auto& [driver, log] : logs)
        EXPECT_NE(log.find("no_such_thing"), std::string::npos) << driver << ": " << log;
    EXPECT_EQ(clCreateKernel(program.get(), "broken", &code), nullptr);
    EXPECT_NE(code, CL_SUCCESS);
    cl_program told = nullptr;
    EXPECT_EQ(
        clBuildProgram(
            program.get(), 0, nullptr, "", [](cl_program of, void* to) { *static_cast<cl_program*>(to) = of; }, &told),
        CL_SUCCESS);
    EXPECT_EQ(told, program.get());
}

TEST_F(programs, compile_with_headers_and_link) {
    const char* header_source = "#define STEP 11\n";
    const char* library_source = "#include \"step.h\"\nuint stepped(uint x) { return x + STEP; }";
    const char* main_source =
        "uint stepped(uint x);"
        "__kernel void go(__global uint* data, uint times) {"
        "    for (uint i = 0; i < times; ++i) data[get_global_id(0)] = stepped(data[get_global_id(0)]); }";
    cl_int code = CL_SUCCESS;
    const auto from_source = [&](const char* source) {
        program_handle made(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    };
    const auto header = from_source(header_source);
    const auto library = from_source(library_source);
    const auto main_part = from_source(main_source);
    const char* name = "step.h";
    ASSERT_EQ(
        clCompileProgram(library.get(), 0, nullptr, "", 1, std::vector{header.get()}.data(), &name, nullptr, nullptr),
        CL_SUCCESS);
    ASSERT_EQ(clCompileProgram(main_part.get(), 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
    const std::vector<cl_program> inputs{library.get(), main_part.get()};
    const program_handle linked(clLinkProgram(context(), 0, nullptr, "", 2, inputs.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS) << logs_of(linked, devices());
    const auto go = kernel_of(linked, "go");
    std::vector<cl_uint> start(items, 1);
    const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    for (std::size_t i = 0; i < devices().size(); ++i) launch(queue(i), go, buffer, 1, items), clFinish(queue(i));
    EXPECT_EQ(read(queue(), buffer, items),
              std::vector<cl_uint>(items, 1 + 11 * static_cast<cl_uint>(devices().size())));
}

TEST_F(programs, what_cannot_be_linked_says_so_on_every_rank) {
    cl_int code = CL_SUCCESS;
    std::vector<program_handle> parts;
    for (const char* source : {"uint one(void) { return 1; }", "uint one(void) { return 2; }"}) {
        parts.emplace_back(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
        ASSERT_EQ(clCompileProgram(parts.back().get(), 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
                  CL_SUCCESS);
    }
    const std::vector<cl_program> inputs{parts[0].get(), parts[1].get()};
    const program_handle linked(clLinkProgram(context(), 0, nullptr, "", 2, inputs.data(), nullptr, nullptr, &code));
    EXPECT_EQ(code, CL_LINK_PROGRAM_FAILURE);
}

TEST_F(programs, parts_of_another_context_are_refused) {
    cl_int code = CL_SUCCESS;
    const context_handle elsewhere(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const auto from_source = [&](cl_context in) {
        const char* source = "uint one(void) { return 1; }";
        program_handle made(clCreateProgramWithSource(in, 1, &source, nullptr, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    };
    const auto foreign = from_source(elsewhere.get());
    const auto own = from_source(context());
    const char* name = "foreign.h";
    EXPECT_EQ(
        clCompileProgram(own.get(), 0, nullptr, "", 1, std::vector{foreign.get()}.data(), &name, nullptr, nullptr),
        CL_INVALID_PROGRAM);
    ASSERT_EQ(clCompileProgram(foreign.get(), 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(clLinkProgram(context(), 0, nullptr, "", 1, std::vector{foreign.get()}.data(), nullptr, nullptr, &code),
              nullptr);
    EXPECT_EQ(code, CL_INVALID_PROGRAM);
}

bool is_pocl(cl_device_id device) {
    char version[256] = "";
    EXPECT_EQ(clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version, version, nullptr), CL_SUCCESS);
    return std::string(version).find("PoCL") != std::string::npos ||
           std::string(version).find("pocl") != std::string::npos;
}

TEST_F(programs, a_build_that_fails_for_one_driver_fails_with_its_log_on_every_rank) {
    const char* const source = "#ifdef POCL_DEVICE_ADDRESS_BITS\n#error not with this driver\n#endif\n"
                               "__kernel void go(__global uint* data) { data[0] = 1; }";
    cl_int code = CL_SUCCESS;
    const program_handle program(
        clCreateProgramWithSource(context(), 1, const_cast<const char**>(&source), nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const bool fails = std::any_of(devices().begin(), devices().end(), is_pocl);
    EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr),
              fails ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS);
    bool told = false;
    for (auto* const device : devices()) {
        cl_build_status status = CL_BUILD_NONE;
        ASSERT_EQ(
            clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr),
            CL_SUCCESS);
        EXPECT_EQ(status, is_pocl(device) ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
        std::string log(65536, '\0');
        ASSERT_EQ(clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr),
                  CL_SUCCESS);
        if (log.find("not with this driver") != std::string::npos) {
            EXPECT_TRUE(is_pocl(device));
            told = true;
        }
    }
    EXPECT_EQ(told, fails); // PoCL 3.1 stops at the first of its devices
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
}

constexpr const char*
    not_for_pocl = "#ifdef POCL_DEVICE_ADDRESS_BITS\n#error not with this driver\n#endif\n"
                   "__kernel void put(__global uint* data, uint value) { data[get_global_id(0)] = value; }";

TEST_F(programs, a_build_is_its_owners_affair) {
    // Ranks that have none of a context's devices only follow it, also with a driver that cannot build what they build.
    for (auto* const device : devices()) {
        cl_int code = CL_SUCCESS;
        const context_handle own(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const char* source = not_for_pocl;
        const program_handle program(clCreateProgramWithSource(own.get(), 1, &source, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const bool fails = is_pocl(device);
        EXPECT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr),
                  fails ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS);
        if (fails) continue;
        const auto put = kernel_of(program, "put");
        cl_uint count = 0;
        EXPECT_EQ(clGetKernelInfo(put.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr), CL_SUCCESS);
        EXPECT_EQ(count, 2U);
        char type[16] = "";
        EXPECT_EQ(clGetKernelArgInfo(put.get(), 0, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr), CL_SUCCESS);
        EXPECT_STREQ(type, "uint*");
        const buffer_handle buffer(clCreateBuffer(own.get(), CL_MEM_READ_WRITE, items * 4, nullptr, &code));
        const queue_handle on(clCreateCommandQueue(own.get(), device, 0, &code));
        launch(on.get(), put, buffer, 7, items);
        EXPECT_EQ(read(on.get(), buffer, items), std::vector<cl_uint>(items, 7));
    }
}

TEST_F(programs, a_build_for_one_device_needs_no_other) {
    const auto found = std::find_if_not(devices().begin(), devices().end(), is_pocl);
    if (found == devices().end()) GTEST_SKIP() << "PoCL's devices alone";
    cl_int code = CL_SUCCESS;
    const char* source = not_for_pocl;
    const program_handle program(clCreateProgramWithSource(context(), 1, &source, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    ASSERT_EQ(clBuildProgram(program.get(), 1, &*found, "", nullptr, nullptr), CL_SUCCESS);
    char names[16] = "";
    EXPECT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_KERNEL_NAMES, sizeof names, names, nullptr), CL_SUCCESS);
    EXPECT_STREQ(names, "put");
    const auto put = kernel_of(program, "put");
    const auto buffer = new_buffer(items * 4);
    auto* const on = queue(static_cast<std::size_t>(found - devices().begin()));
    launch(on, put, buffer, 7, items);
    EXPECT_EQ(read(queue(), buffer, items), std::vector<cl_uint>(items, 7));
}

constexpr cl_program_info program_il = 0x1169; // CL_PROGRAM_IL of OpenCL 2.1
/// kernel void one(global uint* p, local uint* l, global uint* q) { *p = 7; }
constexpr cl_uint spir_v[] = {
    0x07230203, 0x00010000, 0,       12,         0,       0x20011, 4,       0x20011, 6,       0x3000e, 2,       2,
    0x4000f,    6,          6,       0x00656e6f, // OpEntryPoint "one"
    0x20013,    1,          0x40015, 2,          32,      0,       0x40020, 3,       5,       2,       0x40020, 9,
    4,          2,          0x60021, 4,          1,       3,       9,       3,       0x4002b, 2,       5,       7,
    0x50036,    1,          6,       0,          4,       0x30037, 3,       7,       0x30037, 9,       10,      0x30037,
    3,          11,         0x200f8, 8,          0x5003e, 7,       5,       2,       4,       0x100fd, 0x10038};

TEST_F(programs, from_an_intermediate_language_run_on_every_device) {
    const auto create = reinterpret_cast<cl_program(CL_API_CALL*)(cl_context, const void*, size_t, cl_int*)>(
        clGetExtensionFunctionAddressForPlatform(platform(), "clCreateProgramWithIL"));
    ASSERT_NE(create, nullptr);
    cl_int code = CL_SUCCESS;
    const program_handle program(create(context(), spir_v, sizeof spir_v, &code));
    if (code == CL_INVALID_OPERATION || code == CL_INVALID_VALUE) GTEST_SKIP() << "a driver without such a language";
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(create(context(), nullptr, sizeof spir_v, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_VALUE);
    size_t size = 0;
    EXPECT_EQ(clGetProgramInfo(program.get(), program_il, 0, nullptr, &size), CL_SUCCESS);
    EXPECT_EQ(size, sizeof spir_v);
    ASSERT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    const auto one = kernel_of(program, "one");
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto buffer = new_buffer(4);
        auto* const raw = buffer.get();
        ASSERT_EQ(clSetKernelArg(one.get(), 0, sizeof raw, &raw), CL_SUCCESS);
        // A kernel may not say what it takes: as many bytes of local memory as a handle has, and no buffer.
        ASSERT_EQ(clSetKernelArg(one.get(), 1, 8, nullptr), CL_SUCCESS);
        const cl_mem nothing = nullptr;
        ASSERT_EQ(clSetKernelArg(one.get(), 2, sizeof nothing, &nothing), CL_SUCCESS);
        const size_t global = 1;
        ASSERT_EQ(clEnqueueNDRangeKernel(queue(i), one.get(), 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(read(queue(i), buffer, 1), std::vector<cl_uint>{7});
    }
}

TEST_F(programs, a_clone_of_a_kernel_has_its_arguments_and_keeps_them) {
    const auto clone = reinterpret_cast<cl_kernel(CL_API_CALL*)(cl_kernel, cl_int*)>(
        clGetExtensionFunctionAddressForPlatform(platform(), "clCloneKernel"));
    ASSERT_NE(clone, nullptr);
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    const auto buffer = new_buffer(items * 4), other = new_buffer(items * 4);
    const cl_uint zero = 0, three = 3;
    for (auto* const each : {buffer.get(), other.get()})
        ASSERT_EQ(clEnqueueFillBuffer(queue(), each, &zero, 4, 0, items * 4, 0, nullptr, nullptr), CL_SUCCESS);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    auto* raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(add.get(), 0, sizeof raw, &raw), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(add.get(), 1, sizeof three, &three), CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    const kernel_handle copy(clone(add.get(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    launch(queue(), add, other, 100, items);
    const size_t global = items;
    cl_uint sum = 0;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        ASSERT_EQ(clEnqueueNDRangeKernel(queue(i), copy.get(), 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
                  CL_SUCCESS);
        ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
        sum += three;
    }
    EXPECT_EQ(read(queue(), buffer, items), std::vector<cl_uint>(items, sum));
    EXPECT_EQ(clone(nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_KERNEL);
}

TEST_F(programs, all_kernels_of_a_program_at_once) {
    const auto program = build(add_source);
    cl_uint count = 0;
    ASSERT_EQ(clCreateKernelsInProgram(program.get(), 0, nullptr, &count), CL_SUCCESS);
    ASSERT_EQ(count, 2U);
    std::vector<cl_kernel> kernels(count);
    EXPECT_EQ(clCreateKernelsInProgram(program.get(), 1, kernels.data(), nullptr), CL_INVALID_VALUE);
    ASSERT_EQ(clCreateKernelsInProgram(program.get(), count, kernels.data(), nullptr), CL_SUCCESS);
    for (auto* const kernel : kernels) {
        const kernel_handle held(kernel);
        cl_program of = nullptr;
        ASSERT_EQ(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof of, &of, nullptr), CL_SUCCESS);
        EXPECT_EQ(of, program.get());
    }
}

TEST_F(programs, local_memory_samplers_and_images_reach_kernels) {
    const auto program = build(
        "__kernel void sum(__global uint* data, __local uint* scratch) {"
        "    scratch[get_local_id(0)] = data[get_global_id(0)];"
        "    barrier(CLK_LOCAL_MEM_FENCE);"
        "    uint all = 0;"
        "    for (uint i = 0; i < get_local_size(0); ++i) all += scratch[i];"
        "    data[get_global_id(0)] = all; }"
        "__kernel void pick(read_only image2d_t image, sampler_t how, __global uint* data) {"
        "    data[get_global_id(0)] = read_imageui(image, how, (int2)(get_global_id(0), 0)).x; }");
    const auto sum = kernel_of(program, "sum");
    const auto pick = kernel_of(program, "pick");
    std::vector<cl_uint> start(items, 1);
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = items;
    shape.image_height = 1;
    std::vector<cl_uint> pixels(items * 4);
    for (cl_uint i = 0; i < items; ++i) pixels[4 * i] = i * 3;
    cl_int code = CL_SUCCESS;
    const buffer_handle image(
        clCreateImage(context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, pixels.data(), &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const sampler_handle sampler(clCreateSampler(context(), CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
        auto* const raw = buffer.get();
        ASSERT_EQ(clSetKernelArg(sum.get(), 0, sizeof raw, &raw), CL_SUCCESS);
        ASSERT_EQ(clSetKernelArg(sum.get(), 1, 16 * 4, nullptr), CL_SUCCESS);
        const size_t global = items;
        const size_t local = 16;
        ASSERT_EQ(clEnqueueNDRangeKernel(queue(i), sum.get(), 1, nullptr, &global, &local, 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(read(queue(i), buffer, items), std::vector<cl_uint>(items, 16));
        auto* const raw_image = image.get();
        auto* const raw_sampler = sampler.get();
        ASSERT_EQ(clSetKernelArg(pick.get(), 0, sizeof raw_image, &raw_image), CL_SUCCESS);
        ASSERT_EQ(clSetKernelArg(pick.get(), 1, sizeof raw_sampler, &raw_sampler), CL_SUCCESS);
        ASSERT_EQ(clSetKernelArg(pick.get(), 2, sizeof raw, &raw), CL_SUCCESS);
        ASSERT_EQ(clEnqueueNDRangeKernel(queue(i), pick.get(), 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
                  CL_SUCCESS);
        const auto picked = read(queue(i), buffer, items);
        for (cl_uint at = 0; at < items; ++at) ASSERT_EQ(picked[at], at * 3);
    }
}

TEST_F(programs, a_type_of_the_programs_own_may_be_called_as_images_are) {
    const auto program = build("typedef struct { uint first; uint second; } image_pair;"
                               "typedef uint image_word;"
                               "__kernel void sum(image_pair of, __global image_word* to) {"
                               "    to[get_global_id(0)] += of.first + of.second; }");
    const auto sum = kernel_of(program, "sum");
    std::vector<cl_uint> start(items, 1);
    const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    const std::array<cl_uint, 2> of{3, 4};
    auto* const raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(sum.get(), 0, sizeof of, of.data()), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(sum.get(), 1, sizeof raw, &raw), CL_SUCCESS);
    const size_t global = items;
    ASSERT_EQ(clEnqueueNDRangeKernel(queue(), sum.get(), 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    // Also where contents have to move: the kernel writes what is called an image's.
    EXPECT_EQ(read(last_queue(), buffer, items), std::vector<cl_uint>(items, 8));
}

TEST_F(programs, native_kernels_get_memory_where_their_device_has_it) {
    struct arguments {
        cl_uint* data;
        cl_uint add;
    };
    const auto function = [](void* given) {
        const auto& to = *static_cast<arguments*>(given);
        for (std::size_t i = 0; i < items; ++i) to.data[i] += to.add;
    };
    std::vector<cl_uint> start(items, 1);
    const auto buffer = new_buffer(items * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    cl_uint expected = 1;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        cl_device_exec_capabilities can = 0;
        ASSERT_EQ(clGetDeviceInfo(devices()[i], CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr),
                  CL_SUCCESS);
        arguments given{nullptr, 5};
        auto* const raw = buffer.get();
        const void* place = &given.data;
        const auto code = clEnqueueNativeKernel(queue(i), function, &given, sizeof given, 1, &raw, &place, 0, nullptr,
                                                nullptr);
        if ((can & CL_EXEC_NATIVE_KERNEL) == 0) {
            EXPECT_EQ(code, CL_INVALID_OPERATION);
            continue;
        }
        ASSERT_EQ(code, CL_SUCCESS);
        expected += 5;
        EXPECT_EQ(read(queue(i), buffer, items), std::vector<cl_uint>(items, expected));
    }
}

TEST_F(programs, sub_devices_are_devices) {
    for (auto* const whole : devices()) {
        cl_uint units = 0;
        ASSERT_EQ(clGetDeviceInfo(whole, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), CL_SUCCESS);
        if (units < 2) continue;
        const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                           CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        cl_uint count = 0;
        cl_device_id part = nullptr;
        if (clCreateSubDevices(whole, properties, 1, &part, &count) != CL_SUCCESS) continue; // not every driver can
        ASSERT_EQ(count, 1U);
        cl_device_id parent = nullptr;
        ASSERT_EQ(clGetDeviceInfo(part, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr), CL_SUCCESS);
        EXPECT_EQ(parent, whole);
        cl_int code = CL_SUCCESS;
        {
            const context_handle own(clCreateContext(nullptr, 1, &part, nullptr, nullptr, &code));
            ASSERT_EQ(code, CL_SUCCESS);
            const queue_handle on_part(clCreateCommandQueue(own.get(), part, 0, &code));
            ASSERT_EQ(code, CL_SUCCESS);
            const buffer_handle buffer(clCreateBuffer(own.get(), 0, 64, nullptr, &code));
            const cl_uint seven = 7;
            ASSERT_EQ(clEnqueueFillBuffer(on_part.get(), buffer.get(), &seven, 4, 0, 64, 0, nullptr, nullptr),
                      CL_SUCCESS);
            EXPECT_EQ(read(on_part.get(), buffer, 16), std::vector<cl_uint>(16, 7));
        }
        {
            // PoCL makes queues of a part in a context of the whole.
            const context_handle of_whole(clCreateContext(nullptr, 1, &whole, nullptr, nullptr, &code));
            ASSERT_EQ(code, CL_SUCCESS);
            const queue_handle on_part(clCreateCommandQueue(of_whole.get(), part, 0, &code));
            if (code == CL_SUCCESS) {
                const char* source = add_source;
                const program_handle program(clCreateProgramWithSource(of_whole.get(), 1, &source, nullptr, &code));
                ASSERT_EQ(clBuildProgram(program.get(), 1, &part, "", nullptr, nullptr), CL_SUCCESS);
                const std::vector<cl_uint> start(items, 1);
                const buffer_handle buffer(clCreateBuffer(of_whole.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                          items * 4, const_cast<cl_uint*>(start.data()), &code));
                launch(on_part.get(), kernel_of(program, "add"), buffer, 2, items);
                EXPECT_EQ(read(on_part.get(), buffer, items), std::vector<cl_uint>(items, 3));
            } else {
                EXPECT_EQ(code, CL_INVALID_DEVICE);
            }
        }
        EXPECT_EQ(clReleaseDevice(part), CL_SUCCESS);
        EXPECT_EQ(clReleaseDevice(whole), CL_SUCCESS) << "whole devices are not counted";
    }
}

TEST_F(programs, parts_of_two_devices_share_a_context_and_its_contents) {
    std::vector<cl_device_id> parts;
    for (auto* const whole : {devices().front(), devices().back()}) {
        const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
        cl_uint count = 0;
        if (clCreateSubDevices(whole, equally, 0, nullptr, &count) != CL_SUCCESS || count == 0)
            GTEST_SKIP() << "a device that cannot be divided";
        std::vector<cl_device_id> made(count);
        cl_uint found = 0;
        EXPECT_EQ(clCreateSubDevices(whole, equally, 0, made.data(), &found), CL_INVALID_VALUE);
        ASSERT_EQ(clCreateSubDevices(whole, equally, count, made.data(), &found), CL_SUCCESS);
        ASSERT_EQ(found, count);
        for (auto* const part : made) {
            cl_uint units = 0;
            ASSERT_EQ(clGetDeviceInfo(part, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), CL_SUCCESS);
            EXPECT_EQ(units, 1U);
        }
        const cl_device_partition_property too_many[] = {CL_DEVICE_PARTITION_BY_COUNTS, 100'000,
                                                         CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        cl_device_id none = nullptr;
        EXPECT_NE(clCreateSubDevices(whole, too_many, 1, &none, &count), CL_SUCCESS);
        EXPECT_EQ(none, nullptr);
        for (std::size_t i = 1; i < made.size(); ++i) EXPECT_EQ(clReleaseDevice(made[i]), CL_SUCCESS);
        parts.push_back(made.front());
        if (devices().size() == 1) break;
    }
    cl_int code = CL_SUCCESS;
    {
        const context_handle own(
            clCreateContext(nullptr, static_cast<cl_uint>(parts.size()), parts.data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const queue_handle first(clCreateCommandQueue(own.get(), parts.front(), 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const queue_handle last(clCreateCommandQueue(own.get(), parts.back(), 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const char* source = add_source;
        const program_handle program(clCreateProgramWithSource(own.get(), 1, &source, nullptr, &code));
        ASSERT_EQ(clBuildProgram(program.get(), 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
        const auto add = kernel_of(program, "add");
        std::vector<cl_uint> start(items, 1);
        const buffer_handle buffer(
            clCreateBuffer(own.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, items * 4, start.data(), &code));
        ASSERT_EQ(code, CL_SUCCESS);
        launch(first.get(), add, buffer, 2, items);
        ASSERT_EQ(clFinish(first.get()), CL_SUCCESS);
        launch(last.get(), add, buffer, 3, items);
        EXPECT_EQ(read(last.get(), buffer, items), std::vector<cl_uint>(items, 6));
        EXPECT_EQ(read(first.get(), buffer, items), std::vector<cl_uint>(items, 6));
    }
    for (auto* const part : parts) EXPECT_EQ(clReleaseDevice(part), CL_SUCCESS);
}

TEST_F(programs, kernels_come_in_one_order_on_every_rank) {
    const auto program = build("__kernel void zebra(__global int* x) { x[0] = 1; }"
                               "__kernel void ant(__global int* x) { x[0] = 2; }"
                               "__kernel void mole(__global int* x) { x[0] = 3; }");
    cl_uint count = 0;
    ASSERT_EQ(clCreateKernelsInProgram(program.get(), 0, nullptr, &count), CL_SUCCESS);
    ASSERT_EQ(count, 3U);
    cl_kernel kernels[3] = {};
    EXPECT_EQ(clCreateKernelsInProgram(program.get(), 2, kernels, nullptr), CL_INVALID_VALUE);
    ASSERT_EQ(clCreateKernelsInProgram(program.get(), 3, kernels, nullptr), CL_SUCCESS);
    char names[64] = "";
    ASSERT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_KERNEL_NAMES, sizeof names, names, nullptr), CL_SUCCESS);
    std::string together;
    for (auto* const raw : kernels) {
        const kernel_handle kernel(raw);
        char name[16] = "";
        ASSERT_EQ(clGetKernelInfo(raw, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr), CL_SUCCESS);
        if (!together.empty()) together += ';';
        together += name;
        // What ranks differ in, the check of calls finds: this goes into the record.
        const kernel_handle same(clCreateKernel(program.get(), name, nullptr));
        EXPECT_NE(same.get(), nullptr);
    }
    EXPECT_EQ(together, names);
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS);
}

TEST_F(programs, bytes_between_the_members_of_an_argument_mean_nothing) {
    const auto program = build("struct pair { char first; int second; };"
                               "__kernel void sum(__global int* to, struct pair of) { to[0] = of.first + of.second; }");
    const auto sum = kernel_of(program, "sum");
    struct pair {
        cl_char first;
        cl_int second;
    } of;
    // Not the same on two ranks.
    const auto chance = static_cast<int>(getpid());
    std::memset(&of, chance % 251, sizeof of);
    of.first = 3;
    of.second = 4;
    const auto buffer = new_buffer(4);
    auto* const raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(sum.get(), 0, sizeof raw, &raw), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(sum.get(), 1, sizeof of, &of), CL_SUCCESS);
    const std::size_t one = 1;
    ASSERT_EQ(clEnqueueNDRangeKernel(queue(), sum.get(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(clFinish(queue()), CL_SUCCESS); // where the ranks compare
    EXPECT_EQ(read(queue(), buffer, 1), std::vector<cl_uint>{7});
}

} // namespace

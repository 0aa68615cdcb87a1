// SPDX-License-Identifier: Apache-2.0
// What the platform Causeway costs: the same calls on a driver's own platform and on the same device through Causeway,
// turn by turn in one process.

#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int rounds = 41;

void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + " gave " + std::to_string(code));
}

std::string name_of(cl_device_id device) {
    char name[256] = "";
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr), "clGetDeviceInfo");
    return name;
}

std::string name_of(cl_platform_id platform) {
    char name[256] = "";
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr), "clGetPlatformInfo");
    return name;
}

/// One way to the device: everything that the timed calls need.
class way {
  public:
    explicit way(cl_device_id device) {
        cl_int code = CL_SUCCESS;
        m_context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        m_queue = clCreateCommandQueue(m_context, device, 0, &code);
        check(code, "clCreateCommandQueue");
        m_buffer = clCreateBuffer(m_context, 0, 4096, nullptr, &code);
        check(code, "clCreateBuffer");
        m_other = clCreateBuffer(m_context, 0, 4096, nullptr, &code);
        check(code, "clCreateBuffer");
        const char* source = "__kernel void touch(__global uint* data, uint value) { data[get_global_id(0)] = value; }";
        auto* const program = clCreateProgramWithSource(m_context, 1, &source, nullptr, &code);
        check(code, "clCreateProgramWithSource");
        check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
        m_kernel = clCreateKernel(program, "touch", &code);
        check(code, "clCreateKernel");
        set_arguments();
        launch(nullptr);
        finish();
        check(clEnqueueMarkerWithWaitList(m_queue, 0, nullptr, &m_event), "clEnqueueMarkerWithWaitList");
        finish();
    }
    way(const way&) = delete;
    way& operator=(const way&) = delete;
    // The process ends with it.

    void set_arguments() {
        check(clSetKernelArg(m_kernel, 0, sizeof m_buffer, &m_buffer), "clSetKernelArg");
        check(clSetKernelArg(m_kernel, 1, sizeof m_value, &m_value), "clSetKernelArg");
    }
    void launch(cl_event* event) {
        const std::size_t items = 64;
        check(clEnqueueNDRangeKernel(m_queue, m_kernel, 1, nullptr, &items, nullptr, 0, nullptr, event),
              "clEnqueueNDRangeKernel");
    }
    void launch_and_wait_for_event() {
        cl_event event = nullptr;
        launch(&event);
        check(clWaitForEvents(1, &event), "clWaitForEvents");
        check(clReleaseEvent(event), "clReleaseEvent");
    }
    void finish() { check(clFinish(m_queue), "clFinish"); }
    void read() {
        check(clEnqueueReadBuffer(m_queue, m_buffer, CL_TRUE, 0, sizeof m_value, &m_value, 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
    }
    void copy() {
        check(clEnqueueCopyBuffer(m_queue, m_buffer, m_other, 0, 0, 64, 0, nullptr, nullptr), "clEnqueueCopyBuffer");
    }
    void ask() {
        cl_int status = 0;
        check(clGetEventInfo(m_event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
              "clGetEventInfo");
    }

  private:
    cl_context m_context = nullptr;
    cl_command_queue m_queue = nullptr;
    cl_mem m_buffer = nullptr, m_other = nullptr;
    cl_kernel m_kernel = nullptr;
    cl_event m_event = nullptr;
    cl_uint m_value = 7;
};

struct timed_call {
    const char* name;
    int times; ///< in one round
    std::function<void(way&)> call;
    std::function<void(way&)> after; ///< untimed
};

double microseconds_each(way& on, const timed_call& what) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < what.times; ++i) what.call(on);
    const auto end = std::chrono::steady_clock::now();
    if (what.after) what.after(on);
    return std::chrono::duration<double, std::micro>(end - begin).count() / what.times;
}

void compare(cl_device_id direct, cl_device_id wrapped) {
    way bare(direct);
    way ours(wrapped);
    const auto finish = [](way& on) { on.finish(); };
    const std::vector<timed_call> calls = {
        {"clSetKernelArg, twice", 1000, [](way& on) { on.set_arguments(); }, {}},
        {"clGetEventInfo", 1000, [](way& on) { on.ask(); }, {}},
        {"clEnqueueNDRangeKernel", 100, [](way& on) { on.launch(nullptr); }, finish},
        {"clEnqueueCopyBuffer", 100, [](way& on) { on.copy(); }, finish},
        {"kernel and clFinish",
         100,
         [](way& on) {
             on.launch(nullptr);
             on.finish();
         },
         {}},
        {"kernel, event, clWaitForEvents", 100, [](way& on) { on.launch_and_wait_for_event(); }, {}},
        {"blocking clEnqueueReadBuffer, 4 B", 100, [](way& on) { on.read(); }, {}},
    };
    std::printf("%-34s %10s %10s %22s\n", "us each, median", "driver", "Causeway", "difference (quartiles)");
    for (const auto& what : calls) {
        std::vector<double> theirs, own, differences;
        for (int i = 0; i < rounds; ++i) {
            // Turn by turn, and each first as often as the other.
            const bool swapped = i % 2 != 0;
            const double first = microseconds_each(swapped ? ours : bare, what);
            const double second = microseconds_each(swapped ? bare : ours, what);
            theirs.push_back(swapped ? second : first);
            own.push_back(swapped ? first : second);
            differences.push_back(own.back() - theirs.back());
        }
        for (auto* const list : {&theirs, &own, &differences}) std::sort(list->begin(), list->end());
        const auto middle = static_cast<std::size_t>(rounds) / 2;
        std::printf("%-34s %10.3f %10.3f %8.3f (%.3f to %.3f)\n", what.name, theirs[middle], own[middle],
                    differences[middle], differences[middle / 2], differences[middle + middle / 2]);
    }
}

/// Names Causeway beside the drivers that the loader would have shown, for as long as it lives.
class vendors_of_both {
  public:
    vendors_of_both() : m_folder((fs::temp_directory_path() / "platform-cost-XXXXXX").string()) {
        const char* const asked = std::getenv("OCL_ICD_VENDORS");
        const fs::path drivers = asked != nullptr && *asked != '\0' ? asked : "/etc/OpenCL/vendors";
        if (!fs::is_directory(drivers)) throw std::runtime_error(drivers.string() + " is no folder of drivers");
        if (mkdtemp(m_folder.data()) == nullptr) throw std::runtime_error("cannot make " + m_folder);
        for (const auto& each : fs::directory_iterator(drivers))
            if (each.path().extension() == ".icd") fs::copy(each.path(), m_folder);
        std::ofstream(fs::path(m_folder) / "causeway.icd") << CAUSEWAY_ICD << '\n';
        setenv("OCL_ICD_VENDORS", (m_folder + "/").c_str(), 1); // ocl-icd 2.3.2 wants the slash
    }
    ~vendors_of_both() {
        std::error_code ignored;
        fs::remove_all(m_folder, ignored);
    }
    vendors_of_both(const vendors_of_both&) = delete;
    vendors_of_both& operator=(const vendors_of_both&) = delete;

  private:
    std::string m_folder;
};

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
    std::vector<cl_device_id> devices(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
    return devices;
}

int run() {
    cl_uint count = 0;
    check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    const auto causeway = std::find_if(platforms.begin(), platforms.end(),
                                       [](auto* one) { return name_of(one) == "Causeway"; });
    if (causeway == platforms.end() || count < 2)
        throw std::runtime_error("the loader does not show Causeway and a driver");
    for (auto* const platform : platforms) {
        if (platform == *causeway) continue;
        const auto direct = devices_of(platform);
        if (direct.empty()) continue;
        for (auto* const device : devices_of(*causeway)) {
            if (name_of(device) != name_of(direct.front())) continue;
            std::printf("%s: %s\n", name_of(platform).c_str(), name_of(device).c_str());
            compare(direct.front(), device);
            break;
        }
    }
    return 0;
}

} // namespace

int main() {
    try {
        const vendors_of_both vendors;
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "platform_cost: %s\n", error.what());
        return 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Loaded in front of OpenCL by `causeway trace`: makes the program's queues profile, and shows its commands to the timeline.
// It calls nothing by name that it does not find at run time, as launchers load it too.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <causeway/trace.h>

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using queue_property = cl_ulong; // cl_queue_properties, of OpenCL 2.0

constexpr queue_property queue_properties = 0x1093, on_device = 1 << 2; // CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE

/// Paths of the libraries that are loaded whose names begin so.
std::vector<std::string> loaded_libraries(std::string_view beginning) {
    struct search {
        std::string_view beginning;
        std::vector<std::string> found;
    } wanted{beginning, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* into) {
            auto& wanted = *static_cast<search*>(into);
            const std::string_view path = object->dlpi_name;
            if (path.substr(path.rfind('/') + 1).starts_with(wanted.beginning)) wanted.found.emplace_back(path);
            return 0;
        },
        &wanted);
    return wanted.found;
}

/// A function of a library that is loaded, also where only those see it who loaded it, as Python does. The library stays
/// loaded from then on.
void* function_of(std::string_view library, const char* function) {
    for (const auto& path : loaded_libraries(library))
        if (void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
            if (void* const address = dlsym(handle, function)) return address;
    return nullptr;
}

/// Loads the libcauseway beside this library, or one folder above it, for a program that has none: its commands make a
/// timeline, too. False if there is none, or if the program has another MPI, with which it must have nothing to do.
bool bring_library() {
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(&bring_library), &own) == 0) return false;
    const auto mpi_of_program = loaded_libraries("libmpi");
    const std::string_view path = own.dli_fname;
    const std::string folder(path.substr(0, path.rfind('/') + 1));
    if (dlopen((folder + "libcauseway.so.0").c_str(), RTLD_LAZY) == nullptr &&
        dlopen((folder + "../libcauseway.so.0").c_str(), RTLD_LAZY) == nullptr)
        return false;
    return mpi_of_program.empty() || loaded_libraries("libmpi") == mpi_of_program;
}

/// The function that this library stands in front of. Of two loaders of OpenCL any will do: the driver is found by the object.
template <class Function> Function* next(const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    return reinterpret_cast<Function*>(found != nullptr ? found : function_of("libOpenCL", name));
}

/// Where libcauseway is in memory: what it does itself, its engine tells the timeline.
struct library_range {
    decltype(&causeway_trace_command) show = nullptr;
    std::uintptr_t first = 0, last = 0;

    /// Of the program's, or the one that is loaded for it.
    static const library_range& instance() {
        static const library_range found = find();
        return found;
    }
    [[nodiscard]] bool contains(const void* caller) const {
        const auto address = reinterpret_cast<std::uintptr_t>(caller);
        return first <= address && address < last;
    }

  private:
    static library_range find() {
        library_range found;
        const char* const name = "causeway_trace_command";
        void* show = function_of("libcauseway", name);
        if (show == nullptr && bring_library()) show = function_of("libcauseway", name);
        found.show = reinterpret_cast<decltype(found.show)>(show);
        if (show != nullptr) dl_iterate_phdr(look, &found);
        return found;
    }
    /// The object that has the function is the library.
    static int look(dl_phdr_info* object, size_t, void* into) {
        auto& found = *static_cast<library_range*>(into);
        std::uintptr_t first = UINTPTR_MAX, last = 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& part = object->dlpi_phdr[i];
            if (part.p_type != PT_LOAD) continue;
            const auto begin = object->dlpi_addr + part.p_vaddr;
            first = begin < first ? begin : first;
            last = begin + part.p_memsz > last ? begin + part.p_memsz : last;
        }
        const auto wanted = reinterpret_cast<std::uintptr_t>(found.show);
        if (first > wanted || wanted >= last) return 0;
        found.first = first;
        found.last = last;
        return 1;
    }
};

void release(cl_event event) {
    static auto* const call = next<decltype(clReleaseEvent)>("clReleaseEvent");
    (void)call(event);
}

/// Enqueues by `call`, which takes the place for the event, and shows the command.
template <class Call>
cl_int watched(const void* caller, cl_event* wanted, cl_uint count, const cl_event* list, const char* name, Call call) {
    const auto& library = library_range::instance();
    if (library.show == nullptr || library.contains(caller)) return call(wanted);
    cl_event own = nullptr;
    auto* const event = wanted != nullptr ? wanted : &own;
    const cl_int code = call(event);
    if (code != CL_SUCCESS) return code;
    (void)library.show(*event, name, count, list);
    if (wanted == nullptr) release(own);
    return code;
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                               cl_command_queue_properties properties, cl_int* code) {
    static auto* const call = next<decltype(clCreateCommandQueue)>("clCreateCommandQueue");
    const bool own = library_range::instance().contains(__builtin_return_address(0));
    return call(context, device, properties | (own ? 0 : CL_QUEUE_PROFILING_ENABLE), code);
}

EXPORTED cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                             const queue_property* properties, cl_int* code) {
    using function = cl_command_queue(cl_context, cl_device_id, const queue_property*, cl_int*);
    static auto* const call = next<function>("clCreateCommandQueueWithProperties");
    if (library_range::instance().contains(__builtin_return_address(0))) return call(context, device, properties, code);
    queue_property flags = 0;
    std::vector<queue_property> others;
    for (const auto* each = properties; each != nullptr && *each != 0; each += 2) {
        if (each[0] == queue_properties) {
            flags = each[1];
        } else {
            others.insert(others.end(), {each[0], each[1]});
        }
    }
    if ((flags & on_device) != 0) return call(context, device, properties, code);
    others.insert(others.end(), {queue_properties, flags | CL_QUEUE_PROFILING_ENABLE, 0});
    return call(context, device, others.data(), code);
}

EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                       const size_t* global, const size_t* local, cl_uint count, const cl_event* list,
                                       cl_event* event) {
    static auto* const call = next<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
    static auto* const ask = next<decltype(clGetKernelInfo)>("clGetKernelInfo");
    std::array<char, 128> name{};
    const bool is_known = ask(kernel, CL_KERNEL_FUNCTION_NAME, name.size(), name.data(), nullptr) == CL_SUCCESS;
    return watched(__builtin_return_address(0), event, count, list, is_known ? name.data() : nullptr, [&](cl_event* to) {
        return call(queue, kernel, dimensions, offset, global, local, count, list, to);
    });
}

EXPORTED cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list,
                              cl_event* event) {
    static auto* const call = next<decltype(clEnqueueTask)>("clEnqueueTask");
    return watched(__builtin_return_address(0), event, count, list, nullptr,
                   [&](cl_event* to) { return call(queue, kernel, count, list, to); });
}

EXPORTED cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    void* memory, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, buffer, blocking, offset, size, memory, count, list, to);
    });
}

EXPORTED cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                     const void* memory, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, buffer, blocking, offset, size, memory, count, list, to);
    });
}

EXPORTED cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                        const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                        size_t host_row, size_t host_slice, void* memory, cl_uint count,
                                        const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueReadBufferRect)>("clEnqueueReadBufferRect");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, memory, count,
                    list, to);
    });
}

EXPORTED cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                         const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                         size_t host_row, size_t host_slice, const void* memory, cl_uint count,
                                         const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueWriteBufferRect)>("clEnqueueWriteBufferRect");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, memory, count,
                    list, to);
    });
}

EXPORTED cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                                    size_t target_offset, size_t size, cl_uint count, const cl_event* list,
                                    cl_event* event) {
    static auto* const call = next<decltype(clEnqueueCopyBuffer)>("clEnqueueCopyBuffer");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, source, target, source_offset, target_offset, size, count, list, to);
    });
}

EXPORTED cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                                    size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer");
    return watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        return call(queue, buffer, pattern, pattern_size, offset, size, count, list, to);
    });
}

EXPORTED void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                  size_t offset, size_t size, cl_uint count, const cl_event* list, cl_event* event,
                                  cl_int* code_ret) {
    static auto* const call = next<decltype(clEnqueueMapBuffer)>("clEnqueueMapBuffer");
    void* mapped = nullptr;
    const cl_int code = watched(__builtin_return_address(0), event, count, list, nullptr, [&](cl_event* to) {
        cl_int made = CL_SUCCESS;
        mapped = call(queue, buffer, blocking, flags, offset, size, count, list, to, &made);
        return made;
    });
    if (code_ret != nullptr) *code_ret = code;
    return mapped;
}

EXPORTED cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped, cl_uint count,
                                        const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueUnmapMemObject)>("clEnqueueUnmapMemObject");
    return watched(__builtin_return_address(0), event, count, list, nullptr,
                   [&](cl_event* to) { return call(queue, object, mapped, count, list, to); });
}

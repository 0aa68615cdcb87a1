// SPDX-License-Identifier: Apache-2.0
// Loaded in front of OpenCL by `causeway trace`: makes the program's queues profile, and shows its commands to the
// timeline. It calls nothing by name that it does not find at run time, as launchers load it too.
#include "trace/preload.hpp"

#include <causeway/trace.h>

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

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

/// A function of a library that is loaded, also where only those see it who loaded it, as Python does. The library
/// stays loaded from then on.
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

/// Where libcauseway is in memory: what it does itself, its engine tells the timeline.
struct library_range {
    decltype(&causeway_trace_command) show = nullptr;
    decltype(&causeway_trace_call) show_call = nullptr;
    std::uintptr_t first = 0, last = 0;

    /// Of the program's, or the one that is loaded for it.
    static const library_range& instance() {
        static const library_range found = find();
        s_known = &found;
        return found;
    }
    /// Null before anybody has asked for it.
    static const library_range* if_known() { return s_known; }
    [[nodiscard]] bool contains(const void* caller) const {
        const auto address = reinterpret_cast<std::uintptr_t>(caller);
        return first <= address && address < last;
    }

  private:
    static inline std::atomic<const library_range*> s_known{nullptr};

    static library_range find() {
        library_range found;
        const char* const name = "causeway_trace_command";
        void* show = function_of("libcauseway", name);
        if (show == nullptr && bring_library()) show = function_of("libcauseway", name);
        found.show = reinterpret_cast<decltype(found.show)>(show);
        found.show_call = reinterpret_cast<decltype(found.show_call)>(
            function_of("libcauseway", "causeway_trace_call"));
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

} // namespace

namespace preload {

// Of two loaders of OpenCL any will do: the driver is found by the object.
void* next_function(const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    return found != nullptr ? found : function_of("libOpenCL", name);
}

bool is_watched(const void* caller) {
    const auto& library = library_range::instance();
    return library.show != nullptr && !library.contains(caller);
}

bool is_recording() {
    const auto* const library = library_range::if_known();
    return library != nullptr && library->show != nullptr && library->show_call != nullptr;
}

bool is_of_library(const void* caller) {
    const auto* const library = library_range::if_known();
    return library != nullptr && library->contains(caller);
}

void show_call(const char* kind, const char* name, unsigned long long begin, unsigned long long end,
               unsigned long long bytes) {
    (void)library_range::if_known()->show_call(kind, name, begin, end, bytes);
}

void show(cl_event event, const char* name, cl_uint count, const cl_event* list) {
    (void)library_range::instance().show(event, name, count, list);
}

void release(cl_event event) {
    static auto* const call = next<decltype(clReleaseEvent)>("clReleaseEvent");
    (void)call(event);
}

} // namespace preload

using namespace preload;

EXPORTED cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                               cl_command_queue_properties properties, cl_int* code) {
    static auto* const call = next<decltype(clCreateCommandQueue)>("clCreateCommandQueue");
    const bool own = library_range::instance().contains(__builtin_return_address(0));
    return call(context, device, properties | (own ? 0 : CL_QUEUE_PROFILING_ENABLE), code);
}

EXPORTED cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                             const cl_queue_properties* properties, cl_int* code) {
    static auto* const call = next<decltype(clCreateCommandQueueWithProperties)>("clCreateCommandQueueWithProperties");
    if (library_range::instance().contains(__builtin_return_address(0))) return call(context, device, properties, code);
    cl_queue_properties flags = 0;
    std::vector<cl_queue_properties> others;
    for (const auto* each = properties; each != nullptr && *each != 0; each += 2) {
        if (each[0] == CL_QUEUE_PROPERTIES) {
            flags = each[1];
        } else {
            others.insert(others.end(), {each[0], each[1]});
        }
    }
    if ((flags & CL_QUEUE_ON_DEVICE) != 0) return call(context, device, properties, code);
    others.insert(others.end(), {CL_QUEUE_PROPERTIES, flags | CL_QUEUE_PROFILING_ENABLE, 0});
    return call(context, device, others.data(), code);
}

// SPDX-License-Identifier: Apache-2.0
// Kernels of a program, shown to the timeline by their names.
#include "trace/preload.hpp"

#include <array>

namespace {

class kernel_name {
  public:
    explicit kernel_name(cl_kernel kernel) {
        static auto* const ask = preload::next<decltype(clGetKernelInfo)>("clGetKernelInfo");
        m_is_known = ask(kernel, CL_KERNEL_FUNCTION_NAME, m_text.size(), m_text.data(), nullptr) == CL_SUCCESS;
    }
    [[nodiscard]] const char* text() const { return m_is_known ? m_text.data() : nullptr; }

  private:
    std::array<char, 128> m_text{};
    bool m_is_known = false;
};

} // namespace

using namespace preload;

EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                                       const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
    const kernel_name name(kernel);
    return enqueue(__builtin_return_address(0), call, name.text(), count, list, event, queue, kernel, dimensions,
                   offset, global, local);
}

EXPORTED cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list,
                              cl_event* event) {
    static auto* const call = next<decltype(clEnqueueTask)>("clEnqueueTask");
    const kernel_name name(kernel);
    return enqueue(__builtin_return_address(0), call, name.text(), count, list, event, queue, kernel);
}

EXPORTED cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*), void* arguments,
                                      size_t size, cl_uint objects, const cl_mem* object_list, const void** offsets,
                                      cl_uint count, const cl_event* list, cl_event* event) {
    static auto* const call = next<decltype(clEnqueueNativeKernel)>("clEnqueueNativeKernel");
    return enqueue(__builtin_return_address(0), call, nullptr, count, list, event, queue, function, arguments, size,
                   objects, object_list, offsets);
}

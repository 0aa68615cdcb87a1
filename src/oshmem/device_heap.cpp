// SPDX-License-Identifier: Apache-2.0
// Takes a device, and hands calls on to libcauseway.
#include "oshmem/device_heap.hpp"

#include "base/error.hpp"
#include "oshmem/job.hpp"

#include <causeway/symmetric.h>

#include <dlfcn.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace causeway::oshmem {

static_assert(static_cast<unsigned>(word_operation::bit_xor) == CL_ATOMIC_XOR &&
              static_cast<unsigned>(word_operation::compare_swap) == CL_ATOMIC_COMPARE_SWAP &&
              static_cast<unsigned>(word_operation::increment) == CL_ATOMIC_INC);

/// The functions of libcauseway, and of OpenCL, which it links.
struct device_heap::calls {
    decltype(&causeway_error_last_message) last_message;
    decltype(&causeway_symmetric_init) init;
    decltype(&causeway_symmetric_finalize) finalize;
    decltype(&causeway_symmetric_pe) pe;
    decltype(&causeway_symmetric_pes) pes;
    decltype(&causeway_symmetric_align) align;
    decltype(&causeway_symmetric_calloc) calloc;
    decltype(&causeway_symmetric_free) free;
    decltype(&causeway_symmetric_buffer) buffer;
    decltype(&causeway_symmetric_pointer) pointer;
    decltype(&causeway_symmetric_put) put;
    decltype(&causeway_symmetric_get) get;
    decltype(&causeway_symmetric_signal) signal;
    decltype(&causeway_symmetric_atomic) atomic;
    decltype(&clGetPlatformIDs) platforms;
    decltype(&clGetDeviceIDs) devices;
    decltype(&clCreateContext) context;
    decltype(&clReleaseContext) release_context;
    decltype(&clGetMemObjectInfo) facts;

    static const calls& of_process() {
        static const calls* const all = new calls; // NOLINT: libcauseway stays, too
        return *all;
    }

  private:
    calls() {
        auto* const library = open();
        const auto find = [library](auto& call, const char* name) {
            call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
            if (call == nullptr)
                throw transfer_error(status::invalid_operation,
                                     std::string("the libcauseway that was found has no ") + name);
        };
        find(last_message, "causeway_error_last_message");
        find(init, "causeway_symmetric_init");
        find(finalize, "causeway_symmetric_finalize");
        find(pe, "causeway_symmetric_pe");
        find(pes, "causeway_symmetric_pes");
        find(align, "causeway_symmetric_align");
        find(calloc, "causeway_symmetric_calloc");
        find(free, "causeway_symmetric_free");
        find(buffer, "causeway_symmetric_buffer");
        find(pointer, "causeway_symmetric_pointer");
        find(put, "causeway_symmetric_put");
        find(get, "causeway_symmetric_get");
        find(signal, "causeway_symmetric_signal");
        find(atomic, "causeway_symmetric_atomic");
        find(platforms, "clGetPlatformIDs");
        find(devices, "clGetDeviceIDs");
        find(context, "clCreateContext");
        find(release_context, "clReleaseContext");
        find(facts, "clGetMemObjectInfo");
    }

    /// That of the same installation, which is beside this library.
    static void* open() {
        const char* const name = "libcauseway.so.0";
        Dl_info own{};
        if (dladdr(reinterpret_cast<void*>(&calls::of_process), &own) != 0 && own.dli_fname != nullptr) {
            const std::string path = own.dli_fname;
            const auto folder = path.substr(0, path.rfind('/') + 1);
            if (auto* const found = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_GLOBAL)) return found;
        }
        auto* const found = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (found == nullptr)
            throw transfer_error(status::invalid_operation,
                                 std::string("device memory needs libcauseway: ") + dlerror());
        return found;
    }
};

namespace {

/// One of each kind that the platforms have; PEs of a node take them in turn.
template <class Calls> cl_device_id device_for(const Calls& call, int pe) {
    cl_uint count = 0;
    if (call.platforms(0, nullptr, &count) != CL_SUCCESS) count = 0;
    std::vector<cl_platform_id> platforms(count);
    if (count != 0) (void)call.platforms(count, platforms.data(), nullptr);
    for (const cl_device_type kind : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}}) {
        std::vector<cl_device_id> devices;
        for (auto* const platform : platforms) {
            cl_uint here = 0;
            if (call.devices(platform, kind, 0, nullptr, &here) != CL_SUCCESS || here == 0) continue;
            const auto before = devices.size();
            devices.resize(before + here);
            (void)call.devices(platform, kind, here, devices.data() + before, nullptr);
        }
        if (!devices.empty()) return devices[static_cast<std::size_t>(pe) % devices.size()];
    }
    throw transfer_error(status::invalid_operation, "there is no OpenCL device");
}

} // namespace

device_heap::device_heap(int pe, int pes, std::size_t bytes, const std::function<bool(bool)>& all_agree)
    : m_calls(nullptr) {
    failure why;
    cl_device_id device = nullptr;
    const auto release = [this](cl_context made) { (void)m_calls->release_context(made); };
    std::unique_ptr<std::remove_pointer_t<cl_context>, decltype(release)> context(nullptr, release); // the heap shares
                                                                                                     // it
    try {
        m_calls = &calls::of_process();
        m_is_own = m_calls->pes() < 0;
        if (m_is_own) {
            device = device_for(*m_calls, pe);
            cl_int code = CL_SUCCESS;
            context.reset(m_calls->context(nullptr, 1, &device, nullptr, nullptr, &code));
            if (code != CL_SUCCESS) throw transfer_error(code, "making a context");
        }
    } catch (...) {
        why = current_failure();
    }
    if (!all_agree(!why)) {
        if (why) throw transfer_error(why);
        throw transfer_error(status::invalid_operation, "another PE has no device memory");
    }
    // Else a put would go to another PE than it names, or some would wait for those that have a heap.
    const bool is_same = m_calls->pes() == pes && m_calls->pe() == pe;
    if (!all_agree(m_is_own) && !all_agree(is_same)) {
        const auto of = [](int one, int all) { return "PE " + std::to_string(one) + " of " + std::to_string(all); };
        throw transfer_error(status::invalid_operation,
                             "causeway_symmetric_init must have been called by all PEs or by none, over all of them in "
                             "their order; this one is " +
                                 of(pe, pes) + " and there " + (m_is_own ? "none" : of(m_calls->pe(), m_calls->pes())));
    }
    const auto check = [this](bool holds) {
        if (!holds) throw transfer_error(status::invalid_operation, m_calls->last_message());
    };
    if (m_is_own) check(m_calls->init(context.get(), device, MPI_COMM_WORLD, bytes) == CL_SUCCESS);
    // The heap's addresses, by one in it.
    auto* const inside = m_calls->align(1, 1);
    check(inside != nullptr);
    std::size_t offset = 0;
    cl_int code = CL_SUCCESS;
    auto* const buffer = m_calls->buffer(inside, &offset, &code);
    check(code == CL_SUCCESS && m_calls->facts(buffer, CL_MEM_SIZE, sizeof m_bytes, &m_bytes, nullptr) == CL_SUCCESS);
    m_first = reinterpret_cast<std::uintptr_t>(inside) - offset;
    check(m_calls->free(inside) == CL_SUCCESS);
}

void* device_heap::pointer(const void* address, int pe) const { return m_calls->pointer(address, pe); }

void* device_heap::allocate(std::size_t bytes, std::size_t alignment) const { return m_calls->align(alignment, bytes); }

void* device_heap::allocate_cleared(std::size_t count, std::size_t bytes) const {
    return m_calls->calloc(count, bytes);
}

void device_heap::free(const char* call, void* address) const {
    if (m_calls->free(address) != CL_SUCCESS) give_up(call, m_calls->last_message());
}

void device_heap::finish() const {
    if (m_is_own) (void)m_calls->finalize();
}

void device_heap::put(const char* call, void* target, const void* source, std::size_t bytes, int pe) const {
    if (m_calls->put(target, source, bytes, pe) != CL_SUCCESS) give_up(call, m_calls->last_message());
}

void device_heap::get(const char* call, void* target, const void* source, std::size_t bytes, int pe) const {
    if (m_calls->get(target, source, bytes, pe) != CL_SUCCESS) give_up(call, m_calls->last_message());
}

void device_heap::signal(const char* call, std::uint64_t* word, std::uint64_t value, bool adds, int pe) const {
    if (m_calls->signal(word, value, adds ? CL_SIGNAL_ADD : CL_SIGNAL_SET, pe) != CL_SUCCESS)
        give_up(call, m_calls->last_message());
}

std::uint64_t device_heap::atomic(const char* call, word_operation what, std::size_t word_bytes, const void* word,
                                  std::uint64_t operand, std::uint64_t compared, int pe) const {
    std::uint64_t before = 0;
    if (m_calls->atomic(static_cast<cl_atomic_operation>(what), word_bytes, const_cast<void*>(word), operand, compared,
                        pe, &before) != CL_SUCCESS)
        give_up(call, m_calls->last_message());
    return before;
}

} // namespace causeway::oshmem

// SPDX-License-Identifier: Apache-2.0
// Calls CUDA's driver interface through pointers; no header of it is in any free distribution.
#include "perf/direct_link.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace perf {

namespace {

using address = unsigned long long;

struct cuda {
    int (*initialise)(unsigned) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_uuid)(std::uint8_t*, int) = nullptr;
    int (*can_access)(int*, int, int) = nullptr;
    int (*retain_context)(void**, int) = nullptr;
    int (*release_context)(int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*enable_access)(void*, unsigned) = nullptr;
    int (*allocate)(address*, std::size_t) = nullptr;
    int (*free)(address) = nullptr;
    int (*create_stream)(void**, unsigned) = nullptr;
    int (*destroy_stream)(void*) = nullptr;
    int (*synchronise)(void*) = nullptr;
    int (*copy)(address, address, std::size_t, void*) = nullptr;

    /// False if something is missing.
    bool find() {
        void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
        bool all = true;
        const auto get = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
            all = all && function != nullptr;
        };
        get(initialise, "cuInit");
        get(device_count, "cuDeviceGetCount");
        get(device_uuid, "cuDeviceGetUuid_v2");
        get(can_access, "cuDeviceCanAccessPeer");
        get(retain_context, "cuDevicePrimaryCtxRetain");
        get(release_context, "cuDevicePrimaryCtxRelease_v2");
        get(set_current, "cuCtxSetCurrent");
        get(enable_access, "cuCtxEnablePeerAccess");
        get(allocate, "cuMemAlloc_v2");
        get(free, "cuMemFree_v2");
        get(create_stream, "cuStreamCreate");
        get(destroy_stream, "cuStreamDestroy_v2");
        get(synchronise, "cuStreamSynchronize");
        get(copy, "cuMemcpyAsync");
        return all && initialise(0) == 0;
    }

    /// -1 if it is not there.
    [[nodiscard]] int number_of(const perf::device_uuid& wanted) const {
        int count = 0;
        if (device_count(&count) != 0) return -1;
        for (int i = 0; i < count; ++i) {
            perf::device_uuid uuid{};
            if (device_uuid(uuid.data(), i) == 0 && uuid == wanted) return i;
        }
        return -1;
    }
};

/// Of one device: a context, a stream, memory to read and memory to write.
struct end {
    const cuda& calls;
    int number;
    void *context = nullptr, *stream = nullptr;
    address source = 0, target = 0;

    end(const cuda& found, int device) : calls(found), number(device) {}
    ~end() {
        if (context == nullptr) return;
        (void)calls.set_current(context);
        if (source != 0) (void)calls.free(source);
        if (target != 0) (void)calls.free(target);
        if (stream != nullptr) (void)calls.destroy_stream(stream);
        (void)calls.set_current(nullptr);
        (void)calls.release_context(number);
    }
    end(const end&) = delete;
    end& operator=(const end&) = delete;

    bool open(std::size_t bytes) {
        return calls.retain_context(&context, number) == 0 && calls.set_current(context) == 0 &&
               calls.create_stream(&stream, 1) == 0 && calls.allocate(&source, bytes) == 0 &&
               calls.allocate(&target, bytes) == 0;
    }
    void reach(const end& other) const {
        (void)calls.set_current(context);
        (void)calls.enable_access(other.context, 0); // or it was enabled before
    }
};

class cuda_link final : public direct_link {
  public:
    cuda_link(const cuda& found, int one, int other, std::size_t bytes)
        : m_cuda(found), m_bytes(bytes), m_one(m_cuda, one), m_other(m_cuda, other) {}

    bool open() {
        if (m_one.number == m_other.number) return m_one.open(m_bytes) && m_other.open(m_bytes); // needs no access
        int there = 0, back = 0;
        if (m_cuda.can_access(&there, m_one.number, m_other.number) != 0 || there == 0) return false;
        if (m_cuda.can_access(&back, m_other.number, m_one.number) != 0 || back == 0) return false;
        if (!m_one.open(m_bytes) || !m_other.open(m_bytes)) return false;
        m_one.reach(m_other);
        m_other.reach(m_one);
        return true;
    }

    void copy() override {
        begin(m_one, m_other);
        wait(m_one);
    }
    void copy_both_ways() override {
        begin(m_one, m_other);
        begin(m_other, m_one);
        wait(m_one);
        wait(m_other);
    }

  private:
    void begin(const end& from, const end& to) const {
        (void)m_cuda.set_current(from.context);
        if (m_cuda.copy(to.target, from.source, m_bytes, from.stream) != 0)
            throw std::runtime_error("CUDA's copy was refused");
    }
    void wait(const end& from) const {
        (void)m_cuda.set_current(from.context);
        if (m_cuda.synchronise(from.stream) != 0) throw std::runtime_error("CUDA's copy failed");
    }

    cuda m_cuda;
    std::size_t m_bytes;
    end m_one, m_other;
};

/// Null as direct_link::between() says.
std::unique_ptr<direct_link> make_link(const device_uuid& one, const device_uuid& other, std::size_t bytes) {
    if (one == device_uuid{} || other == device_uuid{}) return nullptr;
    cuda found;
    if (!found.find()) return nullptr;
    const int first = found.number_of(one), second = found.number_of(other);
    if (first < 0 || second < 0) return nullptr;
    auto made = std::make_unique<cuda_link>(found, first, second, bytes);
    if (!made->open()) return nullptr;
    return made;
}

} // namespace

device_uuid uuid_of(cl_device_id device) {
    constexpr cl_device_info name = 0x106A; // CL_DEVICE_UUID_KHR
    device_uuid uuid{};
    if (clGetDeviceInfo(device, name, uuid.size(), uuid.data(), nullptr) != CL_SUCCESS) uuid = {};
    return uuid;
}

std::unique_ptr<direct_link> direct_link::between(const device_uuid& one, const device_uuid& other, std::size_t bytes) {
    return one == other ? nullptr : make_link(one, other, bytes);
}

std::unique_ptr<direct_link> direct_link::within(const device_uuid& device, std::size_t bytes) {
    return make_link(device, device, bytes);
}

} // namespace perf

// SPDX-License-Identifier: Apache-2.0
// Windows that Vulkan allocates, and that CUDA maps for every GPU with a direct link.
#include "base/error.hpp"
#include "bridge/cuda_calls.hpp"
#include "bridge/device_bridge.hpp"
#include "bridge/vulkan_memory.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace causeway::bridge {

namespace {

/// A context is current in a thread: this one may be the program's, which has its own.
class current_context {
  public:
    current_context(const cuda_calls& cuda, cuda::context wanted) : m_cuda(cuda) {
        m_cuda.check(m_cuda.push_current(wanted), "cuCtxPushCurrent");
    }
    ~current_context() {
        cuda::context left = nullptr;
        (void)m_cuda.pop_current(&left);
    }
    current_context(const current_context&) = delete;
    current_context& operator=(const current_context&) = delete;

  private:
    const cuda_calls& m_cuda;
};

/// Imported memory, mapped as memory of CUDA's own export. CUDA (driver 580) takes a copy between two imports of
/// cuImportExternalMemory() for one that the host must do, at 38 GB/s. Between mappings of this kind the copy engines
/// copy, at 390 GB/s between two H200.
class mapping {
  public:
    mapping(const cuda_calls& cuda, const descriptor& memory, std::size_t bytes, const std::vector<cuda::access>& users)
        : m_cuda(cuda), m_bytes(bytes) {
        auto* const named = reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get()));
        m_cuda.check(m_cuda.import_memory(&m_memory, named, cuda::posix_descriptor), "cuMemImportFromShareableHandle");
        try {
            m_cuda.check(m_cuda.reserve(&m_address, bytes, 0, 0, 0), "cuMemAddressReserve");
            m_cuda.check(m_cuda.map(m_address, bytes, 0, m_memory, 0), "cuMemMap");
            m_mapped = true;
            m_cuda.check(m_cuda.set_access(m_address, bytes, users.data(), users.size()), "cuMemSetAccess");
        } catch (...) {
            undo();
            throw;
        }
    }
    ~mapping() { undo(); }
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;

    [[nodiscard]] std::byte* address() const { return reinterpret_cast<std::byte*>(m_address); }

  private:
    void undo() noexcept {
        if (m_mapped) (void)m_cuda.unmap(m_address, m_bytes);
        if (m_address != 0) (void)m_cuda.free_reserved(m_address, m_bytes);
        (void)m_cuda.release_memory(m_memory);
    }

    const cuda_calls& m_cuda;
    std::size_t m_bytes;
    cuda::memory_handle m_memory = 0;
    cuda::address m_address = 0;
    bool m_mapped = false;
};

class nvidia_window final : public window {
  public:
    /// `memory` is null for a window of somebody else.
    nvidia_window(const cuda_calls& cuda, std::unique_ptr<exported_memory> memory, const descriptor& shared,
                  std::size_t bytes, const std::vector<cuda::access>& users)
        : m_memory(std::move(memory)), m_bytes(bytes), m_mapping(cuda, shared, bytes, users) {}

    [[nodiscard]] std::byte* address() const override { return m_mapping.address(); }
    [[nodiscard]] std::size_t bytes() const override { return m_bytes; }
    [[nodiscard]] descriptor share() const override {
        if (!m_memory) throw transfer_error(status::invalid_operation, "the memory is another process's");
        return m_memory->share();
    }

  private:
    std::unique_ptr<exported_memory> m_memory;
    std::size_t m_bytes;
    mapping m_mapping;
};

class nvidia_bridge final : public device_bridge {
  public:
    nvidia_bridge() : m_vulkan(make_vulkan_memory()) {
        int count = 0;
        m_cuda.check(m_cuda.device_count(&count), "cuDeviceGetCount");
        for (int i = 0; i < count; ++i) {
            device_uuid uuid{};
            m_cuda.check(m_cuda.device_uuid(uuid.data(), i), "cuDeviceGetUuid");
            if (m_vulkan->has(uuid)) m_devices[uuid].number = i;
        }
        if (m_devices.empty())
            throw transfer_error(status::invalid_operation, "no device is known to both CUDA and Vulkan");
    }

    [[nodiscard]] std::string name() const override {
        int version = 0;
        (void)m_cuda.driver_version(&version);
        return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + " and Vulkan";
    }

    [[nodiscard]] bool has(const device_uuid& device) const override { return m_devices.count(device) != 0; }

    [[nodiscard]] bool reaches(const device_uuid& from, const device_uuid& to) const override {
        const auto one = m_devices.find(from), other = m_devices.find(to);
        if (one == m_devices.end() || other == m_devices.end() || from == to) return false;
        int can = 0;
        return m_cuda.can_access(&can, one->second.number, other->second.number) == cuda::success && can != 0;
    }

    void start(const device_uuid& device) override { start(m_devices.at(device)); }

    [[nodiscard]] std::size_t rounded(std::size_t bytes) const override { return vulkan_memory::rounded(bytes); }

    [[nodiscard]] std::unique_ptr<window> create(const device_uuid& device, std::size_t bytes) override {
        auto memory = m_vulkan->allocate(device, bytes);
        const auto shared = memory->share();
        const auto whole = memory->bytes();
        return std::make_unique<nvidia_window>(m_cuda, std::move(memory), shared, whole, users_of(device));
    }

    [[nodiscard]] std::unique_ptr<window> open(const device_uuid& device, descriptor shared,
                                               std::size_t bytes) override {
        return std::make_unique<nvidia_window>(m_cuda, nullptr, shared, bytes, users_of(device));
    }

    [[nodiscard]] copy_number begin_copy(const device_uuid& by, std::byte* to, const std::byte* from,
                                         std::size_t bytes) override {
        auto& device = m_devices.at(by);
        start(device);
        const current_context scope(m_cuda, device.context);
        const auto number = free_copy(device);
        auto& made = m_copies[number];
        auto* const stream = device.streams[device.next_stream++ % streams_of_device];
        m_cuda.check(
            m_cuda.copy(reinterpret_cast<cuda::address>(to), reinterpret_cast<cuda::address>(from), bytes, stream),
            "cuMemcpyAsync");
        if (const auto code = m_cuda.record(made.event, stream); code != cuda::success) {
            (void)m_cuda.finish(stream); // it may have begun
            m_cuda.check(code, "cuEventRecord");
        }
        made.is_free = false;
        return number;
    }

    [[nodiscard]] copy_state look(copy_number which) override {
        auto& asked = m_copies[which];
        auto code = m_cuda.push_current(asked.context); // fails where the program, or its end, has taken the device's
                                                        // context away
        if (code == cuda::success) {
            cuda::context left = nullptr;
            code = m_cuda.query(asked.event);
            (void)m_cuda.pop_current(&left);
        }
        if (code == cuda::not_ready) return copy_state::running;
        asked.is_free = true;
        return code == cuda::success ? copy_state::done : copy_state::failed;
    }

  private:
    /// While one copy ends on one, the next begins on the other.
    static constexpr unsigned streams_of_device = 2;

    struct device_state {
        cuda::device number = 0;
        cuda::context context = nullptr;
        cuda::stream streams[streams_of_device] = {};
        unsigned next_stream = 0;
    };
    struct copy_slot {
        cuda::context context = nullptr;
        cuda::event event = nullptr;
        bool is_free = true;
    };

    void start(device_state& device) {
        if (device.context != nullptr) return;
        cuda::context made = nullptr;
        m_cuda.check(m_cuda.retain_context(&made, device.number), "cuDevicePrimaryCtxRetain");
        try {
            const current_context scope(m_cuda, made);
            for (auto& stream : device.streams)
                m_cuda.check(m_cuda.create_stream(&stream, cuda::stream_non_blocking), "cuStreamCreate");
        } catch (...) {
            for (auto& stream : device.streams)
                if (auto* const begun = std::exchange(stream, nullptr)) (void)m_cuda.destroy_stream(begun);
            (void)m_cuda.release_context(device.number);
            throw;
        }
        device.context = made;
    }

    copy_number free_copy(const device_state& device) {
        const auto found = std::find_if(m_copies.begin(), m_copies.end(), [&](const copy_slot& each) {
            return each.is_free && each.context == device.context;
        });
        if (found != m_copies.end()) return static_cast<copy_number>(found - m_copies.begin());
        copy_slot made{.context = device.context};
        m_cuda.check(m_cuda.create_event(&made.event, cuda::event_without_timing), "cuEventCreate");
        m_copies.push_back(made);
        return static_cast<copy_number>(m_copies.size() - 1);
    }

    /// The device itself, and all that have a direct link to it.
    [[nodiscard]] std::vector<cuda::access> users_of(const device_uuid& device) const {
        std::vector<cuda::access> users;
        for (const auto& [uuid, other] : m_devices)
            if (uuid == device || reaches(uuid, device)) users.push_back({.location = other.number});
        return users;
    }

    cuda_calls m_cuda;
    std::unique_ptr<vulkan_memory> m_vulkan;
    std::map<device_uuid, device_state> m_devices;
    std::vector<copy_slot> m_copies;
};

} // namespace

std::unique_ptr<device_bridge> make_nvidia_bridge() { return std::make_unique<nvidia_bridge>(); }

} // namespace causeway::bridge

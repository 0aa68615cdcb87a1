// SPDX-License-Identifier: Apache-2.0
// A Vulkan device for each GPU that memory is wanted of, with nothing on it but memory.
#include "bridge/vulkan_memory.hpp"

#include "base/error.hpp"
#include "bridge/library.hpp"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstring>
#include <map>
#include <vector>

namespace causeway::bridge {

namespace {

constexpr auto handle_kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

void check(VkResult code, const std::string& what) {
    if (code != VK_SUCCESS)
        throw transfer_error(code == VK_ERROR_OUT_OF_DEVICE_MEMORY ? status::out_of_resources
                                                                   : status::invalid_operation,
                             what + ": Vulkan's error " + std::to_string(code));
}

/// The driver's own library first: the loader would bring every other driver of the machine, and layers, into the
/// process. NVIDIA's has two names; the one for X does not start where there is no X (driver 580).
PFN_vkGetInstanceProcAddr find_vulkan() {
    for (const char* const name : {"libEGL_nvidia.so.0", "libGLX_nvidia.so.0"}) {
        const library driver(name);
        const auto negotiate = driver.find<VkResult(std::uint32_t*)>("vk_icdNegotiateLoaderICDInterfaceVersion");
        const auto get = driver.find<PFN_vkVoidFunction(VkInstance, const char*)>("vk_icdGetInstanceProcAddr");
        std::uint32_t version = 5;
        if (negotiate == nullptr || get == nullptr || negotiate(&version) != VK_SUCCESS) continue;
        if (get(nullptr, "vkCreateInstance") != nullptr) return get;
    }
    const library loader("libvulkan.so.1");
    return loader.find<PFN_vkVoidFunction(VkInstance, const char*)>("vkGetInstanceProcAddr");
}

/// Instance and functions; there while memory of it is.
struct vulkan {
    PFN_vkGetInstanceProcAddr get = nullptr;
    VkInstance instance = VK_NULL_HANDLE;

    vulkan() : get(find_vulkan()) {
        if (get == nullptr)
            throw transfer_error(status::invalid_operation,
                                 "neither libEGL_nvidia.so.0 nor libvulkan.so.1 is there with Vulkan in it");
        VkApplicationInfo about{};
        about.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        about.apiVersion = VK_API_VERSION_1_1;
        VkInstanceCreateInfo wanted{};
        wanted.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        wanted.pApplicationInfo = &about;
        check(find<PFN_vkCreateInstance>("vkCreateInstance")(&wanted, nullptr, &instance), "vkCreateInstance");
    }
    ~vulkan() {
        if (instance != VK_NULL_HANDLE) find<PFN_vkDestroyInstance>("vkDestroyInstance")(instance, nullptr);
    }
    vulkan(const vulkan&) = delete;
    vulkan& operator=(const vulkan&) = delete;

    template <class Function> [[nodiscard]] Function find(const char* name) const {
        const auto found = reinterpret_cast<Function>(get(instance, name));
        if (found == nullptr) throw transfer_error(status::invalid_operation, std::string("Vulkan has no ") + name);
        return found;
    }
};

struct gpu {
    std::shared_ptr<vulkan> owner;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice logical = VK_NULL_HANDLE;
    std::uint32_t memory_type = 0;
    PFN_vkAllocateMemory allocate = nullptr;
    PFN_vkFreeMemory free = nullptr;
    PFN_vkGetMemoryFdKHR share = nullptr;

    gpu(std::shared_ptr<vulkan> instance, VkPhysicalDevice which) : owner(std::move(instance)), physical(which) {
        const float priority = 1;
        VkDeviceQueueCreateInfo queue{};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        const char* const extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
        VkDeviceCreateInfo wanted{};
        wanted.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        wanted.queueCreateInfoCount = 1;
        wanted.pQueueCreateInfos = &queue;
        wanted.enabledExtensionCount = 1;
        wanted.ppEnabledExtensionNames = &extension;
        check(owner->find<PFN_vkCreateDevice>("vkCreateDevice")(physical, &wanted, nullptr, &logical),
              "vkCreateDevice");
        try {
            allocate = find<PFN_vkAllocateMemory>("vkAllocateMemory");
            free = find<PFN_vkFreeMemory>("vkFreeMemory");
            share = find<PFN_vkGetMemoryFdKHR>("vkGetMemoryFdKHR");
            memory_type = choose_memory();
        } catch (...) {
            find<PFN_vkDestroyDevice>("vkDestroyDevice")(logical, nullptr);
            throw;
        }
    }
    ~gpu() { find<PFN_vkDestroyDevice>("vkDestroyDevice")(logical, nullptr); }
    gpu(const gpu&) = delete;
    gpu& operator=(const gpu&) = delete;

    template <class Function> [[nodiscard]] Function find(const char* name) const {
        const auto get = owner->find<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr");
        const auto found = reinterpret_cast<Function>(get(logical, name));
        if (found == nullptr) throw transfer_error(status::invalid_operation, std::string("Vulkan has no ") + name);
        return found;
    }

    /// The first type of device memory that buffers which are exported may lie in.
    [[nodiscard]] std::uint32_t choose_memory() const {
        VkExternalMemoryBufferCreateInfo exported{};
        exported.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
        exported.handleTypes = handle_kind;
        VkBufferCreateInfo wanted{};
        wanted.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        wanted.pNext = &exported;
        wanted.size = vulkan_memory::rounded(1);
        wanted.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                       VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        VkBuffer typical = VK_NULL_HANDLE;
        check(find<PFN_vkCreateBuffer>("vkCreateBuffer")(logical, &wanted, nullptr, &typical), "vkCreateBuffer");
        VkMemoryRequirements needs{};
        find<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(logical, typical, &needs);
        find<PFN_vkDestroyBuffer>("vkDestroyBuffer")(logical, typical, nullptr);
        VkPhysicalDeviceMemoryProperties there{};
        owner->find<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(physical, &there);
        for (std::uint32_t i = 0; i < there.memoryTypeCount; ++i)
            if ((needs.memoryTypeBits >> i & 1) != 0 &&
                (there.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0)
                return i;
        throw transfer_error(status::invalid_operation, "Vulkan exports no memory of the device");
    }
};

class allocation final : public exported_memory {
  public:
    allocation(std::shared_ptr<gpu> where, std::size_t wanted)
        : m_gpu(std::move(where)), m_bytes(vulkan_memory::rounded(wanted)) {
        VkExportMemoryAllocateInfo exported{};
        exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
        exported.handleTypes = handle_kind;
        VkMemoryAllocateInfo memory{};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        memory.pNext = &exported;
        memory.allocationSize = m_bytes;
        memory.memoryTypeIndex = m_gpu->memory_type;
        check(m_gpu->allocate(m_gpu->logical, &memory, nullptr, &m_memory),
              "allocating " + bytes_text(m_bytes) + " of device memory");
    }
    ~allocation() override { m_gpu->free(m_gpu->logical, m_memory, nullptr); }

    [[nodiscard]] std::size_t bytes() const override { return m_bytes; }
    [[nodiscard]] descriptor share() const override {
        VkMemoryGetFdInfoKHR wanted{};
        wanted.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
        wanted.memory = m_memory;
        wanted.handleType = handle_kind;
        int made = -1;
        check(m_gpu->share(m_gpu->logical, &wanted, &made), "vkGetMemoryFdKHR");
        return descriptor(made);
    }

  private:
    std::shared_ptr<gpu> m_gpu;
    std::size_t m_bytes;
    VkDeviceMemory m_memory = VK_NULL_HANDLE;
};

class all_devices final : public vulkan_memory {
  public:
    all_devices() : m_vulkan(std::make_shared<vulkan>()) {
        const auto list = m_vulkan->find<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
        const auto ask = m_vulkan->find<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2");
        std::uint32_t count = 0;
        check(list(m_vulkan->instance, &count, nullptr), "vkEnumeratePhysicalDevices");
        std::vector<VkPhysicalDevice> found(count);
        check(list(m_vulkan->instance, &count, found.data()), "vkEnumeratePhysicalDevices");
        for (auto* const each : found) {
            VkPhysicalDeviceIDProperties names{};
            names.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
            VkPhysicalDeviceProperties2 all{};
            all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
            all.pNext = &names;
            ask(each, &all);
            device_uuid uuid{};
            std::memcpy(uuid.data(), names.deviceUUID, uuid.size());
            m_devices.emplace(uuid, each);
        }
    }

    [[nodiscard]] bool has(const device_uuid& device) const override { return m_devices.count(device) != 0; }

    [[nodiscard]] std::unique_ptr<exported_memory> allocate(const device_uuid& device, std::size_t bytes) override {
        auto& known = m_gpus[device];
        if (!known) known = std::make_shared<gpu>(m_vulkan, m_devices.at(device));
        return std::make_unique<allocation>(known, bytes);
    }

  private:
    std::shared_ptr<vulkan> m_vulkan;
    std::map<device_uuid, VkPhysicalDevice> m_devices;
    std::map<device_uuid, std::shared_ptr<gpu>> m_gpus;
};

} // namespace

std::unique_ptr<vulkan_memory> make_vulkan_memory() { return std::make_unique<all_devices>(); }

} // namespace causeway::bridge

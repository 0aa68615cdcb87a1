// SPDX-License-Identifier: Apache-2.0
// Creates queues and page-locked memory for the engine's copies.
#include "endpoints/device/device_links.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

namespace causeway::endpoints {

namespace {

/// Where the system's limit may be why memory could not be page-locked, what to do about it.
std::string advice_on_locking() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
    return "; this process may lock " + bytes_text(limit.rlim_cur) +
           ": raise that by ulimit -l unlimited, or memlock in /etc/security/limits.conf (in containers --ulimit "
           "memlock=-1)";
}

void check_locked(cl_int code, const char* doing, std::size_t bytes, const char* of_what) {
    if (code == CL_SUCCESS) return;
    throw transfer_error(code, doing + (" " + bytes_text(bytes)) + " of " + of_what + ": " + cl::code_text(code) +
                                   advice_on_locking());
}

/// CL_MEM_ALLOC_HOST_PTR and a map that lasts: the one portable way to page-locked memory.
class pinned_allocator final : public transfer::staging_allocator {
  public:
    pinned_allocator(cl::context context, cl::queue queue) : m_context(std::move(context)), m_queue(std::move(queue)) {}

    [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
        cl_int code = CL_SUCCESS;
        auto memory = cl::buffer::adopt(
            clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code));
        check_locked(code, "allocating", bytes, "page-locked staging memory");
        auto* const address = clEnqueueMapBuffer(m_queue.get(), memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                 bytes, 0, nullptr, nullptr, &code);
        check_locked(code, "mapping", bytes, "page-locked staging memory");
        auto* const first = static_cast<std::byte*>(address);
        m_buffers.emplace(first, given{std::move(memory), bytes});
        return first;
    }

    [[nodiscard]] bool holds(const std::byte* byte) const override {
        const auto behind = m_buffers.upper_bound(byte);
        if (behind == m_buffers.begin()) return false;
        const auto& [first, memory] = *std::prev(behind);
        return byte < first + memory.bytes;
    }

    [[nodiscard]] std::shared_ptr<void> pin(std::byte* memory, std::size_t bytes) override {
        // While it is mapped, memory that the host has given is page-locked, also such that processes share.
        struct pinned {
            cl::queue queue;
            cl::buffer buffer;
            void* mapped = nullptr;
            ~pinned() {
                if (mapped == nullptr) return;
                (void)clEnqueueUnmapMemObject(queue.get(), buffer.get(), mapped, 0, nullptr, nullptr);
                (void)clFinish(queue.get());
            }
        };
        auto made = std::make_shared<pinned>();
        made->queue = m_queue;
        cl_int code = CL_SUCCESS;
        made->buffer = cl::buffer::adopt(
            clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code));
        check_locked(code, "page-locking", bytes, "shared memory");
        // Any other map would bring back what the device took when the buffer was made, over what other processes have
        // written to the memory meanwhile.
        made->mapped = clEnqueueMapBuffer(m_queue.get(), made->buffer.get(), CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                          bytes, 0, nullptr, nullptr, &code);
        check_locked(code, "page-locking", bytes, "shared memory");
        return made;
    }

    void release(std::byte* memory, std::size_t) noexcept override {
        const auto found = m_buffers.find(memory);
        (void)clEnqueueUnmapMemObject(m_queue.get(), found->second.buffer.get(), memory, 0, nullptr, nullptr);
        (void)clFlush(m_queue.get());
        m_buffers.erase(found);
    }

  private:
    cl::context m_context;
    cl::queue m_queue;
    struct given {
        cl::buffer buffer;
        std::size_t bytes;
    };
    std::map<const std::byte*, given> m_buffers; // by first byte
};

} // namespace

void device_links::make_room() {
    // A link keeps its context, and so 50 to 130 KB of the driver's: a program that makes a context for each of its
    // steps would have thousands of them within the time of keep.
    constexpr std::size_t most = 64;
    if (m_links.size() < most) return;
    auto oldest = m_links.end();
    for (auto each = m_links.begin(); each != m_links.end(); ++each)
        if (each->use_count() == 1 && (oldest == m_links.end() || (*each)->last_used < (*oldest)->last_used))
            oldest = each;
    if (oldest != m_links.end()) m_links.erase(oldest);
}

std::shared_ptr<device_link> device_links::find(cl_context context, cl_device_id device) {
    for (const auto& link : m_links) {
        if (link->context.get() != context || link->device != device) continue;
        link->last_used = m_clock.now();
        return link;
    }
    make_room();
    auto link = std::make_shared<device_link>();
    link->context = cl::context::share(context);
    link->device = device;
    const auto facts = cl::facts_of(device);
    link->uuid = facts.uuid;
    link->host_memory = facts.host_memory;
    link->to_device = cl::make_queue(context, device);
    link->from_device = cl::make_queue(context, device);
    // Maps have a queue of their own: in that of the copies in, the engine's thread would wait for all of them.
    if (!link->host_memory) {
        link->allocator = std::make_shared<pinned_allocator>(link->context, cl::make_queue(context, device));
        link->small.emplace(m_clock);
        link->locked = std::make_shared<pinned_slab>(link->allocator);
    }
    if (facts.keeps_addresses)
        link->in_place = std::make_unique<in_place_trial>(link->context, device, cl::make_queue(context, device));
    link->last_used = m_clock.now();
    m_links.push_back(link);
    return link;
}

transfer::device_name device_links::name_of(cl_context context, cl_device_id device, bool in_window) const {
    if (!link_window::possible(m_bridge.windows(), device)) return {};
    if (in_window) return {true, cl::facts_of(device).uuid};
    const auto link = std::find_if(m_links.begin(), m_links.end(), [&](const auto& each) {
        return each->context.get() == context && each->device == device;
    });
    const bool is_crowded = link != m_links.end() && (*link)->window && (*link)->window->is_crowded();
    if (is_crowded && m_options[option::strategy] == 0) return {};
    return {true, cl::facts_of(device).uuid};
}

link_window& device_links::window_of(device_link& link) {
    if (!link.window) {
        const auto& uuid = cl::facts_of(link.device).uuid;
        auto& shared = m_windows[uuid];
        if (!shared) shared = std::make_shared<device_windows>(m_options, m_clock, m_bridge.windows(), uuid);
        link.window = std::make_unique<link_window>(m_options, m_clock, m_bridge, m_copies, shared, link.context,
                                                    link.device);
    }
    return *link.window;
}

std::byte* device_links::address_of(device_link& link, cl_mem buffer) const {
    if (!link.in_place || m_options[option::in_place] == 0) return nullptr;
    return link.in_place->address_of(buffer);
}

cl::queue device_links::take_ahead_queue(device_link& link) {
    constexpr std::size_t most = 8;
    if (link.ahead.empty()) {
        if (link.ahead_made == most) return {};
        link.ahead.push_back(cl::make_queue(link.context.get(), link.device));
        ++link.ahead_made;
    }
    auto taken = std::move(link.ahead.back());
    link.ahead.pop_back();
    return taken;
}

bool device_links::poll(time_point) {
    bool progress = false;
    for (const auto& [device, shared] : m_windows) progress |= shared->serve();
    return progress;
}

bool device_links::busy() const {
    return std::any_of(m_windows.begin(), m_windows.end(), [](const auto& each) { return each.second->has_waiting(); });
}

bool device_links::trim(time_point now) {
    const auto keep = std::chrono::milliseconds(m_options[option::keep]);
    std::erase_if(m_links, [&](const auto& link) { return link.use_count() == 1 && now - link->last_used >= keep; });
    bool is_left = !m_links.empty();
    // Whoever copies has a link.
    if (!is_left) m_outward.clear();
    for (const auto& [device, shared] : m_windows) is_left |= shared->trim(now);
    for (const auto& link : m_links)
        if (link->window) link->window->trim();
    std::erase_if(m_windows, [](const auto& each) { return each.second.use_count() == 1; });
    return is_left;
}

} // namespace causeway::endpoints

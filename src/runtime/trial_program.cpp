// SPDX-License-Identifier: Apache-2.0
// Does once, in a process of its own, what a driver may not survive: memory of Vulkan in OpenCL and in CUDA, on every
// device, and sees whether each link brings what it was given.
#include "base/error.hpp"
#include "bridge/device_bridge.hpp"
#include "cl/calls.hpp"
#include "cl/external_memory.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

using namespace causeway;

namespace {

constexpr std::size_t bytes = std::size_t{2} << 20;
constexpr unsigned longest_life = 30; // seconds

std::vector<cl_device_id> devices() {
    cl_platform_id platforms[64];
    cl_uint count = 0;
    std::vector<cl_device_id> all;
    if (clGetPlatformIDs(64, platforms, &count) != CL_SUCCESS) return all;
    for (cl_uint i = 0; i < count && i < 64; ++i) {
        cl_device_id found[64];
        cl_uint there = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 64, found, &there) == CL_SUCCESS)
            all.insert(all.end(), found, found + (there < 64 ? there : 64));
    }
    return all;
}

/// A window of a device, filled by OpenCL with a number of its own.
class tried_device {
  public:
    tried_device(bridge::device_bridge& bridge, cl_device_id device, cl_uint number)
        : m_uuid(cl::facts_of(device).uuid), m_external(device), m_number(number) {
        cl_int code = CL_SUCCESS;
        m_context = cl::context::adopt(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        cl::check(code, "creating a context");
        m_queue = cl::queue::adopt(clCreateCommandQueue(m_context.get(), device, 0, &code));
        cl::check(code, "creating a command queue");
        bridge.start(m_uuid);
        m_window = bridge.create(m_uuid, bytes);
        m_buffer = m_external.import(m_context.get(), m_window->share().release(), m_window->bytes());
        fill();
    }
    [[nodiscard]] const bridge::device_uuid& uuid() const { return m_uuid; }
    [[nodiscard]] std::byte* address() const { return m_window->address(); }
    [[nodiscard]] cl_uint number() const { return m_number; }

    void fill() const {
        cl::check(m_external.acquire(m_queue.get(), m_buffer.get()), "acquiring");
        cl::check(clEnqueueFillBuffer(m_queue.get(), m_buffer.get(), &m_number, sizeof m_number, 0, bytes, 0, nullptr,
                                      nullptr),
                  "filling");
        cl::check(m_external.release(m_queue.get(), m_buffer.get(), nullptr), "releasing");
        cl::check(clFinish(m_queue.get()), "clFinish");
    }
    [[nodiscard]] bool is_full_of(cl_uint number) const {
        std::vector<cl_uint> found(bytes / sizeof number);
        cl::check(m_external.acquire(m_queue.get(), m_buffer.get()), "acquiring");
        cl::check(
            clEnqueueReadBuffer(m_queue.get(), m_buffer.get(), CL_TRUE, 0, bytes, found.data(), 0, nullptr, nullptr),
            "reading");
        cl::check(m_external.release(m_queue.get(), m_buffer.get(), nullptr), "releasing");
        cl::check(clFinish(m_queue.get()), "clFinish");
        return std::all_of(found.begin(), found.end(), [&](cl_uint each) { return each == number; });
    }

  private:
    bridge::device_uuid m_uuid;
    cl::external_memory m_external;
    cl_uint m_number;
    cl::context m_context;
    cl::queue m_queue;
    std::unique_ptr<bridge::window> m_window;
    cl::buffer m_buffer;
};

/// Links have been seen that lose what they carry, as where an input/output memory unit is in their way.
void try_link(bridge::device_bridge& bridge, const tried_device& from, const tried_device& to) {
    if (!bridge.reaches(from.uuid(), to.uuid())) return;
    const auto copy = bridge.begin_copy(from.uuid(), to.address(), from.address(), bytes);
    auto state = bridge::copy_state::running;
    while (state == bridge::copy_state::running)
        state = bridge.look(copy); // whoever waits for this program has a limit
    if (state == bridge::copy_state::failed) throw std::runtime_error("a copy over the direct link failed");
    if (!to.is_full_of(from.number())) throw std::runtime_error("other bytes come over the direct link than were sent");
    to.fill();
}

void say(const std::string& verdict) {
    std::puts(verdict.c_str());
    std::fflush(stdout);
}

} // namespace

int main() {
    ::alarm(longest_life); // whoever waits for an answer may be gone
    std::unique_ptr<bridge::device_bridge> bridge;
    try {
        bridge = bridge::make_nvidia_bridge();
    } catch (const std::exception& error) {
        say(std::string("refuses: ") + error.what());
        return 0;
    }
    // Let go of after the answer: a driver that does not survive that has given one.
    std::vector<std::unique_ptr<tried_device>> tried;
    try {
        std::string refused;
        for (auto* const device : devices()) {
            if (!bridge->has(cl::facts_of(device).uuid) || !cl::external_memory(device)) continue;
            try {
                tried.push_back(std::make_unique<tried_device>(*bridge, device, 0x5a5a5a00U + cl_uint(tried.size())));
            } catch (const transfer_error& error) {
                refused = error.what(); // one that is full, or another process's alone
            }
        }
        for (const auto& from : tried)
            for (const auto& to : tried)
                if (from != to) try_link(*bridge, *from, *to);
        // Where one device is seen no link was: what is remembered of this holds for the devices that were.
        if (refused.empty())
            say("works");
        else
            say((tried.size() < 2 ? "fails: " : "refuses: ") + refused);
    } catch (const std::exception& error) {
        say(std::string("fails: ") + error.what());
    }
}

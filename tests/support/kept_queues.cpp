// SPDX-License-Identifier: Apache-2.0
#include "support/kept_queues.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string_view>
#include <vector>

namespace {

class kept_queues final : public testing::Environment {
  public:
    void keep(cl_command_queue queue) {
        const std::lock_guard lock(m_mutex);
        clRetainCommandQueue(queue);
        m_queues.push_back(queue);
    }
    void TearDown() override {
        const std::lock_guard lock(m_mutex);
        for (auto* const each : m_queues) {
            clFinish(each);
            clReleaseCommandQueue(each);
        }
        m_queues.clear();
    }

  private:
    std::mutex m_mutex; // guards m_queues
    std::vector<cl_command_queue> m_queues;
};

// GoogleTest owns it.
kept_queues* const kept = [] {
    auto* const made = new kept_queues;
    testing::AddGlobalTestEnvironment(made);
    return made;
}();

/// By the device's vendor: tests may pretend that the platform is another.
bool is_intel(cl_command_queue queue) {
    cl_device_id device = nullptr;
    char vendor[64] = "";
    return clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) == CL_SUCCESS &&
           clGetDeviceInfo(device, CL_DEVICE_VENDOR, sizeof vendor, vendor, nullptr) == CL_SUCCESS &&
           std::string_view(vendor).starts_with("Intel");
}

} // namespace

void support::keep_while_commands_end(cl_command_queue queue) {
    cl_command_queue_properties properties = 0;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr) != CL_SUCCESS)
        return;
    if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 && is_intel(queue)) kept->keep(queue);
}

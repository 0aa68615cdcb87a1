// SPDX-License-Identifier: Apache-2.0
// The OpenCL implementations of this machine, called through their own tables and never through the loader, which may
// be in the middle of loading this library.
#pragma once

#include "base/driver_quirks.hpp"
#include "platform/opencl.hpp"

#include <string>
#include <utility>
#include <vector>

namespace causeway::platform {

/// One platform of one vendor.
struct driver {
    std::string name; ///< of its .icd file, without folder and ending, in small letters
    cl_platform_id platform = nullptr;
    const cl_icd_dispatch* calls = nullptr;
    driver_quirks quirks;
    int rank = 0; ///< of a cluster; those of other ranks have no calls here
};

/// What CAUSEWAY_DEVICES lets the platform have: items NAME, NAME:INDEX, cpu, gpu or accelerator, with commas between.
/// NAME is part of the name of a driver. An empty filter lets everything pass.
class device_filter {
  public:
    explicit device_filter(const std::string& text);
    /// Whether any device of the driver may pass. Other drivers are not even loaded.
    [[nodiscard]] bool wants(const std::string& driver) const;
    [[nodiscard]] bool passes(const std::string& driver, unsigned index, cl_device_type type) const;

  private:
    struct item {
        std::string name; ///< empty: any
        int index = -1; ///< -1: any
        cl_device_type types = CL_DEVICE_TYPE_ALL;
    };
    std::vector<item> m_items;
};

/// Loads the drivers that `filter` wants, in the order of their files' names. This library itself is left out, also
/// under another path. A driver that cannot be loaded is left out, as loaders do.
[[nodiscard]] std::vector<driver> load_drivers(const device_filter& filter);

/// The table behind a driver's object.
template <class Raw> const cl_icd_dispatch& calls_of(Raw raw) {
    return **reinterpret_cast<const cl_icd_dispatch* const*>(raw);
}

inline void release_raw(cl_device_id raw) { calls_of(raw).clReleaseDevice(raw); }
inline void release_raw(cl_context raw) { calls_of(raw).clReleaseContext(raw); }
inline void release_raw(cl_command_queue raw) { calls_of(raw).clReleaseCommandQueue(raw); }
inline void release_raw(cl_mem raw) { calls_of(raw).clReleaseMemObject(raw); }
inline void release_raw(cl_sampler raw) { calls_of(raw).clReleaseSampler(raw); }
inline void release_raw(cl_program raw) { calls_of(raw).clReleaseProgram(raw); }
inline void release_raw(cl_kernel raw) { calls_of(raw).clReleaseKernel(raw); }
inline void release_raw(cl_event raw) { calls_of(raw).clReleaseEvent(raw); }

/// Owns one reference to a driver's object. Nothing else keeps such handles: their C types are those of
/// ours.
template <class Raw> class driver_object {
  public:
    driver_object() = default;
    explicit driver_object(Raw adopted) : m_raw(adopted) {}
    driver_object(driver_object&& other) noexcept : m_raw(std::exchange(other.m_raw, nullptr)) {}
    driver_object& operator=(driver_object&& other) noexcept {
        std::swap(m_raw, other.m_raw);
        return *this;
    }
    ~driver_object() {
        if (m_raw != nullptr) release_raw(m_raw);
    }

    [[nodiscard]] Raw raw() const { return m_raw; }
    [[nodiscard]] explicit operator bool() const { return m_raw != nullptr; }
    [[nodiscard]] const cl_icd_dispatch& calls() const { return calls_of(m_raw); }

  private:
    Raw m_raw = nullptr;
};

} // namespace causeway::platform

// SPDX-License-Identifier: Apache-2.0
// This machine's OpenCL drivers, called through their own dispatch tables, never through the loader: it may be loading
// this library just now.
#pragma once

#include "base/driver_quirks.hpp"
#include "platform/opencl.hpp"

#include <string>
#include <utility>
#include <vector>

namespace causeway::platform {

/// One platform of one vendor.
struct driver {
    std::string name; ///< its .icd file's name without folder and extension, lower case
    cl_platform_id platform = nullptr;
    const cl_icd_dispatch* calls = nullptr;
    driver_quirks quirks;
    int rank = 0; ///< in a cluster; `calls` is null for a driver of another rank
};

/// Selects devices by CAUSEWAY_DEVICES: a comma-separated list of NAME, NAME:INDEX, cpu, gpu or accelerator, where NAME
/// is part of a driver's name. An empty filter passes everything.
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

/// Loads the drivers that `filter` wants, sorted by file name. Leaves out this library, under any path, and drivers
/// that cannot be loaded, as loaders do.
[[nodiscard]] std::vector<driver> load_drivers(const device_filter& filter);

/// The dispatch table of a driver's object.
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

/// Owns one reference to a driver's object. Keep drivers' handles in nothing else: they have the same C types as the
/// platform's own.
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

// SPDX-License-Identifier: Apache-2.0
// The OpenCL implementations of this machine, called through their own tables and never through the loader, which may
// be in the middle of loading this library.
#pragma once

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
    /// Says that a command is complete whose wait list failed (Intel's CPU runtime 2026.2); clWaitForEvents knows
    /// better.
    bool hides_failed_waits = false;
    /// Its worker thread waits for itself, for ever, if it is the last that holds an out-of-order queue (Intel's CPU
    /// runtime 2026.2): such queues are finished before they are given back, and are not made where there is a choice.
    bool hangs_in_last_release = false;
    /// Its contexts do not hold the parts of devices that they are made of, and its worker threads look at them when
    /// all is released (PoCL 3.1; a plain program that releases a part crashes now and then): parts are never given
    /// back.
    bool needs_released_parts = false;
    /// Lets go of the event of a migration once too often (PoCL 3.1: of 1,000 random graphs on two ranks one crashes in
    /// a run of three, none without migrations), or crashes in the next commands (NVIDIA 580: graphs of migrations
    /// alone do, without this platform as well). A migration is advice: a marker stands for it.
    bool breaks_migrations = false;
    /// Processes that link the same program at the same time remove a file of its cache before one another, and who
    /// comes too late cannot link (PoCL 3.1), which all ranks of a cluster do: it is tried again.
    bool loses_links = false;
    /// Keeps what it has built in files, where other processes find it (PoCL).
    bool keeps_builds = false;
    /// A command that waits for an event keeps back all later ones of its out-of-order queue (NVIDIA 580): it gets
    /// there when what it waits for is over.
    bool keeps_back_later = false;
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

/// Owns one reference to a driver's object. The only place where such handles are kept: their C types are those of
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

// SPDX-License-Identifier: Apache-2.0
// The functions of OpenCL, MPI and the C library that the library under test calls, each of which can be made to fail.
#pragma once

#include <CL/cl.h>

#include <atomic>
#include <string_view>
#include <vector>

namespace faults {

enum class layer { opencl, mpi, system };

/// One function that this executable puts before the real one. Calls that others make go straight through.
struct fault_point {
    const char* name;
    layer from;
    int code; ///< what a failed call gives: an OpenCL code, an MPI error, an errno

    std::atomic<unsigned> calls{0};

    /// True if the call that returns to `caller` must fail: it comes from the library and its turn is now.
    [[nodiscard]] bool fails(const void* caller);
    /// As above for a function that returns -1 or null and sets errno.
    [[nodiscard]] bool fails_with_errno(const void* caller);
};

/// All of them, in the same order in every process.
[[nodiscard]] const std::vector<fault_point*>& all_points();
[[nodiscard]] fault_point& point(std::string_view name);

inline constexpr unsigned all_that_follow = ~0u;

/// From now on the library's calls are counted; `count` calls of `which` fail, from number `nth` on, counted from 0.
/// Null: none fails.
void arm(fault_point* which, unsigned nth = 0, unsigned count = 1);
/// True if a call has failed.
bool disarm();

/// How many events the library has released while it was armed.
[[nodiscard]] unsigned released_events();

/// The kernel that is enqueued as number `nth`, from 0, fails when fail_late() is called, which waits of the library
/// do, too.
/// With `pretended` it does not: the library is only told so when the kernel is complete.
void arm_late_failure(unsigned nth, bool pretended);
/// Whether this is the event of the kernel that pretends.
[[nodiscard]] bool pretends_failure(const void* event);
/// True if there was such a kernel.
bool disarm_late_failure();
void fail_late();

/// While one lives, devices tell the library that their memory is not the host's, so that it stages in page-locked
/// memory.
class pretended_discrete_devices {
  public:
    /// `another`: nor is their platform one whose peculiarities are known.
    enum class platform { own, another };
    explicit pretended_discrete_devices(platform of = platform::own);
    pretended_discrete_devices(const pretended_discrete_devices&) = delete;
    pretended_discrete_devices& operator=(const pretended_discrete_devices&) = delete;
    ~pretended_discrete_devices();
    /// Whether the answer to `caller` about `device` must be changed.
    [[nodiscard]] static bool deceive(cl_device_id device, const void* caller);
    [[nodiscard]] static bool deceive_about_platform(const void* caller);
    /// Whether an answer was changed. The library asks each device once, so that one used before is what it is.
    [[nodiscard]] static bool has_deceived(cl_device_id device);

  private:
    platform m_of;
};

/// While one lives: once the thread that made it asks for the platform of a device, the library's own thread does not
/// come back from asking for the state of an event, as in a driver that is busy.
class held_up_engine {
  public:
    held_up_engine();
    held_up_engine(const held_up_engine&) = delete;
    held_up_engine& operator=(const held_up_engine&) = delete;
    ~held_up_engine();
    /// Whether it came to that.
    [[nodiscard]] bool was_held() const;

    static void platform_is_asked_for(const void* caller);
    static void state_is_asked_for(const void* caller);
};

/// While one lives, calls of the library to `which` do not come back, but for a minute: as in a library that is held
/// up.
class held_calls {
  public:
    explicit held_calls(fault_point& which);
    held_calls(const held_calls&) = delete;
    held_calls& operator=(const held_calls&) = delete;
    ~held_calls();
    /// Whether one was held.
    [[nodiscard]] bool were_held() const;
    static void hold_if_wanted(const fault_point& called);
};

} // namespace faults

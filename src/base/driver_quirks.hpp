// SPDX-License-Identifier: Apache-2.0
// Where drivers differ from OpenCL or from each other, and no query tells. Each quirk names the version it was seen in.
#pragma once

#include <string_view>

namespace causeway {

/// The quirks of one driver. An unknown driver has none.
struct driver_quirks {
    std::string_view name; ///< how CL_PLATFORM_NAME begins

    /// A command that waits for a failed event has the status CL_COMPLETE, though it did not run. clWaitForEvents still
    /// reports the failure (Intel 2026.2).
    bool hides_failed_waits = false;
    /// A command whose wait list has an event that failed before the enqueue: it never completes (PoCL 3.1), or the
    /// process dies (Intel 2026.2).
    bool breaks_on_failed_waits = false;
    /// Aborts when a command fails whose event nobody holds (PoCL 3.1).
    bool needs_held_events = false;
    /// A marker waits for all that is in its queue as well as for its list, and takes as long to enqueue: 1 us with 50
    /// commands before it, 500 with 1000 (PoCL 3.1 and 5).
    bool has_slow_markers = false;
    /// Buffers of CPU devices stay at the address that a map returned, also while nothing is mapped (PoCL, Intel).
    bool keeps_addresses = false;
    /// A copy that waits for nothing starts when it is enqueued: a flush does nothing for it, and takes 4 us, or 20
    /// while other threads call the driver (NVIDIA 580).
    bool starts_unflushed = false;
    /// A command that waits for an event keeps back all later ones of its out-of-order queue (NVIDIA 580).
    bool keeps_back_later = false;

    /// Its worker thread waits for itself for ever if it holds the last reference to an out-of-order queue (Intel
    /// 2026.2). Such queues are finished before they are released, and avoided where there is a choice.
    bool hangs_in_last_release = false;
    /// Its contexts do not retain their sub-devices, and its worker threads look at them after all is released (PoCL
    /// 3.1; a plain program that releases a sub-device crashes now and then). Sub-devices are never released.
    bool needs_released_parts = false;
    /// Releases the event of a migration once too often (PoCL 3.1: one of 1,000 random graphs on two ranks crashes in a
    /// run of three, none without migrations), or crashes in the next commands (NVIDIA 580, also without our platform).
    /// A migration is advice, so a marker replaces it.
    bool breaks_migrations = false;
    /// Processes that link the same program at once, as all ranks of a cluster do, remove each other's cache files; the
    /// later one fails to link (PoCL 3.1). The platform then links again.
    bool loses_links = false;
    /// Keeps what it has built in files, where other processes find it, unless POCL_KERNEL_CACHE says 0 (PoCL).
    bool keeps_builds = false;
};

inline constexpr driver_quirks known_drivers[] = {
    {.name = "Portable Computing Language",
     .breaks_on_failed_waits = true,
     .needs_held_events = true,
     .has_slow_markers = true,
     .keeps_addresses = true,
     .needs_released_parts = true,
     .breaks_migrations = true,
     .loses_links = true,
     .keeps_builds = true},
    {.name = "Intel",
     .hides_failed_waits = true,
     .breaks_on_failed_waits = true,
     .keeps_addresses = true,
     .hangs_in_last_release = true},
    {.name = "NVIDIA", .starts_unflushed = true, .keeps_back_later = true, .breaks_migrations = true},
};

/// `platform`: what CL_PLATFORM_NAME says.
[[nodiscard]] constexpr driver_quirks quirks_of(std::string_view platform) {
    for (const auto& each : known_drivers)
        if (platform.starts_with(each.name)) return each;
    return {};
}

/// Whether a device runs commands inside the enqueue, so that none can wait for a user event: the single-threaded one
/// of PoCL, "basic", which PoCL 4 has renamed "cpu-minimal". `platform`, `device`: what OpenCL names them.
[[nodiscard]] constexpr bool runs_inside_enqueue(std::string_view platform, std::string_view device) {
    return platform == "Portable Computing Language" &&
           (device.starts_with("basic") || device.starts_with("cpu-minimal"));
}

} // namespace causeway

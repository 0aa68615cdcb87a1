// SPDX-License-Identifier: Apache-2.0
// The engine's own way to a device: command queues in both directions and page-locked memory.
#pragma once

#include "base/options.hpp"
#include "cl/handles.hpp"
#include "endpoints/device/link_window.hpp"
#include "endpoints/device/pinned_slab.hpp"
#include "endpoints/device/outward_copies.hpp"
#include "endpoints/device/in_place_trial.hpp"
#include "endpoints/device/small_writes.hpp"
#include "transfer/engine.hpp"
#include "transfer/staging.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::endpoints {

/// What transfers to and from one device of one context share. In-order queues, one each way, so that copies both ways
/// overlap. Engine's thread only.
struct device_link {
    cl::context context;
    cl_device_id device = nullptr;
    bridge::device_uuid uuid{};
    bool host_memory = false;
    cl::queue to_device, from_device;
    /// Idle queues for reads ahead, which wait on the device for the program's commands. Each takes one read at a time.
    /// In `from_device` a waiting read would hold up later copies, and deadlock if the program waits for one of them.
    std::vector<cl::queue> ahead;
    std::size_t ahead_made = 0;
    std::shared_ptr<transfer::staging_allocator> allocator; ///< null where ordinary memory is as good
    std::unique_ptr<in_place_trial> in_place; ///< null where transfers do not work on buffers in place
    std::optional<small_writes> small; ///< none where the device's memory is the host's
    std::shared_ptr<pinned_slab> locked; ///< null without `small`
    std::unique_ptr<link_window> window; ///< made by device_links::window_of()
    time_point last_used;
};

/// Makes links on demand, and releases those unused for a while, so that a context which the program has released can
/// be destroyed. Engine's thread only.
class device_links final : public transfer::progress_source {
  public:
    device_links(const options& settings, const monotonic_clock& clock, bridge_watch& bridge, copy_watch& copies)
        : m_options(settings), m_clock(clock), m_bridge(bridge), m_copies(copies) {}

    /// The copies to memory that `process` reads. Lives as long as this.
    [[nodiscard]] outward_copies& outward(std::uint64_t process) {
        return m_outward.try_emplace(process, m_clock).first->second;
    }

    /// Throws transfer_error.
    [[nodiscard]] std::shared_ptr<device_link> find(cl_context context, cl_device_id device);

    /// The device's name if transfers to or from it may use windows now, else none. While kernels crowd the device only
    /// buffers that lie `in_window` may, unless the option `strategy` forces it.
    [[nodiscard]] transfer::device_name name_of(cl_context context, cl_device_id device, bool in_window = false) const;
    [[nodiscard]] bridge_watch& bridge() { return m_bridge; }
    [[nodiscard]] link_window& window_of(device_link& link);

    /// The host address of `buffer` if transfers may work on it in place; else null.
    [[nodiscard]] std::byte* address_of(device_link& link, cl_mem buffer) const;

    /// A queue for one read ahead, or null if too many are in use. The caller puts it back into link.ahead.
    [[nodiscard]] static cl::queue take_ahead_queue(device_link& link);

    bool poll(time_point) override;
    [[nodiscard]] bool busy() const override;
    bool trim(time_point now) override;

  private:
    /// Lets go of the link that has been idle for longest, if there are many.
    void make_room();

    const options& m_options;
    const monotonic_clock& m_clock;
    bridge_watch& m_bridge;
    copy_watch& m_copies;
    std::map<std::uint64_t, outward_copies> m_outward; // by process
    std::map<bridge::device_uuid, std::shared_ptr<device_windows>> m_windows; // outlive the links
    std::vector<std::shared_ptr<device_link>> m_links;
};

} // namespace causeway::endpoints

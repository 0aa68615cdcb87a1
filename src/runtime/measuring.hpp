// SPDX-License-Identifier: Apache-2.0
// Measures stages by transfers of the engine whose plans are forced, and whose other end does nothing.
#pragma once

#include "endpoints/device/device_endpoint.hpp"
#include "transfer/flow.hpp"

#include <CL/cl.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::core {

class runtime;

/// How much a measurement may cost.
enum class effort { in_passing, thorough };

struct measured_stage {
    transfer::operation what;
    transfer::stage_model model;
};

/// Runs transfers one after the other; the caller's thread waits for them. Throws transfer_error.
class measuring {
  public:
    /// `may_go_on` is asked before each transfer; once it says no, measuring ends with a transfer_error(cancelled).
    measuring(runtime& process, effort how, std::function<bool()> may_go_on);

    /// Copies and maps of the device's memory.
    [[nodiscard]] std::vector<measured_stage> device(cl_context context, cl_device_id device);
    /// Reads and writes of a file that is open for both; its contents change.
    [[nodiscard]] std::vector<measured_stage> file(int fd);
    using end_maker = std::function<std::unique_ptr<transfer::endpoint>()>;
    /// Measures messages to a rank that makes the same call. `is_first` is true on one of the two ranks.
    [[nodiscard]] std::vector<measured_stage> rank(const end_maker& destination, const end_maker& origin, bool is_first,
                                                   cl_context context, cl_device_id device);

    struct shape {
        std::size_t bytes, block_bytes;
        unsigned depth, io_threads;
    };

  private:
    struct seen {
        std::vector<transfer::stage_sample> source, target;
        bool shared = false, linked = false;
    };
    /// The link from `source` to another device of its platform, if it has one.
    void link(const endpoints::buffer_location& source, std::vector<measured_stage>& found);
    /// The link from `source` to `other`. Returns false if there is none.
    [[nodiscard]] bool link(const endpoints::buffer_location& source, cl_device_id other,
                            std::vector<measured_stage>& found);
    [[nodiscard]] static std::vector<shape> link_shapes();
    /// Whether `device` has a link to `other`; if that is null, to any device. Waits until links are set up.
    [[nodiscard]] bool reaches_others(cl_device_id device, cl_device_id other = nullptr);
    /// Runs transfers by the plan `chosen` several times, and adds their samples to `into`.
    void run(const end_maker& source, const end_maker& target, std::size_t bytes, const transfer::plan& chosen,
             seen& into);
    [[nodiscard]] seen run_all(const end_maker& source, const end_maker& target, const std::vector<shape>& shapes,
                               const transfer::plan& like);
    void run_once(const end_maker& source, const end_maker& target, std::size_t bytes, const transfer::plan& chosen,
                  std::vector<std::shared_ptr<transfer::flow_probe>>& probes);

    runtime& m_process;
    effort m_effort;
    std::function<bool()> m_may_go_on;
    bool m_is_paired = false; // another rank does the same: as often, however long it takes
};

} // namespace causeway::core

// SPDX-License-Identifier: Apache-2.0
// Begins copies between windows of device memory, and finishes the transfer's step when its copy is over.
#pragma once

#include "bridge/windows.hpp"
#include "transfer/engine.hpp"
#include "transfer/step.hpp"

#include <vector>

namespace causeway::endpoints {

/// Engine's thread only.
class bridge_watch final : public transfer::progress_source {
  public:
    explicit bridge_watch(bridge::windows& windows) : m_windows(windows) {}

    [[nodiscard]] bridge::windows& windows() { return m_windows; }

    /// Device `by` copies `bytes` between windows; `done` finishes with `bytes` or an error. Both windows must live
    /// until then.
    void copy(const bridge::device_uuid& by, std::byte* to, const std::byte* from, std::size_t bytes,
              transfer::step& done);

    bool poll(time_point now) override;
    [[nodiscard]] bool busy() const override { return !m_copies.empty(); }

  private:
    struct running_copy {
        bridge::copy_number number;
        std::size_t bytes;
        transfer::step* done;
    };
    bridge::windows& m_windows;
    std::vector<running_copy> m_copies;
};

} // namespace causeway::endpoints

// SPDX-License-Identifier: Apache-2.0
// Finishes steps when the engine's own OpenCL commands complete.
#pragma once

#include "cl/handles.hpp"
#include "transfer/engine.hpp"
#include "transfer/step.hpp"

#include <vector>

namespace causeway::endpoints {

/// Engine's thread only.
class copy_watch final : public transfer::progress_source {
  public:
    /// `done` finishes with `bytes` when `running` completes, or with an error that says `what` failed.
    void add(cl::event running, std::size_t bytes, const char* what, transfer::step& done);

    bool poll(time_point now) override;
    [[nodiscard]] bool busy() const override { return !m_copies.empty(); }

  private:
    struct copy {
        cl::event running;
        std::size_t bytes;
        const char* what;
        transfer::step* done;
    };
    std::vector<copy> m_copies;
};

} // namespace causeway::endpoints

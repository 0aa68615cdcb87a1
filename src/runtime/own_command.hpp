// SPDX-License-Identifier: Apache-2.0
// Commands that the library submits itself, as parts of the program's commands.
#pragma once

#include "transfer/engine.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::core {

/// Submits a command of `flows`, and calls `then` at its end. Both on the engine's thread.
inline std::shared_ptr<transfer::command> submit_own(transfer::engine& by,
                                                     std::vector<std::unique_ptr<transfer::flow>> flows,
                                                     std::function<void(const failure&)> then) {
    class told_of_end final : public transfer::completion_listener {
      public:
        explicit told_of_end(std::function<void(const failure&)> then) : m_then(std::move(then)) {}
        void completed(const failure& result) override { std::exchange(m_then, nullptr)(result); }

      private:
        std::function<void(const failure&)> m_then;
    };
    auto made = std::make_shared<transfer::command>(std::move(flows), std::make_shared<told_of_end>(std::move(then)));
    made->is_called({.name = "part of a one-sided command"});
    by.submit(made);
    return made;
}

} // namespace causeway::core

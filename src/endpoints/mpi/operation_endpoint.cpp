// SPDX-License-Identifier: Apache-2.0
// Waiting for another MPI operation.
#include "endpoints/mpi/rank_endpoint.hpp"

#include <optional>

namespace causeway::endpoints {

namespace {

class operation_endpoint final : public transfer::endpoint, transfer::waiting_end, private comm::operation {
  public:
    operation_endpoint(messenger& messages, std::function<void(comm::operation&)> begin)
        : m_messages(messages), m_begin(std::move(begin)) {}

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {.kind = transfer::medium::host, .has_memory = true};
    }
    [[nodiscard]] std::string name() const override { return "MPI request"; }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }

    void open(const transfer::open_request&, transfer::step& done) override {
        m_interest.emplace(m_messages);
        m_open = &done;
        m_begin(*this);
    }
    void cancel() override {
        if (m_open == nullptr) return;
        // A receive that is cancelled is over at once, and MPI writes no more; anything else is only forgotten.
        m_cancelled = true;
        m_messages.port().cancel_receive(*this);
        if (m_open == nullptr) return;
        m_messages.port().abandon(*this);
        finish(cancelled());
    }

  private:
    void over(const comm::arrival& result) override { finish(m_cancelled ? cancelled() : result.error); }

    static failure cancelled() { return {status::cancelled, 0, 0, "the transfer was cancelled"}; }

    void finish(const failure& error) {
        m_interest.reset();
        std::exchange(m_open, nullptr)->finish({0, error});
    }

    messenger& m_messages;
    std::function<void(comm::operation&)> m_begin;
    std::optional<messenger::interest> m_interest;
    transfer::step* m_open = nullptr;
    bool m_cancelled = false;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_operation_endpoint(messenger& messages,
                                                            std::function<void(comm::operation&)> begin) {
    return std::make_unique<operation_endpoint>(messages, std::move(begin));
}

} // namespace causeway::endpoints

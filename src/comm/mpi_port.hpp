// SPDX-License-Identifier: Apache-2.0
// Messages through MPI, and what has to be known of MPI's state and communicators.
#pragma once

#include "comm/port.hpp"
#include "comm/request_set.hpp"

#include <mpi.h>

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace causeway::comm {

/// Throws transfer_error(invalid_operation) unless MPI is initialised with MPI_THREAD_MULTIPLE and not finalised.
void require_mpi();

/// Throw transfer_error(invalid_value).
void require_communicator(MPI_Comm comm);
/// Ranks are those of the remote group of an inter-communicator. MPI_PROC_NULL is allowed.
void require_destination(MPI_Comm comm, int rank);
/// As above, and MPI_ANY_SOURCE.
void require_source(MPI_Comm comm, int rank);
void require_tag(int tag);

/// One for each engine. Functions of `port` on the engine's thread; the others from any.
class mpi_port final : public port {
  public:
    mpi_port() = default;

    /// The number of the space of `comm`: the same for the life of the communicator. `closing` is called in the thread
    /// that frees the communicator, before it goes.
    [[nodiscard]] int space_of(MPI_Comm comm, const std::function<void(int space)>& closing);
    /// The number that space_of() has given to `comm`.
    [[nodiscard]] static std::optional<int> known_space(MPI_Comm comm);
    /// Gives `comm` a private communicator for its space. Collective. Throws if transfers have used `comm`.
    void make_private(MPI_Comm comm, const std::function<void(int space)>& closing);
    /// `ending` is called in the thread that calls MPI_Finalize, while MPI still works, perhaps more than once. Only
    /// the first call counts.
    void at_finalize(const std::function<void()>& ending);

    /// Completes `done` with a request that somebody else made. `request` must be active or null; a persistent one is
    /// inactive afterwards.
    void watch(MPI_Request request, operation& done) { m_requests.watch(request, done); }

    void send(int space, int destination, int tag, std::span<const std::byte> bytes, operation& done) override;
    void receive(int space, int source, int tag, std::span<std::byte> bytes, operation& done) override;
    void cancel_receive(operation& done) override { m_requests.cancel(done); }
    void abandon(operation& done) override { m_requests.abandon(done); }
    bool poll() override { return m_requests.poll(); }
    [[nodiscard]] bool busy() const override { return m_requests.size() != 0; }
    [[nodiscard]] std::size_t requests() const override { return m_requests.size(); }
    [[nodiscard]] int largest_tag() const override;
    [[nodiscard]] int ranks(int space) const override;
    [[nodiscard]] int own_rank(int space) const override;
    [[nodiscard]] int job_rank(int space, int rank) const override;
    [[nodiscard]] std::string_view library() const override;

  private:
    struct space {
        MPI_Comm comm;
        bool is_private;
        std::vector<int> job_ranks;
        int own_rank;
    };

    [[nodiscard]] MPI_Comm comm_of(int space) const;
    void hang_ending();
    int attach(MPI_Comm comm, MPI_Comm used, bool is_private, const std::function<void(int)>& closing);

    mutable int m_largest_tag = 0; // 0 until MPI was asked

    mutable std::mutex m_mutex; // guards m_spaces
    std::deque<space> m_spaces;
    std::function<void()> m_ending; // set once MPI_Finalize is hooked

    request_set m_requests;
};

} // namespace causeway::comm

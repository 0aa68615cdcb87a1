// SPDX-License-Identifier: Apache-2.0
// Collective calls of the processes of a communicator, for setting up what they then do without MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace causeway::comm {

/// A communicator of its own, with the ranks of the one that it was made of. Its calls block, in the caller's thread.
class process_group {
  public:
    /// Collective over `comm`. Throws transfer_error(invalid_value) for an inter-communicator.
    [[nodiscard]] static std::unique_ptr<process_group> duplicate(MPI_Comm comm);
    /// The group of all processes that the launcher has started. Collective.
    [[nodiscard]] static std::unique_ptr<process_group> of_all_processes() { return duplicate(MPI_COMM_WORLD); }
    ~process_group();
    process_group(const process_group&) = delete;
    process_group& operator=(const process_group&) = delete;

    [[nodiscard]] int rank() const { return m_rank; }
    [[nodiscard]] int size() const { return m_size; }

    [[nodiscard]] MPI_Comm communicator() const { return m_comm; }
    /// Never frees the communicator: messages may be left in it, which MPI could deliver to a later communicator.
    void keep() { m_is_kept = true; }

    /// What each has given, by rank. `mine` has the same size everywhere.
    template <class Value> [[nodiscard]] std::vector<Value> all_gather(const Value& mine) const {
        std::vector<Value> all(static_cast<std::size_t>(m_size));
        gather(&mine, sizeof mine, all.data());
        return all;
    }

  private:
    explicit process_group(MPI_Comm own);
    void gather(const void* mine, std::size_t bytes, void* all) const;

    MPI_Comm m_comm;
    int m_rank = 0, m_size = 1;
    bool m_is_kept = false;
};

/// Starts MPI for libraries whose programs need not know of it. True if nobody had started it: then the caller ends it.
[[nodiscard]] bool start_mpi_if_nobody_has();
/// Ends MPI, unless it has ended already.
void end_mpi();
/// True from MPI_Init until MPI_Finalize.
[[nodiscard]] bool mpi_runs();
/// Ends every process of the job, by MPI if it runs; else this one, by exit status alone.
[[noreturn]] void end_all_processes(int status);

} // namespace causeway::comm

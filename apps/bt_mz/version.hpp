// SPDX-License-Identifier: Apache-2.0
// A way to solve BT-MZ; each lies in a file of its own.
#pragma once

#include "bt_mz/inbox.hpp"
#include "bt_mz/solver.hpp"

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

namespace bt_mz {

/// All ranks make the same calls in the same order. Not thread-safe.
class version {
  public:
    virtual ~version() = default;
    /// Initial values. Blocks until this rank has them.
    virtual void reset() = 0;
    /// Exchanges the boundary values and solves; may return before either is done.
    virtual void step() = 0;
    /// Solves as step() does, with the boundary values that are there, also those between zones of this rank.
    virtual void step_without_exchange() = 0;
    /// Blocks until this rank's steps are done.
    virtual void finish() = 0;
    virtual std::vector<double> field() = 0;
    [[nodiscard]] virtual order order_of_values() const = 0;
};

/// A version that runs on a solver. Several versions may use one solver in turn.
class device_version : public version {
  public:
    explicit device_version(solver& solver) : m_solver(solver) {}
    void reset() override { m_solver.reset(); }
    void step_without_exchange() override { m_solver.enqueue_solve_alone(); }
    void finish() override { apps::check(clFinish(m_solver.queue()), "clFinish"); }
    std::vector<double> field() override { return m_solver.read_field(); }
    [[nodiscard]] order order_of_values() const override { return m_solver.order_of_values(); }

  protected:
    solver& m_solver;
};

/// Exchanges all boundary values of a rank's field in host memory, by MPI.
class host_exchange {
  public:
    explicit host_exchange(exchange_plan plan);
    void run(std::span<double> field);

  private:
    exchange_plan m_plan;
    std::vector<double> m_out, m_in;
};

std::unique_ptr<version> make_host(const mesh& mesh, int rank);
std::unique_ptr<version> make_staged(solver& solver);
std::unique_ptr<version> make_messages(solver& solver);
std::unique_ptr<version> make_one_sided(solver& solver, inbox& inbox);
/// `inbox` must be a shmem_inbox, here and in make_directives().
std::unique_ptr<version> make_openshmem(solver& solver, inbox& inbox);
/// The solver's context must be OpenACC's.
std::unique_ptr<version> make_directives(solver& solver, inbox& inbox);

} // namespace bt_mz

// SPDX-License-Identifier: Apache-2.0
// An OpenSHMEM program: boundary values are put between symmetric memory that the devices use, too. Where a device's
// memory is the host's that copies nothing; elsewhere mapping does.
#include "bt_mz/shmem_job.hpp"
#include "bt_mz/version.hpp"

#include <shmem.h>

#include <stdexcept>

namespace bt_mz {

namespace {

class openshmem : public device_version {
  public:
    explicit openshmem(solver& solver)
        : device_version(solver),
          // communication begin
          m_job(solver.plan()), m_moves(apps::create_out_of_order_queue(solver.context(), solver.queue())) {
        const std::size_t ranks = std::size_t(solver.zones().ranks());
        m_bytes = (solver.plan().most_values + 1) * sizeof(double);
        for (auto* each : {&m_out, &m_in[0], &m_in[1]}) *each = allocate();
        m_signals = static_cast<std::uint64_t*>(shmem_calloc(ranks, sizeof(std::uint64_t)));
        if (!m_signals) throw std::runtime_error("the symmetric heap is full");
        for (auto& each : m_in) map(m_solver.late_queue(), each, CL_MAP_WRITE_INVALIDATE_REGION, CL_TRUE);
        // communication end
    }
    ~openshmem() override {
        // communication begin
        for (auto& each : m_in) unmap(m_solver.late_queue(), each);
        for (const auto queue : {m_solver.late_queue(), m_moves.get()}) clFinish(queue);
        for (auto* each : {&m_out, &m_in[0], &m_in[1]}) each->buffer.reset();
        // communication end
    }

    void step() override {
        // communication begin
        // A neighbour is one step ahead at most: it puts into the other half then. A half is mapped while others put.
        auto& in = m_in[m_steps++ % 2];
        std::vector<cl_event> after;
        if (m_read) after.push_back(m_read.get());
        const apps::event taken = m_solver.enqueue_pack(m_out.buffer.get(), after);
        apps::check(clFlush(m_solver.queue()), "clFlush");
        // communication end
        m_solver.enqueue_solve(step_part::early);
        // communication begin
        map(m_moves.get(), m_out, CL_MAP_READ, CL_TRUE, taken.get());
        for (const auto& part : m_solver.plan().parts)
            shmem_putmem_signal(in.values + part.there, m_out.values + part.out, part.values * sizeof(double),
                                m_signals + m_solver.rank(), 1, SHMEM_SIGNAL_ADD, part.peer);
        m_read = unmap(m_moves.get(), m_out);
        for (const auto& part : m_solver.plan().parts)
            shmem_signal_wait_until(m_signals + part.peer, SHMEM_CMP_GE, m_steps);
        unmap(m_solver.late_queue(), in);
        m_solver.enqueue_unpack(in.buffer.get(), 0);
        // Behind what reads it, and before the values that the neighbours wait for are taken.
        map(m_solver.late_queue(), in, CL_MAP_WRITE_INVALIDATE_REGION, CL_FALSE);
        // communication end
        m_solver.enqueue_solve(step_part::late);
    }

  private:
    // communication begin
    /// Memory of the symmetric heap, and the buffer that it is for the device.
    struct shared_memory {
        double* values = nullptr;
        apps::buffer buffer;
    };

    shared_memory allocate() {
        shared_memory made;
        made.values = static_cast<double*>(shmem_align(4096, m_bytes));
        if (!made.values) throw std::runtime_error("the symmetric heap is full");
        cl_int code = CL_SUCCESS;
        made.buffer.reset(
            clCreateBuffer(m_solver.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, m_bytes, made.values, &code));
        apps::check(code, "clCreateBuffer of symmetric memory");
        return made;
    }
    void map(cl_command_queue queue, shared_memory& which, cl_map_flags flags, cl_bool blocking, cl_event after = {}) {
        cl_int code = CL_SUCCESS;
        clEnqueueMapBuffer(queue, which.buffer.get(), blocking, flags, 0, m_bytes, after ? 1 : 0,
                           after ? &after : nullptr, nullptr, &code);
        apps::check(code, "clEnqueueMapBuffer");
    }
    apps::event unmap(cl_command_queue queue, shared_memory& which) {
        cl_event done = nullptr;
        apps::check(clEnqueueUnmapMemObject(queue, which.buffer.get(), which.values, 0, nullptr, &done),
                    "clEnqueueUnmapMemObject");
        apps::check(clFlush(queue), "clFlush");
        return apps::event(done);
    }

    shmem_job m_job;
    apps::queue m_moves;
    apps::event m_read; // what goes out
    std::size_t m_bytes = 0;
    shared_memory m_out, m_in[2];
    std::uint64_t* m_signals = nullptr; // counts steps of each rank whose values have come
    std::uint64_t m_steps = 0;
    // communication end
};

} // namespace

std::unique_ptr<version> make_openshmem(solver& solver) { return std::make_unique<openshmem>(solver); }

} // namespace bt_mz

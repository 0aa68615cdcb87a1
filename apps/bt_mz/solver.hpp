// SPDX-License-Identifier: Apache-2.0
// The zones of a rank on its device, for every way to exchange their boundary values.
#pragma once

#include "bt_mz/tiles.hpp"

#include "common/opencl.hpp"

#include <string>
#include <vector>

namespace bt_mz {

/// The kernels before the paper's optimisations, these one by one, each on top of those before it, and `fused`, which
/// is ours.
enum class kernels {
    none,      ///< without kernels, fields and work arrays: what only directives use
    whole,     ///< a work-item forms the blocks of a line in arrays of its own, and solves it (before Listing 1.6)
    split,     ///< blocks formed by kernels of their own, in arrays with room for all points (Listings 1.5 and 1.6)
    coalesced, ///< neighbouring work-items read neighbouring values (1.10 and 1.11)
    preloaded, ///< what is used more than once is loaded once (1.12)
    fused,     ///< blocks are formed where they are used, and stay in registers
};
kernels kernels_named(const std::string& name);

/// Whether the fields stay on the device between kernels (Listings 1.7 to 1.9), or move there and back for each.
enum class residency { stays, moves };

/// Work-items of a group: more on GPUs, where the items of a group share what they read.
std::size_t group_size(cl_device_id device);

/// Fields, kernels (but for kernels::none) and two in-order queues, so that work that waits for other ranks' values
/// runs beside work that does not. Not thread-safe.
class solver {
  public:
    solver(const mesh& mesh, int rank, apps::context context, cl_device_id device, kernels kernels,
           residency residency);

    /// What its buffers take for each point.
    static std::size_t bytes_of_point(kernels kernels);
    /// What its largest buffer takes for each point.
    static std::size_t largest_of_point(kernels kernels);

    /// Initial values. Blocks.
    void reset();

    /// enqueue_pack() copies boundary values from the field to `out`, and between zones of this rank; enqueue_unpack()
    /// from `in` to the field. The values begin at index `first_value` of the buffer.
    apps::event enqueue_pack(cl_mem out, std::size_t first_value);
    void enqueue_unpack(cl_mem in, std::size_t first_value, const std::vector<cl_event>& after = {});
    /// Enqueues a step of all zones, or one part of it: the early part first, then the late one. Before a part, enqueue
    /// the unpacking of the boundary values that it needs.
    void enqueue_solve(step_part which);

    /// Enqueues both parts without an exchange: the late rows wait for the previous step only.
    void enqueue_solve_alone();

    std::vector<double> read_field();

    [[nodiscard]] const mesh& zones() const { return m_mesh; }
    [[nodiscard]] int rank() const { return m_rank; }
    [[nodiscard]] const exchange_plan& plan() const { return m_plan; }
    [[nodiscard]] const tile_tables& tables() const { return m_tables; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    /// Queue of enqueue_unpack(), and of the kernels along x that need the unpacked values.
    [[nodiscard]] cl_command_queue late_queue() const { return m_late.get(); }
    [[nodiscard]] cl_mem field() const { return m_field.get(); }
    [[nodiscard]] order order_of_values() const { return m_order; }
    /// The initial field, in order_of_values().
    [[nodiscard]] const std::vector<double>& initial_values() const { return m_initial; }
    [[nodiscard]] const std::vector<double>& forcing() const { return m_forcing_terms; }

  private:
    apps::event launch(cl_command_queue queue, cl_kernel kernel, const tile_range& over,
                       const std::vector<cl_event>& after = {});
    /// What a kernel reads besides the field, and what it writes. The blocks stay on the device.
    struct touched {
        bool forcing = false, right_before = false, right_after = false, field_after = false;
    };
    /// `after` may be null.
    apps::event launch_solving(cl_command_queue queue, cl_kernel kernel, const tile_range& over, touched touched,
                               cl_event after = nullptr);

    const mesh& m_mesh;
    int m_rank;
    kernels m_kernels;
    residency m_residency;
    order m_order;
    exchange_plan m_plan;
    tile_tables m_tables;
    apps::context m_context;
    apps::queue m_queue, m_late;
    apps::program m_program;
    apps::kernel m_copy, m_right_hand_side, m_form[3], m_solve[3];
    std::vector<double> m_initial, m_forcing_terms;
    apps::buffer m_field, m_right, m_forcing, m_work, m_boxes, m_tiles, m_leaving, m_incoming;
    std::vector<double> m_moved_field, m_moved_right; // the host's copies, if the fields move
};

} // namespace bt_mz

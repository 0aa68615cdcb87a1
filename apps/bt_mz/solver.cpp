// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/solver.hpp"

#include "bt_mz/kernel_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bt_mz {

namespace {

template <class Value> apps::buffer buffer_with(cl_context context, const std::vector<Value>& contents) {
    cl_int code = CL_SUCCESS;
    const Value nothing{};
    apps::buffer made(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     std::max<std::size_t>(contents.size(), 1) * sizeof(Value),
                                     const_cast<Value*>(contents.empty() ? &nothing : contents.data()), &code));
    apps::check(code, "clCreateBuffer");
    return made;
}

/// Whether kernels of their own form the blocks, in a buffer.
bool forms_first(kernels kernels) {
    return kernels == kernels::split || kernels == kernels::coalesced || kernels == kernels::preloaded;
}

/// Bytes of the blocks that are kept.
std::size_t work_of_point(kernels kernels) {
    if (kernels == kernels::whole || kernels == kernels::none) return 0;
    return (forms_first(kernels) ? 75 : 25) * sizeof(double);
}

int longest_line(const mesh& mesh, int rank) {
    int longest = 0;
    for (const int z : mesh.zones_of(rank)) {
        const zone& each = mesh.zones()[std::size_t(z)];
        longest = std::max({longest, each.nx, each.ny, each.nz});
    }
    return longest;
}

} // namespace

kernels kernels_named(const std::string& name) {
    if (name == "whole") return kernels::whole;
    if (name == "split") return kernels::split;
    if (name == "coalesced") return kernels::coalesced;
    if (name == "preloaded") return kernels::preloaded;
    if (name == "fused") return kernels::fused;
    throw std::invalid_argument("no kernels \"" + name + "\": whole, split, coalesced, preloaded, fused");
}

std::size_t group_size(cl_device_id device) { return apps::device_type(device) & CL_DEVICE_TYPE_CPU ? 16 : 64; }

solver::solver(const mesh& mesh, int rank, apps::context context, cl_device_id device, kernels kernels,
               residency residency)
    : m_mesh(mesh), m_rank(rank), m_kernels(kernels), m_residency(residency),
      m_order(kernels == kernels::whole || kernels == kernels::split ? order::components_side_by_side
                                                                     : order::points_side_by_side),
      m_plan(plan_exchange(mesh, rank, m_order)), m_tables(mesh, rank, m_plan, group_size(device)),
      m_context(std::move(context)), m_queue(apps::create_in_order_queue(m_context.get(), device)),
      m_late(apps::create_in_order_queue(m_context.get(), device)), m_initial(initial_field(mesh, rank, m_order)),
      m_forcing_terms(forcing_terms(mesh, rank, m_order)) {
    if (kernels == kernels::none) return;
    std::string options = m_order == order::components_side_by_side ? "-D POINTS_TOGETHER" : "";
    if (kernels == kernels::whole) options += " -D POINTS_OF_LINE=" + std::to_string(longest_line(mesh, rank));
    if (forms_first(kernels)) options += " -D SPLIT";
    if (kernels == kernels::preloaded) options += " -D PRELOAD";
    m_program = apps::build_program(m_context.get(), device, kernel_source, options);
    m_copy = apps::create_kernel(m_program.get(), "copy_faces");
    m_right_hand_side = apps::create_kernel(m_program.get(), "right_hand_side");
    const char* const solves[3] = {"solve_x", "solve_y", "solve_z"};
    const char* const forms[3] = {"form_x", "form_y", "form_z"};
    for (std::size_t d = 0; d < 3; ++d) {
        m_solve[d] = apps::create_kernel(m_program.get(), solves[d]);
        if (forms_first(kernels)) m_form[d] = apps::create_kernel(m_program.get(), forms[d]);
    }

    m_boxes = buffer_with(m_context.get(), m_tables.boxes);
    m_tiles = buffer_with(m_context.get(), m_tables.tiles);
    auto leaving = m_plan.outgoing;
    leaving.insert(leaving.end(), m_plan.local.begin(), m_plan.local.end());
    m_leaving = buffer_with(m_context.get(), leaving);
    m_incoming = buffer_with(m_context.get(), m_plan.incoming);
    m_field = buffer_with(m_context.get(), m_initial);
    m_forcing = buffer_with(m_context.get(), m_forcing_terms);
    m_right = buffer_with(m_context.get(), std::vector<double>(m_initial.size(), 0.0));
    m_work = apps::create_buffer(m_context.get(),
                                 std::max<std::size_t>(1, m_initial.size() / 5 * work_of_point(kernels)));
}

std::size_t solver::bytes_of_point(bt_mz::kernels kernels) {
    constexpr std::size_t fields = 3; // the field, its right-hand sides and the forcing terms
    return kernels == kernels::none ? 0 : fields * 5 * sizeof(double) + work_of_point(kernels);
}

std::size_t solver::largest_of_point(bt_mz::kernels kernels) {
    return kernels == kernels::none ? 0 : std::max(5 * sizeof(double), work_of_point(kernels));
}

void solver::reset() {
    apps::check(clEnqueueWriteBuffer(queue(), field(), CL_TRUE, 0, m_initial.size() * sizeof(double), m_initial.data(),
                                     0, nullptr, nullptr),
                "clEnqueueWriteBuffer");
}

apps::event solver::launch(cl_command_queue queue, cl_kernel kernel, const tile_range& over,
                           const std::vector<cl_event>& after) {
    if (over.count == 0 && after.empty()) return {};
    cl_event event = nullptr;
    if (over.count == 0) {
        apps::check(clEnqueueMarkerWithWaitList(queue, cl_uint(after.size()), after.data(), &event),
                    "clEnqueueMarkerWithWaitList");
        return apps::event(event);
    }
    const std::size_t items = over.count * m_tables.group;
    apps::check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &m_tables.group, cl_uint(after.size()),
                                       after.empty() ? nullptr : after.data(), &event),
                "clEnqueueNDRangeKernel");
    return apps::event(event);
}

apps::event solver::enqueue_pack(cl_mem out, std::size_t first_value) {
    const auto &outgoing = m_tables.outgoing, &local = m_tables.local;
    apps::set_arguments(m_copy.get(), field(), cl_ulong(0), out, cl_ulong(first_value), cl_int(outgoing.count), field(),
                        m_leaving.get(), m_tiles.get(), outgoing.first);
    return launch(queue(), m_copy.get(), {outgoing.first, outgoing.count + local.count});
}

void solver::enqueue_unpack(cl_mem in, std::size_t first_value, const std::vector<cl_event>& after) {
    apps::set_arguments(m_copy.get(), in, cl_ulong(first_value), field(), cl_ulong(0), cl_int(0), field(),
                        m_incoming.get(), m_tiles.get(), m_tables.incoming.first);
    launch(late_queue(), m_copy.get(), m_tables.incoming, after);
}

apps::event solver::launch_solving(cl_command_queue queue, cl_kernel kernel, const tile_range& over, touched touched,
                                   cl_event after) {
    if (over.count == 0) return {};
    const std::size_t bytes = m_initial.size() * sizeof(double);
    const auto to_device = [&](cl_mem buffer, const std::vector<double>& copy) {
        apps::check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, copy.data(), 0, nullptr, nullptr),
                    "clEnqueueWriteBuffer");
    };
    const auto to_host = [&](cl_mem buffer, std::vector<double>& copy) {
        copy.resize(m_initial.size());
        apps::check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, copy.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
    };
    const bool moves = m_residency == residency::moves;
    if (moves) {
        if (touched.forcing) {
            // What the exchange has changed. A program whose fields move would have it in host memory.
            to_host(m_field.get(), m_moved_field);
            to_device(m_forcing.get(), m_forcing_terms);
        }
        to_device(m_field.get(), m_moved_field); // all kernels read it
        if (touched.right_before) to_device(m_right.get(), m_moved_right);
    }
    apps::event done = launch(queue, kernel, over, after ? std::vector{after} : std::vector<cl_event>());
    if (moves && touched.right_after) to_host(m_right.get(), m_moved_right);
    if (moves && touched.field_after) to_host(m_field.get(), m_moved_field);
    return done;
}

void solver::enqueue_solve(step_part which) {
    const auto& over = m_tables.of[int(which)];
    if (over.points.count == 0 && which == step_part::early) return;
    const auto& per = m_mesh.per_step();
    const cl_double dt = m_mesh.kind().dt;
    const cl_command_queue along_x = which == step_part::late ? late_queue() : queue();
    apps::set_arguments(m_right_hand_side.get(), m_field.get(), m_forcing.get(), m_right.get(), m_boxes.get(),
                        m_tiles.get(), over.points.first, dt, cl_double(per[0]), cl_double(per[1]), cl_double(per[2]));
    launch_solving(along_x, m_right_hand_side.get(), over.points, {.forcing = true, .right_after = true});
    const auto solve = [&](cl_command_queue queue, std::size_t d, const tile_range& points, const tile_range& lines,
                           cl_event after = nullptr) {
        if (forms_first(m_kernels)) {
            apps::set_arguments(m_form[d].get(), m_field.get(), m_work.get(), m_boxes.get(), m_tiles.get(),
                                points.first, dt, cl_double(per[d]));
            launch_solving(queue, m_form[d].get(), points, {}, after);
        }
        apps::set_arguments(m_solve[d].get(), m_field.get(), m_right.get(), m_work.get(), m_boxes.get(), m_tiles.get(),
                            lines.first, dt, cl_double(per[d]));
        return launch_solving(queue, m_solve[d].get(), lines,
                              {.right_before = true, .right_after = true, .field_after = d == 2}, after);
    };
    const apps::event rows = solve(along_x, 0, over.points, over.lines);
    if (which != step_part::early) {
        cl_event late = nullptr;
        if (which == step_part::late) {
            apps::check(clFlush(late_queue()), "clFlush");
            late = rows.get();
        }
        const auto& all = m_tables.of[int(step_part::whole)].points;
        solve(queue(), 1, all, m_tables.y_lines, late);
        solve(queue(), 2, all, m_tables.z_lines);
    }
    apps::check(clFlush(queue()), "clFlush");
}

void solver::enqueue_solve_alone() {
    cl_event marker = nullptr;
    apps::check(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &marker), "clEnqueueMarkerWithWaitList");
    const apps::event last_step(marker);
    apps::check(clFlush(queue()), "clFlush");
    apps::check(clEnqueueBarrierWithWaitList(late_queue(), 1, &marker, nullptr), "clEnqueueBarrierWithWaitList");
    enqueue_solve(step_part::early);
    enqueue_solve(step_part::late);
}

std::vector<double> solver::read_field() {
    std::vector<double> values(m_initial.size());
    apps::check(clEnqueueReadBuffer(queue(), field(), CL_TRUE, 0, values.size() * sizeof(double), values.data(), 0,
                                    nullptr, nullptr),
                "clEnqueueReadBuffer");
    return values;
}

} // namespace bt_mz

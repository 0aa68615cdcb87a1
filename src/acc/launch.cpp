// SPDX-License-Identifier: Apache-2.0
// Runs regions.
#include "acc/data.hpp"
#include "acc/failure.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace causeway::acc {
namespace {

struct launch_shape {
    std::size_t gangs = 1, workers = 1, vector = 1;
    std::size_t shares = 1; // groups of each gang
};

/// How many gangs, workers and lanes a kernel gets where its clauses leave that open. `own_arrays`: each thread
/// of a gang has memory of its own.
launch_shape shape_of(const device& on, const causeway_acc_clauses& clauses, const causeway_acc_kernel& kernel,
                      std::size_t most, causeway_acc_iterations loops, bool own_arrays) {
    const auto trips = static_cast<std::size_t>(std::max(0L, loops.gangs));
    launch_shape shape;
    const auto has = [&](int flag) { return (kernel.flags & flag) != 0; };
    if (has(CAUSEWAY_ACC_USES_VECTOR))
        shape.vector = clauses.vector > 0 ? static_cast<std::size_t>(clauses.vector)
                       : on.is_cpu()      ? (has(CAUSEWAY_ACC_LANES_HAVE_LOOPS) ? on.lanes_in_vectors() : 1)
                                          : (has(CAUSEWAY_ACC_USES_WORKERS) ? 32 : 128);
    if (has(CAUSEWAY_ACC_USES_WORKERS))
        shape.workers = clauses.workers > 0 ? static_cast<std::size_t>(clauses.workers) : on.is_cpu() ? 1 : 4;
    shape.vector = std::min(shape.vector, most);
    shape.workers = std::max<std::size_t>(1, std::min(shape.workers, most / shape.vector));
    if (!has(CAUSEWAY_ACC_USES_GANGS)) {
        if (has(CAUSEWAY_ACC_ALLOWS_GANGS) && clauses.gangs > 0) shape.gangs = static_cast<std::size_t>(clauses.gangs);
        return shape;
    }
    if (clauses.gangs > 0) {
        shape.gangs = static_cast<std::size_t>(clauses.gangs);
        return shape;
    }
    // A few groups for each core of a processor, and many for each of a GPU, whose groups wait for memory in turn.
    shape.gangs = on.units() * (on.is_cpu() ? 4u : 16u);
    if (trips == 0) return shape;
    if (on.is_cpu()) {
        // PoCL gives each core several groups at once: those without an iteration would leave cores idle.
        const auto lanes = has(CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP) ? shape.vector * shape.workers : 1;
        shape.gangs = std::min(shape.gangs, (trips + lanes - 1) / lanes);
        return shape;
    }
    // A GPU starts groups faster than a group goes through a loop: each iteration has its own thread or gang, unless
    // the gangs have something of their own.
    constexpr std::size_t most_gangs = std::size_t{1} << 20;
    // An H200 streams up to 15 % faster with groups of 256 than of 128. More its driver allows no kernel
    // (CL_KERNEL_WORK_GROUP_SIZE), however few registers it has. A loop that leaves units idle keeps the small groups.
    constexpr std::size_t threads_of_unit = 2048, fewest_lanes = 32, most_lanes = 256;
    if (has(CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP) && !has(CAUSEWAY_ACC_USES_WORKERS) && clauses.vector <= 0 &&
        most_lanes <= most && trips >= on.units() * threads_of_unit)
        shape.vector = most_lanes;
    const auto threads = has(CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP) ? shape.vector * shape.workers : 1;
    // What gangs reduce is joined in the end: not by too many. Some more than run at once share the work evenly.
    const bool joined = has(CAUSEWAY_ACC_HAS_REDUCTION), per_gang = own_arrays || joined;
    const auto rounds = !own_arrays && !has(CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP) ? 4u : 1u;
    shape.gangs = std::min((trips + threads - 1) / threads, per_gang ? rounds * shape.gangs : most_gangs);
    // Lanes without an iteration only take room from other groups.
    const auto needed = loops.lanes > 0 ? static_cast<std::size_t>(loops.lanes) : most_lanes;
    while (clauses.vector <= 0 && shape.vector > fewest_lanes && shape.vector / 2 * shape.workers >= needed)
        shape.vector /= 2;
    if (has(CAUSEWAY_ACC_GROUPS_SHARE_LANES) && !per_gang && loops.lanes > 0) {
        const auto of_gang = shape.vector * shape.workers;
        shape.shares = (static_cast<std::size_t>(loops.lanes) + of_gang - 1) / of_gang;
        shape.shares = std::min(shape.shares,
                                std::max<std::size_t>(1, most_gangs / std::max<std::size_t>(1, shape.gangs)));
        // Rows side by side find in the nearest cache what they share: a column of a matrix, a stencil's neighbours.
        constexpr std::size_t rows = 4, narrow = 64, groups_of_unit = 16;
        if (has(CAUSEWAY_ACC_GANGS_SHARE_GROUPS) && shape.shares > 1 && clauses.vector <= 0 && rows * narrow <= most &&
            shape.gangs * shape.shares >= rows * groups_of_unit * on.units()) {
            shape.vector = narrow, shape.workers = rows;
            shape.shares = (static_cast<std::size_t>(loops.lanes) + narrow - 1) / narrow;
            shape.gangs = (shape.gangs + rows - 1) / rows;
        }
        if (shape.shares > 1) return shape;
    }
    // Few gangs leave room for more lanes of each.
    while (clauses.vector <= 0 && shape.vector > 1 && threads == 1 && 2 * shape.vector * shape.workers <= most &&
           shape.vector < std::min(most_lanes, needed) &&
           shape.gangs * shape.vector * shape.workers < on.units() * threads_of_unit)
        shape.vector *= 2;
    return shape;
}

const void* section_of(const causeway_acc_argument& one) { return one.data ? one.data->host : nullptr; }
std::size_t bytes_of(const causeway_acc_argument& one) { return one.data ? one.data->bytes : 0; }

launch_site::found_argument find_argument(device& on, const causeway_acc_argument& one, bool points_to_rows) {
    // The mapping that holds the pointer's value need not hold what the kernel accesses: that may be anywhere.
    launch_site::found_argument made{one.address, section_of(one), bytes_of(one), {}, 0, SIZE_MAX};
    if (!one.address) return made;
    // The kernel subscripts from the pointer's own value, which may lie before what is mapped: the sum wraps around.
    const auto at = [&](cl_mem buffer, std::size_t offset, const char* start) {
        made.location = {buffer, offset + static_cast<std::size_t>(static_cast<const char*>(one.address) - start)};
        return made;
    };
    const auto in = [&](const mapping& found) { return at(found.buffer, found.offset, found.start); };
    const bool has_section = one.data && one.data->base == one.address;
    const bool implicit = has_section && is_implicit(*one.data);
    const auto within = [&](const mapping& found) {
        made.begin = found.offset, made.end = found.offset + found.bytes;
        // Clauses may name less than the program uses of what is mapped; what it uses without one is in the range.
        if (implicit) {
            made.begin += static_cast<std::size_t>(static_cast<char*>(one.data->host) - found.start);
            made.end = made.begin + one.data->bytes;
        }
        return in(found);
    };
    if (has_section && one.data->mapped) {
        const auto& found = *static_cast<mapping*>(one.data->mapped);
        return one.data->bytes > 0 ? within(found) : in(found);
    }
    auto* const of_section = has_section && one.data->host ? on.table().find_start(one.data->host) : nullptr;
    if (of_section && one.data->bytes > 0 &&
        static_cast<const char*>(one.data->host) + one.data->bytes <= of_section->start + of_section->bytes)
        return within(*of_section);
    if (auto* found = on.table().find_pointer(one.address)) return in(*found);
    if (const auto found = on.find_reserved(one.address); found != on.reserved().end())
        return at(found->second.buffer, found->second.offset, found->first);
    if (of_section) return in(*of_section);
    const bool asks_for_it = implicit && one.data->kind == CAUSEWAY_ACC_IMPLICIT_PRESENT && one.data->bytes > 0;
    if (asks_for_it)
        fail_here(quoted(one.name) + " is not present on device " + std::to_string(on.number()) + ": " +
                  range_text(one.data->host, one.data->bytes));
    if (implicit && one.data->host) { // no iteration uses its elements, but one may ask whether it is null
        made.location.buffer = on.placeholder();
        made.end = 0;
        return made;
    }
    const std::string name = one.name;
    fail_here(quoted(one.name) + " is not present on device " + std::to_string(on.number()) +
              (points_to_rows ? ": a data clause must name its rows, as " + name + "[0:n][0:m]"
               : implicit     ? ", and which of its elements the region uses is not seen before it runs: a data clause "
                                "must name them, as copy(" +
                                name + "[0:n])"
                          : ""));
}

/// The buffer of what the argument's pointers point to.
launch_site::found_argument find_rows(device& on, const causeway_acc_argument& one) {
    if (!one.address) return {nullptr, section_of(one), bytes_of(one)};
    const bool of_clause = one.data && one.data->base == one.address;
    auto* found = of_clause ? static_cast<mapping*>(one.data->mapped) : nullptr;
    if (!found) found = on.table().find_start(one.address);
    if (!found && of_clause && one.data->host) found = on.table().find_start(one.data->host);
    if (!found) found = on.table().find_base(one.address);
    if (!found || !found->rows.buffer)
        fail_here(quoted(one.name) + " is present on device " + std::to_string(on.number()) +
                  " without what its pointers point to");
    return {one.address, section_of(one), bytes_of(one), {found->rows.buffer, 0}, 0, found->rows.bytes};
}

/// Two names for memory that is mapped once, one of which is written: iterations that look independent may not be.
bool overlap(const std::vector<launch_site::found_argument>& found, const causeway_acc_argument* arguments) {
    for (std::size_t one = 0; one < found.size(); ++one)
        for (std::size_t other = 0; other < found.size(); ++other)
            if (one != other && arguments[one].written && found[one].location.buffer &&
                found[one].location.buffer == found[other].location.buffer && found[one].begin < found[other].end &&
                found[other].begin < found[one].end)
                return true;
    return false;
}

/// What the arguments are on the device.
launch_site& look_up(device& on, const causeway_acc_kernel& kernel, const causeway_acc_argument* arguments, int count) {
    auto& site = on.site(kernel);
    bool same = site.version == on.table_version() && site.arguments.size() == static_cast<std::size_t>(count);
    const auto is_memory = [&](int each) {
        return arguments[each].kind == CAUSEWAY_ACC_BUFFER || arguments[each].kind == CAUSEWAY_ACC_ROWS;
    };
    for (int each = 0; same && each < count; ++each)
        if (is_memory(each)) {
            const auto& before = site.arguments[static_cast<std::size_t>(each)];
            same = before.address == arguments[each].address && before.section == section_of(arguments[each]) &&
                   before.section_bytes == bytes_of(arguments[each]);
        }
    if (same) return site;
    std::vector<launch_site::found_argument> found(static_cast<std::size_t>(count));
    const auto has_rows = [&](int each) {
        return std::any_of(arguments, arguments + count, [&](const auto& other) {
            return other.kind == CAUSEWAY_ACC_ROWS && other.address == arguments[each].address;
        });
    };
    for (int each = 0; each < count; ++each)
        if (is_memory(each))
            found[static_cast<std::size_t>(each)] = arguments[each].kind == CAUSEWAY_ACC_ROWS
                                                        ? find_rows(on, arguments[each])
                                                        : find_argument(on, arguments[each], has_rows(each));
    const bool overlapping = overlap(found, arguments);
    if (site.overlapping != overlapping) site.loops = site.one_each = {};
    site.overlapping = overlapping;
    site.uses.clear();
    for (int each = 0; each < count; ++each)
        if (const auto buffer = found[static_cast<std::size_t>(each)].location.buffer)
            site.uses.push_back({buffer, arguments[each].written != 0});
    site.arguments = std::move(found);
    site.version = on.table_version();
    return site;
}

const compiled_kernel& compiled(device& on, const causeway_acc_region& region, const causeway_acc_kernel& kernel,
                                launch_site& site, bool one_each) {
    auto& found = one_each ? site.one_each : site.loops;
    if (found.kernel) return found;
    const int confusing = CAUSEWAY_ACC_WAITS_IN_BRANCHES | (on.is_cpu() ? CAUSEWAY_ACC_WAITS_FOR_ONE : 0);
    const bool alone = (kernel.flags & confusing) && on.confuses_barriers();
    const program_form form{site.overlapping, one_each, alone};
    const auto most_of = [&](cl_kernel one) {
        std::size_t most = 1;
        check(clGetKernelWorkGroupInfo(one, on.id(), CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
              "clGetKernelWorkGroupInfo");
        return most;
    };
    compiled_kernel made;
    made.kernel = on.kernel(*region.program, kernel.name, form);
    made.most = alone ? 1 : most_of(made.kernel);
    if (kernel.flags & CAUSEWAY_ACC_HAS_REDUCTION) {
        made.end = on.kernel(*region.program, std::string(kernel.name) + "_end", form);
        made.most_of_end = alone ? 1 : most_of(made.end);
    }
    return found = made;
}

/// Whether no thread of the launch has two iterations of a loop that the kernel spells ACC_FOR.
bool has_one_each(const causeway_acc_kernel& kernel, const launch_shape& shape, causeway_acc_iterations loops) {
    const auto has = [&](int flag) { return (kernel.flags & flag) != 0; };
    constexpr std::size_t most = (std::size_t{1} << 30) - 1; // as ACC_IN_TURN has it
    const auto covers = [&](std::size_t threads, long iterations) {
        return iterations > 0 && threads <= most && threads >= static_cast<std::size_t>(iterations);
    };
    if (!has(CAUSEWAY_ACC_HAS_ONE_EACH)) return false;
    const auto lanes = shape.vector * shape.workers;
    if (!has(CAUSEWAY_ACC_GROUPS_SHARE_LANES))
        return covers(shape.gangs * (has(CAUSEWAY_ACC_LANES_SHARE_GANG_LOOP) ? lanes : 1), loops.gangs);
    // Without workers, rows of threads are gangs.
    const bool rows = !has(CAUSEWAY_ACC_USES_WORKERS);
    return covers(shape.gangs * (rows ? shape.workers : 1), loops.gangs) &&
           covers(shape.shares * (rows ? shape.vector : lanes), loops.lanes);
}

/// ACC_NOTIFY asks to be told of each launch.
bool notifies() {
    static const bool wanted = [] {
        const char* const given = std::getenv("ACC_NOTIFY");
        return given && *given && std::strcmp(given, "0") != 0;
    }();
    return wanted;
}

class setter {
  public:
    explicit setter(cl_kernel kernel) : m_kernel(kernel) {}
    void operator()(const void* value, std::size_t bytes) {
        check(clSetKernelArg(m_kernel, m_next++, bytes, value), "clSetKernelArg");
    }
    template <class T> void value(const T& one) { (*this)(&one, sizeof one); }

  private:
    cl_kernel m_kernel;
    cl_uint m_next = 0;
};

void launch(device& on, queue& in, const causeway_acc_clauses& clauses, const causeway_acc_region& region,
            const causeway_acc_kernel& kernel, const causeway_acc_argument* arguments, int count) {
    auto& site = look_up(on, kernel, arguments, count);
    const auto loops = clauses.trips ? clauses.trips[&kernel - region.kernels] : causeway_acc_iterations{};
    if (loops.gangs < 0 || loops.lanes < 0)
        fail_here("a loop has more than 2147483647 iterations; that takes a loop variable of 64 bits");
    const bool own_arrays = std::any_of(arguments, arguments + count,
                                        [](const auto& each) { return each.kind == CAUSEWAY_ACC_PRIVATE; });
    const auto shape_with = [&](std::size_t most) {
        auto made = shape_of(on, clauses, kernel, most, loops, own_arrays);
        if ((kernel.flags & CAUSEWAY_ACC_MAY_ALIAS) && site.overlapping) made = {};
        // By two names a gang's threads may meet where the compiler saw no reason for them to wait: one does all.
        if ((kernel.flags & CAUSEWAY_ACC_GANGS_USE_MEMORY) && site.overlapping)
            made.workers = made.vector = made.shares = 1;
        constexpr std::size_t most_private = 256ul << 20;
        for (int each = 0; each < count; ++each)
            if (arguments[each].kind == CAUSEWAY_ACC_PRIVATE && (kernel.flags & CAUSEWAY_ACC_USES_GANGS)) {
                const auto of_gang = arguments[each].bytes * made.workers * made.vector;
                made.gangs = std::clamp<std::size_t>(most_private / std::max(1ul, of_gang), 1, made.gangs);
            }
        return made;
    };
    bool one_each = !on.is_cpu() && has_one_each(kernel, shape_with(on.most_threads()), loops);
    const auto* form = &compiled(on, region, kernel, site, one_each);
    auto shape = shape_with(form->most);
    if (one_each && !has_one_each(kernel, shape, loops)) {
        one_each = false;
        form = &compiled(on, region, kernel, site, one_each);
        shape = shape_with(form->most);
    }
    const auto threads = shape.workers * shape.vector;

    const auto set = [&](cl_kernel of, std::size_t lanes) {
        setter argument(of);
        std::size_t scratches = 0;
        for (int each = 0; each < count; ++each) {
            const auto& one = arguments[each];
            switch (one.kind) {
            case CAUSEWAY_ACC_VALUE: argument(one.address, one.bytes); break;
            case CAUSEWAY_ACC_BUFFER:
                argument.value(site.arguments[static_cast<std::size_t>(each)].location.buffer);
                argument.value(static_cast<cl_long>(site.arguments[static_cast<std::size_t>(each)].location.offset));
                break;
            case CAUSEWAY_ACC_ROWS:
                argument.value(site.arguments[static_cast<std::size_t>(each)].location.buffer);
                break;
            case CAUSEWAY_ACC_REDUCTION: argument.value(on.scratch(in, scratches++, shape.gangs * one.bytes)); break;
            default: {
                // A multiple of the largest alignment.
                const auto bytes = (one.bytes + 15) / 16 * 16;
                argument.value(on.scratch(in, scratches++, shape.gangs * threads * bytes));
                argument.value(static_cast<cl_long>(bytes));
            }
            }
        }
        argument(nullptr, lanes * sizeof(cl_ulong));
        argument.value(static_cast<cl_int>(shape.gangs));
    };
    set(form->kernel, threads);
    if (notifies())
        std::fprintf(stderr, "%s:%d: %s: %s on device %d: %zu gangs of %zu workers of %zu lanes%s%s%s\n",
                     clauses.location->file, clauses.location->line, clauses.location->directive, kernel.name,
                     on.number(), shape.gangs, shape.workers, shape.vector,
                     loops.gangs > 0 ? (" for " + std::to_string(loops.gangs) + " iterations").c_str() : "",
                     shape.shares > 1 ? (", " + std::to_string(shape.shares) + " groups for each").c_str() : "",
                     one_each ? ", one for each thread" : "");
    const bool two_dimensions = (kernel.flags & CAUSEWAY_ACC_GROUPS_SHARE_LANES) != 0;
    const std::size_t columns = two_dimensions ? shape.shares : shape.gangs, rows = two_dimensions ? shape.gangs : 1;
    const std::size_t global[] = {columns * shape.vector, rows * shape.workers},
                      local[] = {shape.vector, shape.workers};
    command_slot slot(in, site.uses);
    check(clEnqueueNDRangeKernel(in.handle, form->kernel, 2, nullptr, global, local, slot.count(), slot.list(),
                                 slot.event()),
          "clEnqueueNDRangeKernel");
    if (!(kernel.flags & CAUSEWAY_ACC_HAS_REDUCTION)) return;
    // One group puts the gangs' parts together.
    const std::size_t lanes = on.is_cpu() ? 1 : std::min<std::size_t>({1024, shape.gangs, form->most_of_end});
    set(form->end, lanes);
    const std::size_t group[] = {lanes, 1};
    command_slot end(in);
    check(clEnqueueNDRangeKernel(in.handle, form->end, 2, nullptr, group, group, end.count(), end.list(), end.event()),
          "clEnqueueNDRangeKernel");
}

} // namespace
} // namespace causeway::acc

using namespace causeway::acc;

int causeway_acc_run(causeway_acc_clauses* clauses, const causeway_acc_region* region, causeway_acc_data* data,
                     int data_count, causeway_acc_argument* arguments, int argument_count) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    if (target.is_host()) return 0;
    map_all(target.device(), target.queue(), data, data_count);
    for (int each = 0; each < region->kernel_count; ++each)
        launch(target.device(), target.queue(), *clauses, *region, region->kernels[each], arguments, argument_count);
    unmap_all(target.device(), target.queue(), data, data_count);
    target.finish();
    return 1;
}

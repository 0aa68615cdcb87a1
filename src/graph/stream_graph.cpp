// SPDX-License-Identifier: Apache-2.0
// Joins description, compiler, memory and run.
#include "graph/stream_graph.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"
#include "graph/token_size.hpp"

#include <algorithm>

namespace causeway::graph {

namespace {

/// Buffers beyond those that overlap needs: times vary, and a queue hears late of what another has done. That weighs
/// less the larger the tokens are, and memory weighs more.
std::size_t slack_of(const pipeline& compiled) {
    std::size_t largest = 0;
    for (const auto& ring : compiled.channels) largest = std::max(largest, ring.period_bytes);
    constexpr std::size_t small = std::size_t{8} << 20, medium = std::size_t{64} << 20;
    return largest <= small ? 2 : largest <= medium ? 1 : 0;
}

device_limits limits_of(cl_device_id id) {
    device_limits limits;
    char name[256] = "";
    cl_ulong memory = 0, buffer = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, nullptr) == CL_SUCCESS) limits.name = name;
    if (clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr) == CL_SUCCESS)
        limits.memory_bytes = memory;
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof buffer, &buffer, nullptr) == CL_SUCCESS)
        limits.buffer_bytes = buffer;
    return limits;
}

std::size_t alignment_of(cl_device_id id) {
    cl_uint bits = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr) != CL_SUCCESS || bits < 8)
        return 4096;
    return bits / 8;
}

} // namespace

memory_space stream_graph::memory_space_of(cl::context context, cl_device_id id) {
    for (memory_space where = 0; where < m_devices.size(); ++where)
        if (m_devices[where].context.get() == context.get() && m_devices[where].id == id) return where;
    const auto facts = cl::facts_of(id);
    m_devices.push_back({std::move(context), id, facts.host_memory, facts.hides_failed_waits,
                         facts.breaks_on_failed_waits, alignment_of(id), limits_of(id)});
    m_devices.back().limits.own_memory = !facts.host_memory;
    return m_devices.size() - 1;
}

void stream_graph::require_open() const {
    if (m_run) throw transfer_error(status::invalid_operation, "the graph is initialised already");
}

void stream_graph::require_initialized() const {
    if (!m_run) throw transfer_error(status::invalid_operation, "the graph is not initialised");
}

void stream_graph::add(node added, kernel_code code, host_function function, stream_end end) {
    require_open();
    (void)m_smallest.add(std::move(added));
    m_kernels.push_back(std::move(code));
    m_functions.push_back(std::move(function));
    m_streams.push_back(std::move(end));
}

void stream_graph::add_kernel(const std::string& name, kernel_code code, memory_space where) {
    add({.name = name, .kind = node_kind::kernel, .where = where}, std::move(code), {}, {});
}

void stream_graph::set_argument(const std::string& kernel, kernel_code::argument given) {
    require_open();
    const auto number = m_smallest.find(kernel);
    if (m_smallest.nodes()[number].kind != node_kind::kernel)
        throw transfer_error(status::invalid_value, std::string("'").append(kernel).append("' is not a kernel"));
    auto& values = m_kernels[number].values;
    std::erase_if(values, [&](const auto& each) { return each.index == given.index; });
    values.push_back(std::move(given));
}

void stream_graph::add_function(const std::string& name, host_function function) {
    add({.name = name, .kind = node_kind::function}, {}, std::move(function), {});
}

void stream_graph::add_input(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes,
                             stream_end end) {
    add({.name = name, .kind = node_kind::input, .total_bytes = total_bytes, .token_bytes = token_bytes}, {}, {},
        std::move(end));
}

void stream_graph::add_output(const std::string& name, std::uint64_t total_bytes, std::size_t token_bytes,
                              stream_end end) {
    add({.name = name, .kind = node_kind::output, .total_bytes = total_bytes, .token_bytes = token_bytes}, {}, {},
        std::move(end));
}

void stream_graph::use_page_locked(const std::string& stream) {
    require_open();
    auto& end = m_streams[m_smallest.find(stream)];
    if (end.memory == nullptr)
        throw transfer_error(status::invalid_value,
                             std::string("'").append(stream).append("' is not a stream of host memory"));
    end.page_locked = true;
}

void stream_graph::set_file_offset(const std::string& stream, std::int64_t offset) {
    const std::lock_guard lock(m_run_mutex);
    if (m_executing) throw transfer_error(status::invalid_operation, "the graph is being executed");
    const auto& end = m_streams[m_smallest.find(stream)];
    if (!end.use_offset)
        throw transfer_error(status::invalid_value,
                             std::string("'").append(stream).append("' is not a stream of a descriptor"));
    end.use_offset(offset);
}

void stream_graph::connect(const std::string& source, const std::string& target, edge made) {
    require_open();
    made.source = m_smallest.find(source);
    made.target = m_smallest.find(target);
    if (made.produced_bytes == 0 && made.consumed_bytes == 0) {
        const auto of_source = item_bytes(made.source);
        made.produced_bytes = made.consumed_bytes = of_source != 0 ? of_source : item_bytes(made.target);
    }
    m_smallest.connect(std::move(made));
}

std::size_t stream_graph::item_bytes(std::size_t kernel) const {
    const auto& code = m_kernels[kernel];
    return code.dimensions == 0 ? code.item_bytes * std::max<std::size_t>(code.local[0], 1) : 0;
}

std::vector<device_limits> stream_graph::limits() const {
    std::vector<device_limits> all;
    for (const auto& each : m_devices) all.push_back(each.limits);
    return all;
}

void stream_graph::check_ends() const {
    std::vector<bool> ends(m_compiled.periods.size(), false);
    for (const auto& each : m_compiled.actors)
        if (m_compiled.periods[each.island] != endless || m_streams[each.node].read) ends[each.island] = true;
    for (const auto& each : m_compiled.actors)
        if (!ends[each.island])
            throw transfer_error(status::invalid_operation,
                                 name_of(m_described, each) +
                                     " would fire for ever: no stream that it is connected with ends");
}

double stream_graph::plan(overlap wanted) {
    bool any_overlap = false;
    for (auto& each : m_devices) {
        each.limits.overlap = wanted == overlap::always || (wanted == overlap::where_it_pays && !each.host_memory);
        any_overlap = any_overlap || each.limits.overlap;
    }
    // Copies beside kernels are fast from and to page-locked memory only.
    for (std::size_t i = 0; i < m_smallest.nodes().size(); ++i) {
        m_smallest.nodes()[i].page_locked = m_streams[i].page_locked;
        m_smallest.nodes()[i].direct = m_streams[i].memory != nullptr && (!any_overlap || m_streams[i].page_locked);
    }
    const auto balanced = balance_of(m_smallest);
    const auto smallest = compile(m_smallest, limits());
    const auto costs = estimated_costs(m_smallest, smallest, limits());
    m_batches = choose_batches(m_smallest, balanced, smallest, costs);
    double seconds = 0;
    for (std::size_t island = 0; island < m_batches.size(); ++island)
        seconds += predicted_seconds(smallest, costs, island, m_batches[island]);
    return seconds;
}

bool stream_graph::overlap_pays() {
    const auto one_queue = plan(overlap::never);
    try {
        return plan(overlap::where_it_pays) < one_queue;
    } catch (const transfer_error& error) {
        // Second buffers do not fit.
        if (error.code() != status::mem_object_allocation_failure) throw;
        return false;
    }
}

void stream_graph::record(std::shared_ptr<transfer::recorder> to, std::string name) {
    m_recorder = std::move(to);
    m_name = std::move(name);
}

void stream_graph::initialize(overlap wanted, bool timed) {
    require_open();
    m_timed = timed;
    m_smallest.check_complete();
    const bool own_memory = std::any_of(m_devices.begin(), m_devices.end(),
                                        [](const device& each) { return !each.host_memory; });
    if (wanted == overlap::where_it_pays) {
        // Separate queues do not pay where device memory is host memory: copies and kernels then share processors and
        // memory, and are slower side by side than one after another. Nor do they pay for tokens that take less time
        // than the enqueues.
        if (!own_memory || !overlap_pays()) wanted = overlap::never;
    }
    (void)plan(wanted);
    build();
}

bool stream_graph::has_automatic() const {
    const auto& nodes = m_smallest.nodes();
    return std::any_of(nodes.begin(), nodes.end(), [](const node& each) { return each.automatic; });
}

void stream_graph::build() {
    const auto balanced = balance_of(m_smallest);
    for (;;) {
        try {
            m_described = with_batches(m_smallest, balanced, m_batches);
            m_compiled = compile_with_slack();
            break;
        } catch (const transfer_error& error) {
            // Smaller tokens need less memory.
            if (error.code() != status::mem_object_allocation_failure || !take_smaller(balanced)) throw;
        }
    }
    check_ends();
    for (std::size_t i = 0; i < m_streams.size(); ++i)
        if (m_described.nodes()[i].automatic && m_streams[i].use_token)
            m_streams[i].use_token(m_described.nodes()[i].token_bytes);
    const bool is_timed = m_timed || m_recorder != nullptr;
    std::vector<cl::queue> queues;
    for (const auto& each : m_compiled.lanes) {
        if (each.where == host) {
            queues.emplace_back();
            continue;
        }
        cl_int code = CL_SUCCESS;
        queues.push_back(
            cl::queue::adopt(clCreateCommandQueue(m_devices[each.where].context.get(), m_devices[each.where].id,
                                                  is_timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code)));
        cl::check(code, "creating a command queue on device '" + m_devices[each.where].limits.name + "'");
    }
    m_memory = make_rings(m_compiled, m_devices, queues);
    m_parts = std::make_unique<work_parts>(
        work_parts{m_described, m_compiled, m_devices, m_memory, m_kernels, m_functions, m_streams});
    auto made = std::make_unique<run>(*m_parts, std::move(queues), *m_bell, is_timed);
    if (m_recorder) made->record(*m_recorder, m_name);
    const std::lock_guard lock(m_run_mutex);
    m_run = std::move(made);
}

pipeline stream_graph::compile_with_slack() const {
    const auto known = limits();
    auto compiled = compile(m_described, known);
    const bool any_overlap = std::any_of(known.begin(), known.end(), [](const auto& each) { return each.overlap; });
    if (!any_overlap) return compiled;
    for (auto slack = slack_of(compiled); slack > 0; --slack) {
        try {
            return compile(m_described, known, slack);
        } catch (const transfer_error& error) {
            if (error.code() != status::mem_object_allocation_failure) throw;
        }
    }
    return compiled;
}

bool stream_graph::take_smaller(const balance& balanced) {
    const auto largest = std::max_element(m_batches.begin(), m_batches.end());
    if (*largest == 1) return false;
    do --*largest;
    while (balanced.periods[static_cast<std::size_t>(largest - m_batches.begin())] % *largest != 0);
    return true;
}

void stream_graph::learn() {
    const auto seconds = m_run->seconds();
    if (seconds.empty() || !has_automatic()) return;
    const auto balanced = balance_of(m_smallest);
    const auto smallest = compile(m_smallest, limits());
    const auto costs = measured_costs(estimated_costs(m_smallest, smallest, limits()), seconds, smallest, m_batches);
    const auto better = choose_batches(m_smallest, balanced, smallest, costs);
    double now = 0, then = 0;
    for (std::size_t island = 0; island < better.size(); ++island) {
        if (balanced.periods[island] == endless) continue;
        now += predicted_seconds(smallest, costs, island, m_batches[island]);
        then += predicted_seconds(smallest, costs, island, better[island]);
    }
    // It has to pay for the buffers that are made anew.
    if (then > 0.95 * now) return;
    {
        const std::lock_guard lock(m_run_mutex);
        m_run.reset();
    }
    m_memory = {};
    m_batches = better;
    build();
}

void stream_graph::execute() {
    {
        const std::lock_guard lock(m_run_mutex);
        require_initialized();
        if (m_executing) throw transfer_error(status::invalid_operation, "the graph is being executed");
        m_executing = true;
        m_stop_asked = false;
    }
    struct execution {
        stream_graph& of;
        ~execution() {
            const std::lock_guard lock(of.m_run_mutex);
            of.m_executing = false;
        }
    } const under_way{*this};
    if (m_timed) learn();
    {
        const std::lock_guard lock(m_run_mutex);
        m_run->begin(m_stop_asked);
    }
    m_run->execute();
}

std::size_t stream_graph::token_bytes(const std::string& stream) const {
    require_initialized();
    const auto& named = m_described.nodes()[m_described.find(stream)];
    if (named.token_bytes == 0)
        throw transfer_error(status::invalid_value, std::string("'").append(stream).append("' is not a stream"));
    return named.token_bytes;
}

std::uint64_t stream_graph::token_count(const std::string& stream) {
    const std::lock_guard lock(m_run_mutex);
    require_initialized();
    const auto number = m_smallest.find(stream);
    for (std::size_t i = 0; i < m_compiled.actors.size(); ++i) {
        const auto& each = m_compiled.actors[i];
        const bool stream = each.kind == actor_kind::input || each.kind == actor_kind::output;
        if (each.node == number && stream) return m_run->begun(i);
    }
    throw transfer_error(status::invalid_value, std::string("'").append(stream).append("' is not a stream"));
}

void stream_graph::stop() {
    const std::lock_guard lock(m_run_mutex);
    if (!m_executing) throw transfer_error(status::invalid_operation, "the graph is not being executed");
    m_stop_asked = true;
    if (m_run) m_run->stop();
}

std::string stream_graph::explain() const {
    require_initialized();
    std::vector<double> estimated;
    for (const auto& each : estimated_costs(m_described, m_compiled, limits()))
        estimated.push_back(each.fixed_seconds + each.unit_seconds);
    return graph::explain(m_described, m_compiled, limits(), m_run->seconds(), estimated);
}

std::string stream_graph::to_dot() const {
    require_initialized();
    return graph::to_dot(m_described, m_compiled, limits());
}

} // namespace causeway::graph

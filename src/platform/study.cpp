// SPDX-License-Identifier: Apache-2.0
// Adds up calls and commands, and writes them at the end of the process.
#include "platform/study.hpp"

#include "base/whole_file.hpp"
#include "platform/boundary.hpp"
#include "platform/kernel.hpp"
#include "platform/queue.hpp"
#include "platform/settings.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace causeway::platform {

namespace {

using nlohmann::json;

constexpr std::size_t most_rows = 4096;
constexpr std::size_t most_spans = 200'000;
/// Commands are asked for when the program waits, or when so many may be over.
constexpr std::size_t many_running = 2048;
/// So many in a row that still run: those behind them do, too.
constexpr std::size_t enough_running = 32;

std::uint64_t this_thread() {
    static thread_local const std::uint64_t number = std::hash<std::thread::id>()(std::this_thread::get_id()) | 1;
    return number;
}

double seconds(observer::time time) { return std::chrono::duration<double>(time).count(); }

std::optional<observer::time> profiled(cl_event raw, cl_profiling_info what) {
    cl_ulong time = 0;
    if (calls_of(raw).clGetEventProfilingInfo(raw, what, sizeof time, &time, nullptr) != CL_SUCCESS) return {};
    return observer::time(time);
}

/// What a launch can touch, at most once each: the sizes of its buffers and images.
std::pair<std::uint64_t, std::uint64_t> bytes_of(_cl_kernel& kernel) {
    std::uint64_t read = 0, written = 0;
    const std::lock_guard lock(kernel.mutex);
    for (cl_uint i = 0; i < kernel.argument_count(); ++i)
        if (const auto use = kernel.use_of(i)) (use->how == access::read ? read : written) += use->object->size;
    return {read, written};
}

std::string text_of(const _cl_device_id& device, cl_device_info name) {
    size_t size = 0;
    if (ask_device(device, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    (void)ask_device(device, name, size, text.data(), nullptr);
    return text.c_str();
}

json facts_of(const _cl_device_id& device) {
    return {{"name", text_of(device, CL_DEVICE_NAME)},
            {"driver", device.driver.name},
            {"version", text_of(device, CL_DRIVER_VERSION)},
            {"type", ask<cl_device_type>(device, CL_DEVICE_TYPE)},
            {"compute_units", ask<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)},
            {"largest_group", ask<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)},
            {"memory_alignment", alignment_of(device)},
            {"host_memory", ask<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE}};
}

json sizes(const std::array<size_t, 3>& of, cl_uint dimensions) {
    return std::vector<size_t>(of.begin(), of.begin() + dimensions);
}

/// How long it takes to see one call: two looks at the clock, and the counters.
double cost_of_a_call() {
    constexpr int times = 20'000;
    std::array<std::atomic<observer::time::rep>, 3> counters{};
    const auto begin = observer::now();
    for (int i = 0; i < times; ++i) {
        const auto from = observer::now();
        const auto lasted = observer::now() - from;
        for (auto& each : counters) each.fetch_add(lasted.count(), std::memory_order_relaxed);
    }
    return seconds(observer::now() - begin) / times;
}

} // namespace

study* study::of_process() {
    // Never destroyed: drivers may still call back.
    static study* const one = observer::hears_calls() ? new study : nullptr;
    return one;
}

study::study() : m_process(::getpid()), m_loaded(now()), m_counters(static_cast<std::size_t>(api_call::transfer) + 1) {
    std::atexit([] { of_process()->write(); });
}

void study::called(api_call which, time begin, time end) {
    const auto me = this_thread();
    std::uint64_t nobody = 0;
    if (m_first_thread.load(std::memory_order_relaxed) == 0 && m_first_thread.compare_exchange_strong(nobody, me))
        m_first_call.store(begin.count(), std::memory_order_relaxed);
    auto& counter = m_counters[static_cast<std::size_t>(which)];
    const auto lasted = (end - begin).count();
    counter.count.fetch_add(1, std::memory_order_relaxed);
    (m_first_thread.load(std::memory_order_relaxed) == me ? counter.first_thread : counter.others)
        .fetch_add(lasted, std::memory_order_relaxed);
    if (auto longest = counter.longest.load(std::memory_order_relaxed); lasted > longest)
        counter.longest.compare_exchange_strong(longest, lasted, std::memory_order_relaxed);
    m_last_call.store(end.count(), std::memory_order_relaxed);
}

std::size_t study::number_of(const _cl_device_id& device) {
    const auto [found, is_new] = m_device_numbers.emplace(&device, m_devices.size());
    if (is_new) m_devices.push_back(facts_of(device).dump(-1, ' ', false, json::error_handler_t::replace));
    return found->second;
}

study::row& study::row_of(api_call which, const command_shape& shape) {
    const auto* const device = shape.queue->device.get();
    // Copies are alike up to a factor of two.
    const std::string_view kernel = shape.kernel != nullptr ? std::string_view(shape.kernel->name) : std::string_view();
    const auto wanted = std::tuple(which, kernel, device, shape.dimensions, shape.global, shape.local,
                                   shape.kernel != nullptr ? 0U : static_cast<unsigned>(std::bit_width(shape.bytes)));
    if (const auto known = m_rows.find(wanted); known != m_rows.end()) return known->second;
    row_key key(wanted);
    if (m_rows.size() >= most_rows) key = {which, std::string(kernel), device, 0, {}, {}, 0};
    auto& found = m_rows[key];
    if (found.count == 0) {
        found.which = which;
        found.kernel = std::get<1>(key);
        found.device = number_of(*device);
        found.dimensions = std::get<3>(key);
        found.global = std::get<4>(key);
        found.local = std::get<5>(key);
    }
    return found;
}

void study::enqueued(api_call which, const command_shape& shape, _cl_event& event, time begin, time end) {
    const auto since = now();
    std::pair<std::uint64_t, std::uint64_t> bytes{shape.bytes, shape.bytes};
    if (shape.kernel != nullptr) bytes = bytes_of(*shape.kernel);
    bool are_many = false;
    {
        const std::lock_guard lock(m_mutex);
        auto& of = row_of(which, shape);
        const bool is_first = of.count == 0;
        ++of.count;
        if (shape.blocks) {
            ++of.blocking;
            if (m_first_thread.load(std::memory_order_relaxed) == this_thread()) of.blocked += end - begin;
        }
        if (shape.waits != 0) ++of.waited;
        of.bytes_read += bytes.first;
        of.bytes_written += bytes.second;
        of.in_call += end - begin;
        if (is_first) of.first_in_call = end - begin;
        m_running.push_back({ref<_cl_event>(&event), &of, begin, end, is_first});
        are_many = m_running.size() >= many_running && m_running.size() % (many_running / 4) == 0;
    }
    m_bookkeeping.fetch_add((now() - since).count(), std::memory_order_relaxed);
    if (are_many) settle();
}

study::outcome study::look_at(running& command) {
    const auto status = command.event->status();
    if (status > CL_COMPLETE) return outcome::still_runs;
    auto& of = *command.of;
    if (status < CL_COMPLETE) {
        ++of.failed;
        return outcome::over;
    }
    auto* const raw = command.event->raw();
    if (raw == nullptr) return outcome::over;
    const auto queued = profiled(raw, CL_PROFILING_COMMAND_QUEUED);
    const auto began = profiled(raw, CL_PROFILING_COMMAND_START);
    const auto ended = profiled(raw, CL_PROFILING_COMMAND_END);
    if (!queued || !began || !ended || *ended < *began) return outcome::over;
    // Devices have clocks of their own; a command was queued at a time that the host knows. Intel's runtime (2026.2)
    // has some that were queued at 0.
    const auto waited = *queued > time::zero() && *began >= *queued ? *began - *queued : time::zero();
    const auto lasted = *ended - *began;
    ++of.timed;
    of.to_start += waited;
    of.total += lasted;
    of.shortest = std::min(of.shortest, lasted);
    of.longest = std::max(of.longest, lasted);
    if (command.is_first) {
        of.first_to_start = waited;
        of.first = lasted;
    }
    const auto from = command.begin + waited;
    const auto to = from + lasted;
    m_busy += std::max(time::zero(), to - std::max(from, m_busy_until));
    m_busy_until = std::max(m_busy_until, to);
    if (m_spans.size() < most_spans)
        m_spans.push_back({&of, from, to});
    else
        ++m_left_out;
    return outcome::over;
}

void study::settle() {
    std::vector<running> let_go; // without the lock: what an event holds may call the program
    const auto since = now();
    {
        const std::lock_guard lock(m_mutex);
        let_go.swap(m_over);
        std::vector<running> still;
        while (!m_running.empty() && still.size() < enough_running) {
            auto command = std::move(m_running.front());
            m_running.pop_front();
            if (look_at(command) == outcome::over)
                m_over.push_back(std::move(command));
            else
                still.push_back(std::move(command));
        }
        while (!still.empty()) {
            m_running.push_front(std::move(still.back()));
            still.pop_back();
        }
    }
    let_go.clear();
    m_bookkeeping.fetch_add((now() - since).count(), std::memory_order_relaxed);
}

std::string study::report() const {
    const auto ended = now();
    json calls = json::array();
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < m_counters.size(); ++i) {
        const auto& one = m_counters[i];
        if (one.count == 0) continue;
        count += one.count;
        calls.push_back({{"function", name_of(static_cast<api_call>(i))},
                         {"count", one.count.load()},
                         {"seconds", seconds(time(one.first_thread))},
                         {"seconds_in_other_threads", seconds(time(one.others))},
                         {"longest", seconds(time(one.longest))}});
    }
    json devices = json::array();
    for (const auto& each : m_devices) devices.push_back(json::parse(each));
    json commands = json::array(), spans = json::array();
    std::map<const row*, std::size_t> numbers;
    for (const auto& [key, of] : m_rows) {
        numbers.emplace(&of, commands.size());
        commands.push_back({{"function", name_of(of.which)},
                            {"device", of.device},
                            {"count", of.count},
                            {"blocking", of.blocking},
                            {"with_wait_list", of.waited},
                            {"timed", of.timed},
                            {"failed", of.failed},
                            {"bytes_read", of.bytes_read},
                            {"bytes_written", of.bytes_written},
                            {"in_call", seconds(of.in_call)},
                            {"blocked", seconds(of.blocked)},
                            {"to_start", seconds(of.to_start)},
                            {"seconds", seconds(of.total)},
                            {"shortest", of.timed == 0 ? 0 : seconds(of.shortest)},
                            {"longest", seconds(of.longest)},
                            {"first",
                             {{"in_call", seconds(of.first_in_call)},
                              {"to_start", seconds(of.first_to_start)},
                              {"seconds", seconds(of.first)}}}});
        if (of.kernel.empty()) continue;
        auto& launch = commands.back();
        launch["kernel"] = of.kernel;
        launch["global"] = sizes(of.global, of.dimensions);
        launch["local"] = of.local[0] == 0 ? json() : sizes(of.local, of.dimensions);
    }
    for (const auto& one : m_spans)
        spans.push_back({numbers.at(one.of), one.begin.count(), (one.end - one.begin).count()});
    std::string words;
    std::istringstream line(read_file("/proc/self/cmdline").value_or(""));
    for (std::string word; std::getline(line, word, '\0');) words += (words.empty() ? "" : " ") + word;
    const auto each_call = cost_of_a_call();
    return json{{"program", words},
                {"process", m_process},
                {"loaded", m_loaded.count()},
                {"first_call", m_first_call.load()},
                {"last_call", m_last_call.load()},
                {"ended", ended.count()},
                {"calls", calls},
                {"devices", devices},
                {"commands", commands},
                {"spans", spans},
                {"spans_left_out", m_left_out},
                {"busy", seconds(m_busy)},
                {"still_running", m_running.size()},
                {"observer",
                 {{"calls", count},
                  {"seconds_per_call", each_call},
                  {"seconds", each_call * static_cast<double>(count) + seconds(time(m_bookkeeping))}}}}
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

void study::write() {
    if (::getpid() != m_process || m_first_call == 0) return; // a child of fork() has the counts of its parent
    const auto path = settings().text(option::study) + "/" + std::to_string(m_process) + ".json";
    std::string text;
    try {
        const std::lock_guard lock(m_mutex);
        text = report();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway: the study of process %d is lost: %s\n", m_process, error.what());
        return;
    }
    if (!write_file(path + ".new", text) || std::rename((path + ".new").c_str(), path.c_str()) != 0)
        std::fprintf(stderr, "causeway: cannot write the study of this process to %s: %s\n", path.c_str(),
                     std::strerror(errno));
}

} // namespace causeway::platform

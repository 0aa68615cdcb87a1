// SPDX-License-Identifier: Apache-2.0
// What a program can add to its timeline.
#include "capi/cluster.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "trace/collection.hpp"

#include <causeway/trace.h>

#include <string>
#include <vector>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

int causeway_trace_command(cl_event event, const char* name, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list) {
    bool is_recorded = false;
    (void)guard([&] {
        auto* const to = timeline_of_process();
        if (to == nullptr || event == nullptr) return 0;
        std::vector<std::uint64_t> transfers;
        for (cl_uint i = 0; event_wait_list != nullptr && i < num_events_in_wait_list; ++i)
            if (const auto known = runtime::instance().events().find(event_wait_list[i]); known.command)
                transfers.push_back(known.command->number());
        if (const auto* const cluster = cluster_of(event)) {
            // Ranks would ask one another for the status of the program's event, and not all are there when one asks.
            cluster->when_over_here(event, [to, kept = std::string(name != nullptr ? name : "")](void* raw) {
                to->command_over(static_cast<cl_event>(raw), kept);
            });
        } else {
            to->watch(event, name, transfers);
        }
        is_recorded = true;
        return 0;
    });
    return is_recorded ? 1 : 0;
}

int causeway_trace_call(const char* kind, const char* name, unsigned long long begin, unsigned long long end,
                        unsigned long long bytes) {
    bool is_recorded = false;
    (void)guard([&] {
        auto* const to = timeline_of_process();
        if (to == nullptr || kind == nullptr || name == nullptr || end < begin) return 0;
        is_recorded = to->call_over(
            {kind, name, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), bytes});
        return 0;
    });
    return is_recorded ? 1 : 0;
}

int causeway_trace_collect(const char* file) {
    int added = -1;
    (void)guard([&] {
        if (file == nullptr) throw transfer_error(status::invalid_value, "the name of the timeline is null");
        added = static_cast<int>(trace::add_left_parts(file));
        return 0;
    });
    return added;
}

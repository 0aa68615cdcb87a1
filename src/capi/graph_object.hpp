// SPDX-License-Identifier: Apache-2.0
// The graph behind the handle of the C interface, and how its functions begin.
#pragma once

#include "runtime/guard.hpp"
#include "graph/stream_graph.hpp"

#include <causeway/graph.h>

#include <string>

struct causeway_graph {
    causeway_graph(const causeway::cl::context& shared, cl_device_id id)
        : built(shared, id), context(shared), device(id) {}

    causeway::graph::stream_graph built;
    causeway::cl::context context;
    cl_device_id device = nullptr;
    std::string text; // of the last explain or to_dot
};

namespace causeway::capi {

using namespace core;

[[noreturn]] inline void refuse(const std::string& text) { throw transfer_error(status::invalid_value, text); }

inline void require(const void* pointer, const char* what) {
    if (pointer == nullptr) refuse(std::string(what) + " is null");
}

/// Calls `action` with `graph` inside guard(); refuses a null `graph`.
template <class Action> cl_int with(causeway_graph* graph, Action action) {
    return guard([&] {
        require(graph, "the graph");
        action(*graph);
        return CL_SUCCESS;
    });
}

} // namespace causeway::capi

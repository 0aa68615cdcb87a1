// SPDX-License-Identifier: Apache-2.0
// The routes that `causeway perf` knows. A new one is a row of the table in routes.cpp and a function here.
#pragma once

#include "perf/bench.hpp"

#include <span>
#include <string>
#include <vector>

namespace perf {

/// The devices that the user chose.
struct devices {
    std::vector<cl_device_id> of_platform; // of the chosen platform
    std::size_t chosen = 0;                // of them
    bool forced = false;                   // by --device

    [[nodiscard]] cl_device_id first() const { return of_platform[chosen]; }
    /// Another device of the platform, or null.
    [[nodiscard]] cl_device_id second() const {
        return of_platform.size() < 2 || forced ? nullptr : of_platform[(chosen + 1) % of_platform.size()];
    }
};

struct route {
    std::string name;
    int ranks;
    std::string sentence;
};

std::span<const route> all_routes();

/// Names of the routes for this number of ranks that match `wanted`; all if it is empty. Throws usage_error for a word
/// that is no route, or one for another number of ranks; the message says how to run it.
std::vector<std::string> choose_routes(const std::vector<std::string>& wanted, int ranks);

/// The few routes for this number of ranks that give an overview.
std::vector<std::string> first_routes(int ranks);

/// Measures what the session wants, in the order of the table.
void run_routes(session& session, const devices& on);

// Each measures those of its routes that the session wants, at all sizes.
void file_routes(session& session, const devices& on);
void enqueue_route(session& session, const devices& on);
void peer_routes(session& session, const devices& on);
void kernel_file_routes(session& session, const devices& on);

// Collective over two ranks. `suffix` says what the ranks' devices are: "/same-device" or "/two-devices".
void rank_routes(session& session, const bench_device& where, const std::string& suffix);
void rank_host_routes(session& session, const bench_device& where);
void rank_crowd_routes(session& session, const bench_device& where, const std::string& suffix);
void rank_latency_routes(session& session, const bench_device& where, const std::string& suffix);
void rank_kernel_route(session& session, const bench_device& where, const std::string& suffix);
void one_sided_routes(session& session, const bench_device& where, const std::string& suffix);

} // namespace perf

// SPDX-License-Identifier: Apache-2.0
// Machines as hwloc describes them: numbers in another order than places, memory without cores.
#include "base/error.hpp"
#include "topology/hwloc_handle.hpp"
#include "topology/machine.hpp"

#include <causeway/tasks_simulator.h>

#include <hwloc.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace causeway;
using namespace causeway::topology;

std::uint64_t firmware_distance(unsigned from, unsigned to) { return from == to ? 10 : 16 + from + 4 * to; }

/// Four nodes whose numbers are not in the order of their places, with a distance for each pair, listed in an order of
/// its own.
std::string write_permuted_machine() {
    hwloc_handle handle;
    hwloc_topology_set_synthetic(handle.get(), "node:4(indexes=2,0,3,1) l3:1(size=1MB) core:2 pu:1");
    if (hwloc_topology_load(handle.get()) != 0)
        throw transfer_error(status::invalid_value, "hwloc refuses the machine");
    std::vector<hwloc_obj_t> listed;
    for (const unsigned index : {3u, 1u, 0u, 2u})
        listed.push_back(hwloc_get_numanode_obj_by_os_index(handle.get(), index));
    std::vector<hwloc_uint64_t> values;
    for (auto* const from : listed)
        for (auto* const to : listed) values.push_back(firmware_distance(from->os_index, to->os_index));
    auto* const made = hwloc_distances_add_create(
        handle.get(), "firmware", HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    const auto path = std::filesystem::temp_directory_path() / ("machine." + std::to_string(::getpid()) + ".xml");
    if (!made || hwloc_distances_add_values(handle.get(), made, 4, listed.data(), values.data(), 0) != 0 ||
        hwloc_distances_add_commit(handle.get(), made, 0) != 0 ||
        hwloc_topology_export_xml(handle.get(), path.c_str(), 0) != 0)
        throw transfer_error(status::invalid_value, "hwloc refuses the distances");
    return path;
}

TEST(machine, has_distances_by_the_numbers_of_nodes_in_whatever_order_they_are_listed) {
    const auto path = write_permuted_machine();
    const auto read = described_machine(path);
    std::filesystem::remove(path);
    ASSERT_EQ(read.nodes.size(), 4u);
    for (std::size_t from = 0; from < 4; ++from)
        for (std::size_t to = 0; to < 4; ++to)
            EXPECT_DOUBLE_EQ(
                read.distance(from, to),
                static_cast<double>(firmware_distance(read.nodes[from].os_index, read.nodes[to].os_index)) / 10)
                << from << " to " << to;
    for (const auto& core : read.cores) // two to each node, whose numbers are those of its place
        EXPECT_EQ(read.nodes[core.node].os_index, (std::vector<unsigned>{2, 0, 3, 1})[core.os_index / 2]);
}

TEST(machine, of_a_file_runs_the_papers_programs_in_the_simulator) {
    const auto path = write_permuted_machine();
    causeway_simulation asked{.machine = path.c_str(), .program = "map", .policy = "locality"};
    causeway_simulation_result found{};
    EXPECT_EQ(causeway_tasks_simulate(&asked, &found), CAUSEWAY_TASKS_SUCCESS) << causeway_tasks_last_error();
    EXPECT_EQ(found.tasks, 48u);
    EXPECT_EQ(found.remote_bytes, 0);
    asked.policy = "work-stealing";
    EXPECT_EQ(causeway_tasks_simulate(&asked, &found), CAUSEWAY_TASKS_SUCCESS);
    EXPECT_GT(found.remote_bytes, found.own_bytes);
    std::filesystem::remove(path);
}

TEST(machine, has_cores_beside_the_first_of_several_memories_and_none_beside_the_others) {
    const auto read = described_machine("package:2 [numa(memory=1GB)] [numa(memory=8GB)] core:3 pu:1");
    ASSERT_EQ(read.nodes.size(), 4u);
    unsigned with_cores = 0;
    for (const auto& node : read.nodes) with_cores += node.cores.empty() ? 0 : 1;
    EXPECT_EQ(with_cores, 2u);
    EXPECT_EQ(read.cores.size(), 6u);
}

TEST(machine, whose_cores_nobody_tells_of_has_one_for_each_hardware_thread) {
    const auto machine = described_machine("node:4 l3:1(size=6MB) pu:2");
    EXPECT_EQ(machine.cores.size(), 8u);
    EXPECT_EQ(machine.nodes[3].cores.size(), 2u);
    EXPECT_EQ(machine.cores_per_cache, 2u);
}

TEST(machine, that_nobody_can_read_is_refused) {
    EXPECT_THROW((void)described_machine("nowhere.xml"), transfer_error);
    EXPECT_THROW((void)described_machine("a machine of words"), transfer_error);
}

} // namespace

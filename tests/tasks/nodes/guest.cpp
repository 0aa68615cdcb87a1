// SPDX-License-Identifier: Apache-2.0
// The first process of a machine with 8 memory nodes that have a core, and one that has none: binds memory by the
// library, and asks the kernel where pages are. Once more in a process that may use four of the nodes.
#include "topology/binding.hpp"
#include "topology/machine.hpp"

#include <causeway/tasks.hpp>

#include <sched.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace causeway;

int failures = 0;

void check(bool holds, const std::string& what) {
    if (holds) return;
    ++failures;
    std::printf("guest: FAILED: %s\n", what.c_str());
}

const topology::machine& here() {
    static const auto machine = topology::this_machine();
    return machine;
}

/// Kilobytes of this process that lie in huge pages.
unsigned long huge_kilobytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    unsigned long found = 0;
    for (std::string line; std::getline(file, line);) std::sscanf(line.c_str(), "AnonHugePages: %lu", &found);
    return found;
}

/// Of this process.
std::ptrdiff_t mappings() {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

enum class huge_pages { none, some, either };

/// Every page of the memory, once it is touched, lies where the library says; all on one node if `least_nodes` is 1.
/// Returns the first page's node, as the library numbers them.
int check_pages(const std::string& what, void* memory, std::size_t bytes, std::size_t least_nodes,
                huge_pages huge = huge_pages::either) {
    check(memory != nullptr, what + ": no memory: " + causeway_tasks_last_error());
    if (!memory) return -1;
    std::memset(memory, 1, bytes);
    std::vector<bool> seen(here().nodes.size());
    std::size_t wrong = 0, pages = 0;
    for (std::size_t each = 0; each < bytes; each += 4096, ++pages) {
        const auto* const page = static_cast<char*>(memory) + each;
        const int told = causeway_node_of_address(page), found = topology::node_of_page(page);
        if (told < 0 || found != static_cast<int>(here().nodes[static_cast<std::size_t>(told)].os_index))
            ++wrong;
        else
            seen[static_cast<std::size_t>(told)] = true;
    }
    if (huge != huge_pages::either)
        check((huge_kilobytes() > 0) == (huge == huge_pages::some),
              what + ": " + std::to_string(huge_kilobytes()) + " KB in huge pages");
    const auto nodes = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    check(wrong == 0, what + ": " + std::to_string(wrong) + " of " + std::to_string(pages) + " pages lie elsewhere");
    check(least_nodes == 1 ? nodes == 1 : nodes >= least_nodes, what + ": on " + std::to_string(nodes) + " nodes");
    std::printf("guest: %s: %zu pages on %zu nodes\n", what.c_str(), pages, nodes);
    const int first = causeway_node_of_address(memory);
    causeway_free(memory);
    return first;
}

/// Allocations in coarse memory lie on one node each, the next one on the next node.
void check_coarse(const std::string& what, std::size_t nodes) {
    std::set<int> seen;
    for (std::size_t each = 0; each < nodes; ++each)
        seen.insert(check_pages(what, causeway_malloc(20 * 4096, CAUSEWAY_DISTRIBUTION_COARSE), 20 * 4096, 1));
    check(seen.size() == nodes, what + ": allocations in turn are on " + std::to_string(seen.size()) + " nodes");
}

/// On each core in turn: local memory lies on the core's node.
void check_local() {
    cpu_set_t all;
    check(::sched_getaffinity(0, sizeof all, &all) == 0, "the thread's cores are not known");
    for (const auto& core : here().cores) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core.os_index, &one);
        check(::sched_setaffinity(0, sizeof one, &one) == 0, "the thread does not go to a core");
        const int node = check_pages("local", causeway_malloc(20 * 4096, CAUSEWAY_DISTRIBUTION_LOCAL), 20 * 4096, 1);
        check(node == static_cast<int>(core.node),
              "local memory of node " + std::to_string(core.node) + " is on node " + std::to_string(node));
    }
    ::sched_setaffinity(0, sizeof all, &all);
}

void check_memory() {
    for (int round = 0; round < 3; ++round)
        check_pages("fine", causeway_malloc(200 * 4096, CAUSEWAY_DISTRIBUTION_FINE), 200 * 4096, 8);
    check_coarse("coarse", 8);
    const auto before = mappings();
    void* const fine = causeway_malloc(256 * 4096, CAUSEWAY_DISTRIBUTION_FINE);
    check(mappings() <= before + 3, "mappings of fine pages: " + std::to_string(mappings() - before));
    check_pages("fine in one mapping", fine, 256 * 4096, 8);
    // Large enough for huge pages, which have one node each.
    check_pages("fine where huge pages would fit", causeway_malloc(8 << 20, CAUSEWAY_DISTRIBUTION_FINE), 8 << 20, 8,
                huge_pages::none);
    check_pages("coarse in huge pages", causeway_malloc(8 << 20, CAUSEWAY_DISTRIBUTION_COARSE), 8 << 20, 1,
                huge_pages::some);
    check_local();
    check_pages("units of 64 KiB", causeway_malloc_units(1 << 20, CAUSEWAY_DISTRIBUTION_FINE, 65536), 1 << 20, 8);
    check_pages("units of 2 MiB", causeway_malloc_units(8 << 20, CAUSEWAY_DISTRIBUTION_FINE, 2 << 20), 8 << 20, 4);
    check_pages("blocks in order",
                causeway_malloc_placed(
                    64 * 4096, 0,
                    [](void*, std::uint64_t unit, std::uint64_t units, unsigned nodes) {
                        return static_cast<unsigned>(unit * nodes / units);
                    },
                    nullptr),
                64 * 4096, 8);
    void* const standard = causeway_malloc(100 * 4096, CAUSEWAY_DISTRIBUTION_DEFAULT);
    check(standard && causeway_node_of_address(standard) == -1, "the default distribution is not the standard one");
    causeway_free(standard);
    check(causeway_unbound_allocations() == 0, "the system refused to bind");
    int mode = -1;
    check(::syscall(SYS_get_mempolicy, &mode, nullptr, 0ul, nullptr, 0ul) == 0 && mode == 0,
          "the thread's own policy is not the default one any more");
    int stack = 0;
    check(causeway_node_of_address(&stack) == -1, "the stack is the library's");
}

void check_tasks() {
    task_pool pool({.policy = CAUSEWAY_TASK_POLICY_LOCALITY_PAPER, .threads = 8, .no_callers = 1});
    constexpr std::size_t bytes = 32u << 20; // beyond any cache that the machine pretends to have
    std::vector<char*> blocks;
    for (int each = 0; each < 8; ++each)
        blocks.push_back(static_cast<char*>(causeway_malloc(bytes, CAUSEWAY_DISTRIBUTION_COARSE)));
    std::atomic<int> near{0};
    task_group group(pool);
    for (auto* block : blocks)
        group.spawn(
            [&near, block] {
                unsigned cpu = 0, node = 0;
                ::getcpu(&cpu, &node);
                if (static_cast<int>(node) == causeway_node_of_address(block)) ++near;
            },
            {causeway::inout(block, bytes)});
    group.wait();
    std::printf("guest: %d of 8 tasks ran on the node of their data\n", near.load());
    check(near == 8, "tasks ran away from their data, which Algorithm 2 spares here");
    for (auto* block : blocks) causeway_free(block);
}

/// The default policy lets thieves that starve take what is dealt, so it is checked where tasks are dealt, not where
/// they run.
void check_default_policy() {
    task_pool pool;
    check(pool.statistics().threads == 8, "threads of the default pool: " + std::to_string(pool.statistics().threads));
    constexpr std::size_t bytes = 32u << 20;
    std::vector<char*> blocks;
    for (int each = 0; each < 8; ++each)
        blocks.push_back(static_cast<char*>(causeway_malloc(bytes, CAUSEWAY_DISTRIBUTION_COARSE)));
    std::atomic<int> ran{0}, near{0};
    task_group all(pool);
    all.spawn([&] {
        task_group group(pool);
        for (auto* block : blocks)
            group.spawn(
                [&, block] {
                    unsigned cpu = 0, node = 0;
                    ::getcpu(&cpu, &node);
                    if (static_cast<int>(node) == causeway_node_of_address(block)) ++near;
                    ++ran;
                },
                {causeway::inout(block, bytes)});
        group.wait();
    });
    all.wait();
    std::printf("guest: by default %d of 8 tasks ran on the node of their data\n", near.load());
    check(ran == 8, "tasks that ran under the default policy: " + std::to_string(ran.load()));
    check(pool.statistics().dealt == 8, "the default policy dealt " + std::to_string(pool.statistics().dealt));
    for (auto* block : blocks) causeway_free(block);
}

/// A policy of the program is asked what holds, and its answer is followed.
void check_policy_of_the_program() {
    struct notes {
        std::atomic<int> asked{0}, wrong{0};
    } noted;
    const auto deal = [](void* user, const causeway_deal* task) {
        auto& its = *static_cast<notes*>(user);
        ++its.asked;
        const int node = task->most_used_node;
        if (task->nodes != 9 || task->bytes != 40 * 4096 || node < 0 || node > 7 || task->own_node > 7 ||
            task->bytes_on_node[node] != 40 * 4096)
            ++its.wrong;
        return node;
    };
    task_pool pool({.threads = 8, .no_callers = 1, .deal = deal, .user = &noted});
    std::vector<char*> blocks;
    for (int each = 0; each < 16; ++each)
        blocks.push_back(static_cast<char*>(causeway_malloc(40 * 4096, CAUSEWAY_DISTRIBUTION_COARSE)));
    task_group all(pool);
    all.spawn(
        [&] {
            task_group group(pool);
            for (auto* block : blocks) group.spawn([] {}, {most_used(causeway::inout(block, 40 * 4096))});
            group.wait();
        },
        {most_used(causeway::in(blocks[0], 40 * 4096))});
    all.wait();
    check(noted.asked == 17 && noted.wrong == 0, "a policy of the program: asked " + std::to_string(noted.asked) +
                                                     " times, " + std::to_string(noted.wrong) + " wrong");
    check(pool.statistics().dealt == 16, "dealt by it: " + std::to_string(pool.statistics().dealt));
    for (auto* block : blocks) causeway_free(block);
}

/// Of a pseudo file of the kernel.
bool write_word(const char* path, const char* word) {
    auto* const file = std::fopen(path, "w");
    if (!file) return false;
    const bool written = std::fputs(word, file) >= 0;
    return std::fclose(file) == 0 && written;
}

/// A process that may use nodes 2, 3, 5 and 8, of which the last one has no core.
int check_forbidden_nodes() {
    const auto& machine = here();
    check(machine.nodes.size() == 4 && machine.nodes[0].os_index == 2 && machine.nodes[2].os_index == 5,
          "nodes of the part: " + std::to_string(machine.nodes.size()));
    check(machine.cores.size() == 3, "cores of the part: " + std::to_string(machine.cores.size()));
    for (int round = 0; round < 4; ++round)
        check_pages("fine on a part", causeway_malloc(100 * 4096, CAUSEWAY_DISTRIBUTION_FINE), 100 * 4096, 3);
    check_coarse("coarse on a part", 3);
    check_pages("by OMP_DATA_DISTRIBUTION", causeway_malloc(100 * 4096, CAUSEWAY_DISTRIBUTION_DEFAULT), 100 * 4096, 3);
    check(causeway_unbound_allocations() == 0, "the system refused to bind on a part");
    const task_pool pool;
    check(pool.statistics().threads == 3, "threads on a part: " + std::to_string(pool.statistics().threads));
    return failures == 0 ? 0 : 1;
}

void run_on_some_nodes() {
    ::mkdir("/cgroup", 0755);
    check(::mount("cgroup", "/cgroup", "cgroup2", 0, nullptr) == 0, "no control groups");
    check(write_word("/cgroup/cgroup.subtree_control", "+cpuset"), "no groups of processors and nodes");
    ::mkdir("/cgroup/some", 0755);
    check(write_word("/cgroup/some/cpuset.cpus", "2-3,5") && write_word("/cgroup/some/cpuset.mems", "2-3,5,8"),
          "the group takes no processors or nodes");
    ::setenv("OMP_DATA_DISTRIBUTION", "fine", 1);
    const pid_t child = ::fork();
    if (child == 0) {
        if (write_word("/cgroup/some/cgroup.procs", std::to_string(::getpid()).c_str()))
            ::execl("/init", "/init", "part", nullptr);
        ::_exit(1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    check(status == 0, "the process that may use some nodes: status " + std::to_string(status));
}

} // namespace

int main(int argc, char**) {
    if (argc > 1 && ::getpid() != 1) {
        std::setvbuf(stdout, nullptr, _IONBF, 0);
        return check_forbidden_nodes();
    }
    ::mkdir("/proc", 0755);
    ::mkdir("/sys", 0755);
    ::mount("proc", "/proc", "proc", 0, nullptr);
    ::mount("sysfs", "/sys", "sysfs", 0, nullptr);
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    try {
        check(write_word("/sys/kernel/mm/transparent_hugepage/enabled", "always"), "no huge pages");
        check(here().nodes.size() == 9, "nodes: " + std::to_string(here().nodes.size()));
        check(here().nodes[8].cores.empty(), "the ninth node has cores");
        check(here().cores.size() == 8, "cores: " + std::to_string(here().cores.size()));
        for (std::size_t from = 0; from < 9; ++from)
            for (std::size_t to = 0; to < 9; ++to) {
                const double told = from == to             ? 1
                                    : from == 8 || to == 8 ? 2.8
                                                           : topology::opteron_48().distance(from, to);
                check(here().distance(from, to) == told, "a distance is not the one that the machine tells");
            }
        check_memory();
        check_tasks();
        check_default_policy();
        check_policy_of_the_program();
        run_on_some_nodes();
    } catch (const std::exception& error) {
        check(false, error.what());
    }
    std::printf(failures == 0 ? "guest: all right\n" : "guest: %d failures\n", failures);
    ::sync();
    ::reboot(RB_POWER_OFF);
    return 1;
}

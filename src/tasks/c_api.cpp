// SPDX-License-Identifier: Apache-2.0
// causeway/tasks.h: checks arguments, turns exceptions into codes, and owns what the process has one of.
#include "causeway/tasks.h"

#include "base/error.hpp"
#include "tasks/api_boundary.hpp"
#include "tasks/arena.hpp"
#include "tasks/pool_handle.hpp"
#include "tasks/process.hpp"
#include "tasks/worker.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace causeway;
using namespace causeway::tasks;

namespace {

static_assert(sizeof(task_group) <= sizeof(causeway_task_group) && alignof(task_group) <= alignof(causeway_task_group));

task_group& group_of(causeway_task_group* group) { return *std::launder(reinterpret_cast<task_group*>(group)); }
const task_group& group_of(const causeway_task_group* group) {
    return *std::launder(reinterpret_cast<const task_group*>(group));
}
/// C programs may put any number into an enumeration, which C++ may not read as one.
template <class Enumeration> int number_in(const Enumeration& given) {
    static_assert(sizeof(Enumeration) == sizeof(int));
    int number = 0;
    std::memcpy(&number, &given, sizeof number);
    return number;
}

/// Refuses null, a group that is all zeros, and one whose pool was null.
task_group& known(causeway_task_group* group) {
    if (!group) throw transfer_error(status::invalid_value, "a group of tasks: it is null");
    if (!group_of(group).owner())
        throw transfer_error(status::invalid_value, "a group of tasks: it has no pool (causeway_task_group_init())");
    return group_of(group);
}
task* task_of(causeway_task* handle) { return reinterpret_cast<task*>(handle); }

/// Regions as the scheduler has them; a few of them need no memory.
class region_list {
  public:
    region_list(const causeway_region* regions, std::size_t count) : m_count(count) {
        if (count == 0) return;
        if (!regions)
            throw transfer_error(status::invalid_value,
                                 "a task with " + std::to_string(count) + " regions: the list is null");
        if (count > m_few.size()) m_many.resize(count);
        auto* const all = count > m_few.size() ? m_many.data() : m_few.data();
        for (std::size_t each = 0; each < count; ++each) {
            const auto& its = regions[each];
            const auto begin = reinterpret_cast<std::uintptr_t>(its.address);
            const auto refuse = [&](const std::string& why) {
                throw transfer_error(status::invalid_value, "region " + std::to_string(each) + " of a task: " + why);
            };
            const int access = number_in(its.access);
            if (access < 0 || access > 3) refuse("no such access: " + std::to_string(access));
            if (begin + its.bytes < begin) refuse("it goes beyond the last address");
            if (begin == 0 && its.bytes != 0) refuse(bytes_text(its.bytes) + " at null");
            all[each] = {begin, its.bytes, static_cast<tasks::access>(access), its.most_used != 0};
        }
    }
    operator std::span<const region>() const {
        return {m_count > m_few.size() ? m_many.data() : m_few.data(), m_count};
    }

  private:
    std::size_t m_count;
    std::array<region, 8> m_few;
    std::vector<region> m_many;
};

class program_policy final : public policy {
  public:
    program_policy(const topology::machine& machine, causeway_deal_function deal, void* user)
        : m_near(locality_policy(machine, {})), m_deal(deal), m_user(user),
          m_nodes(static_cast<unsigned>(machine.nodes.size())) {}
    grouping group(const topology::machine& machine, std::span<const unsigned> node_of_worker) override {
        auto made = m_near->group(machine, node_of_worker);
        m_node_of_group = made.node_of_group;
        return made;
    }
    bool reads_footprints() const override { return true; }
    unsigned deal(const deal_question& asked) const override {
        const causeway_deal question{m_nodes, asked.bytes_on_node.empty() ? m_zeros.data() : asked.bytes_on_node.data(),
                                     asked.bytes, asked.most_used_node, m_node_of_group[asked.own_group]};
        const int node = m_deal(m_user, &question);
        const auto found = std::find(m_node_of_group.begin(), m_node_of_group.end(), static_cast<unsigned>(node));
        return node < 0 || found == m_node_of_group.end() ? own_queue
                                                          : static_cast<unsigned>(found - m_node_of_group.begin());
    }

  private:
    std::unique_ptr<policy> m_near;
    causeway_deal_function m_deal;
    void* m_user;
    unsigned m_nodes;
    std::vector<unsigned> m_node_of_group;
    std::vector<std::uint64_t> m_zeros = std::vector<std::uint64_t>(m_nodes);
};

std::unique_ptr<policy> policy_of(const causeway_task_pool_options& options) {
    const auto& here = process().here;
    if (options.deal) return std::make_unique<program_policy>(here, options.deal, options.user);
    switch (number_in(options.policy)) {
    case CAUSEWAY_TASK_POLICY_WORK_STEALING: return work_stealing_policy();
    case CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE: return central_policy();
    case CAUSEWAY_TASK_POLICY_DEFAULT:
    case CAUSEWAY_TASK_POLICY_LOCALITY: return locality_policy(here, {});
    case CAUSEWAY_TASK_POLICY_LOCALITY_PAPER: return locality_policy(here, {.load_term = false, .release = false});
    }
    throw transfer_error(status::invalid_value,
                         "a pool of tasks: no policy " + std::to_string(number_in(options.policy)));
}

distribution distribution_of(const causeway_distribution& asked) {
    switch (number_in(asked)) {
    case CAUSEWAY_DISTRIBUTION_DEFAULT: return process().default_distribution;
    case CAUSEWAY_DISTRIBUTION_STANDARD: return distribution::standard;
    case CAUSEWAY_DISTRIBUTION_FINE: return distribution::fine;
    case CAUSEWAY_DISTRIBUTION_COARSE: return distribution::coarse;
    case CAUSEWAY_DISTRIBUTION_LOCAL: return distribution::local;
    }
    throw transfer_error(status::invalid_value, "an allocation: no distribution " + std::to_string(number_in(asked)));
}

/// What the call gives, or null with the cause kept.
template <class Call> void* memory_or_null(Call&& call) {
    void* memory = nullptr;
    (void)guard([&] { memory = call(); });
    return memory;
}

void* allocate(std::size_t bytes, const causeway_distribution& asked, std::size_t unit) {
    return memory_or_null([&]() -> void* {
        const auto how = distribution_of(asked);
        if (how != distribution::standard) return process().memory().allocate({bytes, how, unit, {}});
        void* const memory = bytes > PTRDIFF_MAX ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
        if (!memory) throw std::bad_alloc();
        return memory;
    });
}

} // namespace

const char* causeway_tasks_last_error() { return last_error().c_str(); }

void* causeway_malloc(size_t bytes, causeway_distribution asked) { return allocate(bytes, asked, 0); }

void* causeway_malloc_units(size_t bytes, causeway_distribution asked, size_t unit) {
    return allocate(bytes, asked, unit);
}

void* causeway_malloc_placed(size_t bytes, size_t unit, causeway_unit_placement placement, void* user) {
    return memory_or_null([&] {
        if (!placement)
            throw transfer_error(status::invalid_value,
                                 "an allocation with a placement of the program: the function is null");
        return process().memory().allocate(
            {bytes, distribution::plugin, unit, [=](std::uint64_t which, std::uint64_t all, unsigned nodes) {
                 return placement(user, which, all, nodes);
             }});
    });
}

void causeway_free(void* memory) {
    (void)guard([&] {
        if (memory && !(process().has_memory() && process().memory().release(memory))) std::free(memory);
    });
}

int causeway_node_of_address(const void* address) {
    int node = -1;
    (void)guard([&] {
        if (process().has_memory())
            node = process().memory().addresses().node_of(reinterpret_cast<std::uintptr_t>(address));
    });
    return node;
}

unsigned causeway_node_count() {
    unsigned count = 0;
    (void)guard([&] { count = static_cast<unsigned>(process().here.nodes.size()); });
    return count;
}

uint64_t causeway_unbound_allocations() {
    uint64_t count = 0;
    (void)guard([&] { count = process().has_memory() ? process().memory().unbound() : 0; });
    return count;
}

int causeway_task_pool_create(const causeway_task_pool_options* options, causeway_task_pool** made) {
    return guard([&] {
        if (!made) throw transfer_error(status::invalid_value, "a pool of tasks: the pointer to its handle is null");
        const causeway_task_pool_options given = options ? *options : causeway_task_pool_options{};
        if (given.threads > 4096)
            throw transfer_error(status::invalid_value,
                                 "a pool of tasks: " + std::to_string(given.threads) + " threads; at most 4096");
        const unsigned callers = given.no_callers ? 0 : given.callers == 0 ? 1 : given.callers;
        *made = new causeway_task_pool(process().here, process().memory().addresses(), policy_of(given),
                                       pool_options{given.threads, callers, given.unbound == 0});
    });
}

void causeway_task_pool_release(causeway_task_pool* pool) { delete pool; }

void causeway_task_pool_statistics(const causeway_task_pool* pool, causeway_task_statistics* statistics) {
    if (!statistics) return;
    *statistics = {};
    if (!pool) return;
    const auto sum = pool->statistics();
    *statistics = {sum.tasks, sum.dealt, sum.stolen, sum.stolen_far, pool->threads()};
}

void causeway_task_group_init(causeway_task_group* group, causeway_task_pool* pool) {
    if (group) new (group) task_group(pool, group_of_stack(group));
}

int causeway_task_group_wait(causeway_task_group* handle) {
    const int refused = guard([&] {
        auto& group = known(handle);
        if (!group.is_done()) group.owner()->wait(group); // else its pool may be gone
    });
    if (refused != CAUSEWAY_TASKS_SUCCESS) return refused;
    const auto [failure, cancelled] = group_of(handle).settle();
    if (!failure)
        return !cancelled ? CAUSEWAY_TASKS_SUCCESS
                          : keep_error(CAUSEWAY_TASKS_CANCELLED, "the group of tasks was cancelled");
    try {
        std::rethrow_exception(failure);
    } catch (const transfer_error& error) {
        if (error.code() == status::cancelled) return keep_error(CAUSEWAY_TASKS_CANCELLED, error.what());
        return keep_error(CAUSEWAY_TASKS_FAILED, error.what());
    } catch (const std::exception& error) {
        return keep_error(CAUSEWAY_TASKS_FAILED, "a task threw: ", error.what());
    } catch (...) {
        return keep_error(CAUSEWAY_TASKS_FAILED, "a task threw what is no std::exception");
    }
}

void causeway_task_group_cancel(causeway_task_group* group) {
    if (group) group_of(group).cancel();
}
int causeway_task_group_is_cancelled(const causeway_task_group* group) {
    return group && group_of(group).is_cancelled();
}
void causeway_task_group_release(causeway_task_group* group) {
    if (group) group_of(group).~task_group();
}

int causeway_task_spawn(causeway_task_group* group, causeway_task_function function, void* argument,
                        const causeway_region* regions, size_t count) {
    return guard([&] {
        if (!function) throw transfer_error(status::invalid_value, "a task: its function is null");
        const region_list all(regions, count);
        auto& into = known(group);
        auto* const made = into.owner()->make(0, 1);
        made->function = function;
        made->payload = argument;
        into.owner()->submit(made, into, all);
    });
}

causeway_task* causeway_task_make(causeway_task_pool* pool, size_t bytes, size_t alignment, void** payload) {
    task* made = nullptr;
    (void)guard([&] {
        if (!pool || !payload)
            throw transfer_error(status::invalid_value, pool ? "a task: the pointer to its payload's address is null"
                                                             : "a task: its pool is null");
        if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 32768)
            throw transfer_error(status::invalid_value,
                                 "a task's payload: an alignment of " + std::to_string(alignment));
        made = pool->make(bytes, alignment);
        *payload = made->payload;
    });
    return reinterpret_cast<causeway_task*>(made);
}

void causeway_task_discard(causeway_task_pool* pool, causeway_task* task) {
    if (pool && task) pool->discard(task_of(task));
}

int causeway_task_submit(causeway_task_group* group, causeway_task* handle, causeway_task_function function,
                         causeway_task_function destroy, const causeway_region* regions, size_t count, int flags) {
    if (!group || !group_of(group).owner() || !handle)
        return keep_error(CAUSEWAY_TASKS_INVALID_VALUE,
                          handle ? "a task: its group is null, or has no pool" : "a task: it is null");
    auto* const made = task_of(handle);
    auto& into = group_of(group);
    auto& owner = *into.owner();
    if (function && count == 0 && flags == 0) { // nothing can be refused
        made->function = function;
        made->destroy = destroy;
        return guard([&] { owner.submit(made, into); });
    }
    std::optional<region_list> all;
    const int refused = guard([&] {
        if (!function) throw transfer_error(status::invalid_value, "a task: its function is null");
        if ((flags & ~(CAUSEWAY_TASK_URGENT | CAUSEWAY_TASK_HELD)) != 0)
            throw transfer_error(status::invalid_value, "a task: no such flags: " + std::to_string(flags));
        all.emplace(regions, count);
    });
    if (refused != CAUSEWAY_TASKS_SUCCESS) {
        made->group = &into;
        made->destroy = destroy;
        worker::end_payload(*made);
        owner.discard(made);
        return refused;
    }
    return guard([&] {
        made->function = function;
        made->destroy = destroy;
        made->urgent = (flags & CAUSEWAY_TASK_URGENT) != 0;
        if (flags & CAUSEWAY_TASK_HELD)
            owner.submit_held(made, into, *all);
        else
            owner.submit(made, into, *all);
    });
}

void causeway_task_let_go(causeway_task_pool* pool, causeway_task* task) {
    (void)guard([&] {
        if (pool && task) pool->let_go(task_of(task));
    });
}

// SPDX-License-Identifier: Apache-2.0
// Tasks flow at rates that memory shared with others allows; whenever one begins or ends, rates change.
#include "tasks/simulator/simulator.hpp"

#include "base/error.hpp"
#include "tasks/address_map.hpp"
#include "tasks/dependences.hpp"
#include "tasks/footprint.hpp"
#include "tasks/simulator/region_cache.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace causeway::tasks::simulator {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class run {
  public:
    run(const program& what, const cost_model& where, policy& how, const settings& with)
        : m_program(what), m_model(where), m_policy(how), m_with(with), m_nodes(where.machine.nodes.size()),
          m_random(with.seed), m_map(program::first_address, program::most_bytes, where.unit),
          m_caches(where.machine.cores.size(), where.private_cache, m_nodes, where.machine.cache_bytes) {
        const auto cores = m_model.machine.cores.size();
        const auto count = with.cores == 0 || with.cores > cores ? cores : with.cores;
        std::vector<unsigned> node_of_worker;
        for (std::size_t each = 0; each < count; ++each)
            node_of_worker.push_back(m_model.machine.cores[each * cores / count].node);
        m_groups = m_policy.group(m_model.machine, node_of_worker);
        m_queues.resize(m_groups.groups());
        m_backlog.resize(m_groups.groups());
        for (std::size_t each = 0; each < count; ++each) {
            m_workers.push_back({.node = node_of_worker[each], .group = m_groups.group_of_worker[each]});
            m_queues[m_workers.back().group].members.push_back(static_cast<unsigned>(each));
        }
        m_order.resize(count);
        std::iota(m_order.begin(), m_order.end(), 0u);
        m_node_load.resize(m_nodes);
        m_in_load.resize(m_nodes);
        m_out_load.resize(m_nodes);
        for (unsigned node = 0; node < m_nodes; ++node)
            if (!m_model.machine.nodes[node].cores.empty()) m_memory_nodes.push_back(node);
        for (const auto& each : what.allocations)
            if (each.by == none) place(each, 0);
        build_order();
    }

    run(const run&) = delete;
    run& operator=(const run&) = delete;
    ~run() {
        for (auto& each : m_tasks)
            if (each.node) each.node->release();
    }

    outcome all() {
        // The program's thread is worker 0: it spawns, then works.
        double spawned = 0;
        m_workers[0].busy_until = 0;
        m_workers[0].idle_since = never;
        std::size_t next_root = 0;
        const auto spawn_until = [&](double time) {
            if (next_root == m_roots.size()) return;
            for (; next_root < m_roots.size() && spawned <= time; ++next_root) {
                let_go(m_roots[next_root], 0, false);
                spawned += m_model.spawn + seconds_of_rings();
            }
            m_workers[0].busy_until = next_root < m_roots.size() ? never : spawned;
            m_workers[0].idle_since = m_workers[0].busy_until;
        };
        spawn_until(0);
        while (m_over < m_program.tasks.size()) {
            start_what_can();
            double next = next_root < m_roots.size() ? spawned : never;
            for (const auto& each : m_workers) {
                if (each.task != none)
                    next = std::min(next, m_now + each.left / each.rate);
                else if (each.busy_until > m_now)
                    next = std::min(next, each.busy_until);
                else if (each.starving_since < never && each.starving_since + m_model.patience > m_now)
                    next = std::min(next, each.starving_since + m_model.patience);
            }
            if (next == never)
                throw transfer_error(status::invalid_operation, "the simulation of " + m_program.name + ": " +
                                                                    std::to_string(m_program.tasks.size() - m_over) +
                                                                    " tasks can never run under this policy");
            const double passed = next - m_now;
            // Who ends first has ended then, whatever rounding leaves of it.
            for (auto& each : m_workers)
                if (each.task != none)
                    each.left = m_now + each.left / each.rate <= next ? 0 : each.left - passed * each.rate;
            m_now = next;
            spawn_until(m_now);
            for (unsigned each = 0; each < m_workers.size(); ++each)
                if (m_workers[each].task != none && m_workers[each].left <= 1e-12) end(each);
        }
        m_outcome.seconds = m_now;
        m_outcome.tasks = m_over;
        return std::move(m_outcome);
    }

  private:
    struct worker_state {
        unsigned node = 0, group = 0;
        std::deque<std::uint32_t> queue; ///< the owner's end is the back
        std::uint32_t task = none;
        double left = 0, rate = 1; ///< of the task: what is left of 1, and how much of it goes in a second
        unsigned step = 0;
        double step_begin = 0;
        double compute = 0;        ///< seconds of the step without memory
        double byte_seconds = 0;   ///< of the step, for a byte of the own node
        std::vector<std::pair<unsigned, double>> bytes; ///< of nodes, that the step needs
        double own_bytes = 0, remote_bytes = 0; ///< of the task
        double begin = 0, busy_until = 0, starving_since = never;
        double idle_since = -never; ///< without a task and something to do
        unsigned spared_group = 0, spared_taken = 0; ///< starving since then, beside tasks of this group
        std::size_t next_victim = 0;
    };
    struct group_state {
        std::deque<std::pair<std::uint32_t, double>> inbox; ///< task and its load
        std::vector<unsigned> members;
        unsigned taken = 0;
    };
    struct task_state {
        dependence_node* node = nullptr;
        unsigned children = 0; ///< that are not over
        bool ran = false;
        double ready = 0;
        unsigned from = 0;
        came_by way = came_by::own_queue;
    };

    void build_order() {
        const auto count = m_program.tasks.size();
        m_tasks.resize(count);
        m_children.resize(count);
        std::vector<std::unique_ptr<dependence_domain>> domains;
        for (std::uint32_t each = 0; each < count; ++each) {
            const auto& its = m_program.tasks[each];
            m_tasks[each].node = new dependence_node(reinterpret_cast<void*>(static_cast<std::uintptr_t>(each)));
            while (domains.size() <= its.group) domains.push_back(std::make_unique<dependence_domain>());
            domains[its.group]->enter(*m_tasks[each].node, its.regions);
            if (its.parent == none)
                m_roots.push_back(each);
            else
                m_children[its.parent].push_back(each);
        }
    }

    void place(const simulated_allocation& what, unsigned toucher) {
        layout made;
        made.begin = what.begin;
        made.unit = m_model.unit;
        made.bytes = (what.bytes + made.unit - 1) / made.unit * made.unit;
        made.how = what.how == distribution::standard
                       ? (m_model.uniform_standard ? distribution::fine : distribution::local)
                       : what.how;
        made.nodes = static_cast<unsigned>(m_memory_nodes.size());
        made.turns = m_memory_nodes.data();
        made.node = made.how == distribution::coarse ? m_memory_nodes[m_next_node++ % m_memory_nodes.size()] : toucher;
        m_map.add(made);
    }

    void let_go(std::uint32_t task, unsigned by, bool is_child) {
        if (m_tasks[task].node->let_go()) make_ready(task, by, is_child);
    }

    /// As pool::make_ready().
    void make_ready(std::uint32_t task, unsigned by, bool is_child = false) {
        m_tasks[task].ready = m_now;
        m_tasks[task].from = by;
        if (m_with.greedy) {
            m_greedy.push_back(task);
            return;
        }
        const auto& its = m_program.tasks[task];
        auto& from = m_workers[by];
        deal_question asked{.own_group = from.group};
        if (m_policy.reads_footprints()) {
            m_footprint.measure(m_map, its.regions, m_nodes);
            asked = m_footprint.question(from.group, m_backlog);
        }
        const auto group = m_policy.deal(asked);
        if (group == own_queue) {
            from.queue.push_back(task);
            ring(from.group);
            return;
        }
        ++m_outcome.dealt;
        const double load = m_policy.reads_footprints()
                                ? m_footprint.cost_from(m_model.machine, m_groups.node_of_group[group]) /
                                      static_cast<double>(m_queues[group].members.size())
                                : 0;
        m_backlog[group] += load;
        auto& inbox = m_queues[group].inbox;
        inbox.emplace(is_child ? inbox.begin() : inbox.end(), task, load);
        ring(group);
    }

    bool is_asleep(const worker_state& self) const {
        return m_model.wake > 0 && self.task == none && self.busy_until <= m_now && self.starving_since == never &&
               self.idle_since + m_model.awake < m_now;
    }

    /// As pool::tell_of_work().
    void ring(unsigned group) {
        if (m_model.wake == 0) return;
        const auto wake_one = [&](unsigned which) {
            for (const auto each : m_queues[which].members) {
                auto& self = m_workers[each];
                if (!is_asleep(self)) continue;
                const auto awake = std::count_if(m_workers.begin(), m_workers.end(),
                                                 [this](const auto& other) { return !is_asleep(other); });
                self.busy_until = self.idle_since = m_now + m_model.wake_beside(static_cast<std::size_t>(awake),
                                                                                m_workers.size());
                ++m_rings;
                return true;
            }
            return false;
        };
        if (wake_one(group)) return;
        for (const auto& near : m_groups.victims[group])
            if (wake_one(near.group)) return;
    }
    /// What the rings since the last call have taken.
    double seconds_of_rings() { return static_cast<double>(std::exchange(m_rings, 0)) * m_model.ring; }

    std::uint32_t from_inbox(unsigned group) {
        auto& where = m_queues[group];
        if (where.inbox.empty()) return none;
        const auto [task, load] = where.inbox.front();
        where.inbox.pop_front();
        ++where.taken;
        m_backlog[group] -= load;
        return task;
    }

    std::uint32_t from_members(worker_state& thief, unsigned group) {
        const auto& members = m_queues[group].members;
        for (std::size_t each = 0; each < members.size(); ++each) {
            auto& victim = m_workers[members[(thief.next_victim + each) % members.size()]];
            if (&victim == &thief || victim.queue.empty()) continue;
            thief.next_victim = (thief.next_victim + each) % members.size();
            const auto task = victim.queue.front();
            victim.queue.pop_front();
            ++m_queues[group].taken;
            return task;
        }
        return none;
    }

    /// As worker::find(). Sets `delay` to what it costs.
    std::uint32_t find(worker_state& self, double& delay) {
        delay = 0;
        if (!self.queue.empty()) {
            const auto task = self.queue.back();
            self.queue.pop_back();
            return task;
        }
        if (const auto task = from_inbox(self.group); task != none) {
            m_tasks[task].way = came_by::deal;
            return task;
        }
        delay = m_model.steal;
        if (const auto task = from_members(self, self.group); task != none) {
            ++m_outcome.stolen;
            m_tasks[task].way = came_by::steal;
            return task;
        }
        bool watched_one_is_there = false;
        for (const auto& each : m_groups.victims[self.group]) {
            const auto dealt = static_cast<double>(m_queues[each.group].inbox.size());
            double length = dealt;
            for (const auto member : m_queues[each.group].members)
                length += static_cast<double>(m_workers[member].queue.size());
            if (length == 0) continue;
            if (!m_policy.releases()) {
                if (length <= each.spared) continue;
            } else if (dealt <= each.spared) {
                if (const auto task = from_members(self, each.group); task != none) {
                    ++m_outcome.stolen_far;
                    m_tasks[task].way = came_by::far_steal;
                    return task;
                }
                if (dealt == 0) continue;
                const auto taken = m_queues[each.group].taken;
                watched_one_is_there |= self.spared_group == each.group;
                if (self.starving_since == never || self.spared_group != each.group || self.spared_taken != taken) {
                    if (self.starving_since == never || self.spared_group == each.group) {
                        self.starving_since = m_now;
                        self.spared_group = each.group;
                        self.spared_taken = taken;
                    }
                    continue;
                }
                if (m_now < self.starving_since + m_model.patience * 0.999) continue;
            }
            auto task = from_inbox(each.group);
            if (task == none) task = from_members(self, each.group);
            if (task == none) continue;
            ++m_outcome.stolen_far;
            m_tasks[task].way = came_by::far_steal;
            return task;
        }
        if (!watched_one_is_there) self.starving_since = never;
        return none;
    }

    void start_what_can() {
        if (m_with.greedy) return start_greedily();
        for (bool any = true; any;) {
            any = false;
            std::shuffle(m_order.begin(), m_order.end(), m_random);
            for (const auto each : m_order) {
                auto& self = m_workers[each];
                if (self.task != none || self.busy_until > m_now || is_asleep(self)) continue;
                double delay = 0;
                const auto task = find(self, delay);
                if (task == none) continue;
                begin(each, task, delay);
                any = true;
            }
        }
    }

    void start_greedily() {
        while (!m_greedy.empty()) {
            const auto task = m_greedy.front();
            m_footprint.measure(m_map, m_program.tasks[task].regions, m_nodes);
            auto best = static_cast<unsigned>(m_workers.size());
            double best_cost = never;
            for (unsigned each = 0; each < m_workers.size(); ++each) {
                if (m_workers[each].task != none || m_workers[each].busy_until > m_now) continue;
                double cost = 0;
                for (std::size_t node = 0; node < m_nodes; ++node)
                    cost += static_cast<double>(m_footprint.bytes_on_node[node]) *
                            m_model.factor(m_workers[each].node, node);
                if (cost < best_cost) {
                    best = each;
                    best_cost = cost;
                }
            }
            if (best == m_workers.size()) return;
            m_greedy.pop_front();
            begin(best, task, 0);
        }
    }

    void begin(unsigned which, std::uint32_t task, double delay) {
        auto& self = m_workers[which];
        self.starving_since = never;
        self.task = task;
        self.begin = m_now;
        self.own_bytes = self.remote_bytes = 0;
        for (const auto& each : m_program.allocations)
            if (each.by == task) place(each, self.node);
        for (const auto child : m_children[task]) {
            ++m_tasks[task].children;
            let_go(child, which, true);
        }
        begin_step(which, 0, delay + seconds_of_rings());
    }

    void begin_step(unsigned which, unsigned step, double delay) {
        auto& self = m_workers[which];
        const auto& its = m_program.tasks[self.task];
        self.step = step;
        self.step_begin = m_now;
        self.left = 1;
        self.compute = delay +
                       (its.its.multiplies * m_model.multiply + its.its.others * m_model.other + its.its.seconds) /
                           its.steps;
        m_counts.assign(m_nodes, 0);
        m_bytes.assign(m_nodes, 0);
        double lines = 0;
        const auto begin_of = [&](unsigned which_step) { return its.regions.size() * which_step / its.steps; };
        for (auto each = begin_of(step); each < begin_of(step + 1); ++each) {
            const auto& what = its.regions[each];
            const double passes = its.passes.empty() ? 1 : its.passes[each];
            lines += static_cast<double>(what.bytes) / cost_model::line_bytes;
            if (m_model.shares_cache && m_caches.use(which, self.node, what)) {
                if (its.its.seconds == 0)
                    self.compute += static_cast<double>(what.bytes) * passes * m_model.cached_byte;
                m_outcome.cached_bytes += static_cast<double>(what.bytes) * passes;
                continue;
            }
            std::fill(m_counts.begin(), m_counts.end(), 0);
            m_counts[self.node] += m_map.count(what, m_counts.data()); // of strangers it is not known where: here
            for (std::size_t node = 0; node < m_nodes; ++node)
                m_bytes[node] += static_cast<double>(m_counts[node]) * passes;
        }
        const double operations = (its.its.multiplies + its.its.others) / its.steps;
        self.byte_seconds = m_model.waited_byte > 0 && operations > m_model.run_ahead * lines ? m_model.waited_byte
                                                                                              : m_model.own_byte;
        if (its.its.seconds > 0) take_memory_out(self, its.its.seconds / its.steps);
        self.bytes.clear();
        for (unsigned node = 0; node < m_nodes; ++node)
            if (m_bytes[node] > 0) {
                self.bytes.emplace_back(node, m_bytes[node]);
                (node == self.node ? self.own_bytes : self.remote_bytes) += m_bytes[node];
            }
        change_loads(self, 1);
        set_rates();
    }

    /// A measured time has its memory in it, as long as near memory takes; and regions are what a task may touch, of
    /// which it touches no more than its time allows.
    void take_memory_out(worker_state& self, double measured) {
        const double near = std::accumulate(m_bytes.begin(), m_bytes.end(), 0.0) * m_model.own_byte;
        self.compute -= std::min(near, measured);
        if (near <= measured) return;
        for (auto& each : m_bytes) each *= measured / near;
    }

    /// Seconds of a task that has memory for itself.
    double alone(const worker_state& self) const {
        double seconds = self.compute;
        for (const auto& [node, bytes] : self.bytes)
            seconds += bytes * self.byte_seconds * m_model.factor(self.node, node);
        return std::max(seconds, 1e-12);
    }

    /// What the task would take from nodes and links in a second, had it them for itself.
    void change_loads(const worker_state& self, double sign) {
        const double seconds = alone(self);
        for (const auto& [node, bytes] : self.bytes) {
            m_node_load[node] += sign * bytes / seconds;
            if (node == self.node) continue;
            m_out_load[node] += sign * bytes / seconds;
            m_in_load[self.node] += sign * bytes / seconds;
        }
    }

    void set_rates() {
        const auto over = [](double load, double limit) { return limit > 0 ? std::max(1.0, load / limit) : 1.0; };
        for (auto& self : m_workers) {
            if (self.task == none) continue;
            double seconds = self.compute;
            for (const auto& [node, bytes] : self.bytes) {
                auto slower = over(m_node_load[node], m_model.bandwidth(m_node_load[node]));
                if (node != self.node)
                    slower = std::max({slower, over(m_out_load[node], m_model.link_bandwidth),
                                       over(m_in_load[self.node], m_model.link_bandwidth)});
                seconds += bytes * self.byte_seconds * m_model.factor(self.node, node) * slower;
            }
            self.rate = 1 / std::max(seconds, 1e-12);
        }
    }

    /// The worker's step is over.
    void end(unsigned which) {
        auto& self = m_workers[which];
        const auto task = self.task;
        change_loads(self, -1);
        m_outcome.memory_seconds += m_now - self.step_begin - self.compute;
        if (self.step + 1 < m_program.tasks[task].steps) return begin_step(which, self.step + 1, 0);
        self.task = none;
        set_rates();
        m_outcome.own_bytes += self.own_bytes;
        m_outcome.remote_bytes += self.remote_bytes;
        if (m_with.keep_slices) {
            const double sum = self.own_bytes + self.remote_bytes;
            const auto& its = m_tasks[task];
            m_outcome.slices.push_back(
                {task, which, self.begin, m_now, sum > 0 ? self.remote_bytes / sum : 0, its.ready, its.from, its.way});
        }
        m_tasks[task].ran = true;
        self.idle_since = m_now;
        settle(task, which);
        self.busy_until = self.idle_since = m_now + seconds_of_rings();
    }

    /// The task is over if it ran and its children are.
    void settle(std::uint32_t task, unsigned by) {
        auto& its = m_tasks[task];
        if (!its.ran || (m_program.tasks[task].waits_for_children && its.children != 0)) return;
        ++m_over;
        its.node->finish(
            [&](void* next) { make_ready(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(next)), by); });
        std::exchange(its.node, nullptr)->release();
        if (const auto parent = m_program.tasks[task].parent; parent != none) {
            --m_tasks[parent].children;
            if (m_program.tasks[parent].waits_for_children) settle(parent, by);
        }
    }

    const program& m_program;
    const cost_model& m_model;
    policy& m_policy;
    const settings m_with;
    const std::size_t m_nodes;
    std::mt19937 m_random;
    address_map m_map;
    region_cache m_caches;
    grouping m_groups;
    std::vector<worker_state> m_workers;
    std::vector<unsigned> m_order, m_memory_nodes;
    std::vector<group_state> m_queues;
    std::vector<std::uint64_t> m_counts; ///< of the step that begins, as m_bytes
    std::vector<double> m_bytes;
    std::vector<double> m_backlog, m_node_load, m_in_load, m_out_load;
    std::vector<task_state> m_tasks;
    std::vector<std::vector<std::uint32_t>> m_children;
    std::vector<std::uint32_t> m_roots;
    std::deque<std::uint32_t> m_greedy;
    footprint m_footprint;
    std::size_t m_next_node = 0, m_over = 0, m_rings = 0;
    double m_now = 0;
    outcome m_outcome;
};

} // namespace

outcome simulate(const program& what, const cost_model& where, policy& how, const settings& with) {
    return run(what, where, how, with).all();
}

} // namespace causeway::tasks::simulator

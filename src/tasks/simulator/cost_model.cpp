// SPDX-License-Identifier: Apache-2.0
// Parameters of the modelled machines: from the paper's figures and text, the makers' data sheets and published
// latencies. Three were changed after first results: the Opteron's rate of operations (multiply and add had been added
// up), its latencies (now the firmware's), and that its cores wait for each line where they compute long on it. Without
// this wait Matmul gains 3 % by locality, with it 8 %; the paper has 14 %.
#include "tasks/simulator/cost_model.hpp"

#include "tasks/simulator/probe.hpp"

#include <algorithm>
#include <iterator>

namespace causeway::tasks::simulator {

namespace {

cost_model opteron() {
    cost_model made;
    made.machine = topology::opteron_48();
    // 2.1 GHz, four single-precision additions beside four multiplications per cycle; libraries reach some three
    // quarters.
    made.multiply = made.other = 1 / (2.1e9 * 8 * 0.75);
    made.own_byte = 1 / 3.5e9; // one core alone
    // The local latency of four-socket servers with these dies as it is published, 54 ns (98 ns by other programs), for
    // each line where fewer than two fit into the core's 72 instructions in flight, of four operations each.
    made.waited_byte = 54e-9 / cost_model::line_bytes;
    made.run_ahead = 72 * 4;
    made.cached_byte = 1 / 12e9; // L3
    made.private_cache = 512u << 10; // Figure 1
    // Section 2: the firmware's distances approximate latencies. (The average factor of 1.19 that it also names is
    // below the least of them, so it is of something else.)
    made.factors = made.machine.distances;
    made.node_bandwidth = 12.5e9; // two channels of DDR3-1333, 21.3 GB/s at their pins
    made.link_bandwidth = 7e9; // links of 8 bits at 6.4 GT/s are 6.4 GB/s each; a node has four, and forwards for
                               // others
    made.spawn = 0.5e-6;
    made.steal = 1e-6;
    return made;
}

cost_model tiles() {
    cost_model made;
    made.machine = topology::tile_mesh(8, 8, 1); // tile 63 belongs to the system
    constexpr double cycle = 1 / 700e6;
    made.multiply = 5 * cycle; // 32 bits by 32 take several steps of the 16-bit multiplier
    made.other = cycle;
    // A line of the first-level cache is 16 bytes; the tile's own second-level cache answers in 8 cycles, in order.
    made.own_byte = 8 * cycle / 16;
    made.cached_byte = 2 * cycle / 16;
    made.factors = made.machine.distances; // Figure 5: four to six times longer from other home caches
    made.node_bandwidth = 16 / (2 * cycle);
    made.link_bandwidth = 0;
    made.spawn = 600 * cycle;
    made.steal = 1000 * cycle;
    made.patience = 100e-6; // all takes longer here
    made.shares_cache = false;
    made.uniform_standard = true;
    made.unit = 64;
    return made;
}

/// A machine of which only the topology is known: today's cores and memory, and latencies as its distances say.
cost_model ordinary(topology::machine machine) {
    cost_model made;
    made.multiply = made.other = 1 / 20e9;
    made.own_byte = 1 / 10e9;
    made.cached_byte = 1 / 40e9;
    made.factors = machine.distances;
    // Half of the cores that could ask for it at once are enough to use up a node's memory, at least four; and a
    // quarter for what comes from others.
    made.node_bandwidth = 5e9 * std::max(8u, machine.cores_per_node());
    made.link_bandwidth = made.node_bandwidth / 2;
    made.spawn = 0.1e-6;
    made.steal = 0.5e-6;
    made.machine = std::move(machine);
    made.unit = made.machine.page_bytes;
    return made;
}

} // namespace

double cost_model::bandwidth(double wanted) const {
    const auto& all = measured_bandwidth;
    const double cores = wanted * own_byte;
    const auto after = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first > cores; });
    if (all.empty() || after == all.end()) return node_bandwidth;
    if (after == all.begin()) return after->second; // one core at most
    const auto before = std::prev(after);
    const double part = (cores - before->first) / (after->first - before->first);
    return before->second + part * (after->second - before->second);
}

double cost_model::wake_beside(std::size_t awake, std::size_t threads) const {
    if (measured_wakes.empty()) return wake;
    const auto of = std::find_if(measured_wakes.begin(), measured_wakes.end(),
                                 [&](const auto& each) { return each.size() + 1 >= threads; });
    const auto& all = of == measured_wakes.end() ? measured_wakes.back() : *of;
    const auto nth = awake == 0 ? 0 : awake - 1;
    return all[std::min(all.size() - 1, threads < 3 ? 0 : nth * (all.size() - 1) / (threads - 2))];
}

cost_model model_of(const std::string& machine) {
    if (machine == "opteron48") return opteron();
    if (machine == "tilepro64") return tiles();
    if (machine == "this") {
        static const auto measured = [] {
            auto made = ordinary(topology::this_machine());
            measure(made);
            return made;
        }();
        return measured;
    }
    return ordinary(topology::described_machine(machine));
}

} // namespace causeway::tasks::simulator

// SPDX-License-Identifier: Apache-2.0
// The statements of the paper's section 6 (and of section 2 on Strassen), on its two machines as they are modelled. The
// programs have the paper's inputs. That Vecmul's tasks take vectors in pairs was chosen with its vicinities in view,
// and that cores wait for each line where they compute long on it with Matmul's gain in view: these two statements are
// no evidence for the model.
#include "tasks/simulator/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace causeway::tasks;
using namespace causeway::tasks::simulator;

const cost_model& opteron() {
    static const auto model = model_of("opteron48");
    return model;
}
const cost_model& tiles() {
    static const auto model = model_of("tilepro64");
    return model;
}

outcome run_of(const cost_model& where, const std::string& name, distribution how, const std::string& policy) {
    const auto rules = policy_named(policy, where.machine, 0);
    return simulate(paper_program(name, how, where.machine.columns != 0), where, *rules, {});
}

/// Modelled seconds.
double time_of(const cost_model& where, const std::string& name, distribution how, const std::string& policy,
               unsigned vicinity = 0) {
    const auto rules = policy_named(policy, where.machine, vicinity);
    return simulate(paper_program(name, how, where.machine.columns != 0), where, *rules, {}).seconds;
}

double stealing(const cost_model& where, const std::string& name, distribution how) {
    return time_of(where, name, how, "work-stealing");
}

TEST(section_6, locality_with_the_advised_distribution_never_loses_on_nodes) {
    for (const auto* name : {"map", "reduction", "matmul", "jacobi", "sparselu"}) {
        const auto how = advised_distribution(name);
        const auto locality = time_of(opteron(), name, how, "locality");
        EXPECT_LE(locality, 1.01 * stealing(opteron(), name, distribution::fine)) << name;
        EXPECT_LE(locality, 1.01 * stealing(opteron(), name, how)) << name;
    }
}

TEST(section_6, locality_with_the_advised_distribution_never_loses_on_tiles) {
    // SparseLU is the paper's own counter-example: it maintains performance, within what one placement more or less
    // makes.
    for (const auto* name : {"map", "reduction", "vecmul", "sparselu"}) {
        const auto locality = time_of(tiles(), name, advised_distribution(name), "locality");
        EXPECT_LE(locality,
                  (std::string(name) == "sparselu" ? 1.05 : 1.01) * stealing(tiles(), name, distribution::fine))
            << name;
    }
}

TEST(section_6, map_gains_by_locality_on_both_machines) {
    for (const auto* where : {&opteron(), &tiles()}) {
        const auto locality = time_of(*where, "map", distribution::coarse, "locality");
        EXPECT_GE(stealing(*where, "map", distribution::fine) / locality, 1.3) << where->machine.name;
        EXPECT_GE(stealing(*where, "map", distribution::coarse) / locality, 1.3) << where->machine.name;
    }
}

/// How much more work-stealing takes, in per cent.
double gain(const cost_model& where, const std::string& name) {
    return 100 *
           (stealing(where, name, distribution::fine) / time_of(where, name, distribution::coarse, "locality") - 1);
}

TEST(section_6, the_largest_gains_are_some_50_percent_on_nodes_and_88_on_tiles) {
    EXPECT_NEAR(gain(opteron(), "map"), 50, 10);
    EXPECT_NEAR(gain(tiles(), "map"), 88, 10);
}

TEST(section_6, matmul_gains_some_14_percent_with_published_latencies) {
    for (const double latency : {54e-9, 98e-9}) {
        auto model = opteron();
        model.waited_byte = latency / cost_model::line_bytes;
        EXPECT_NEAR(gain(model, "matmul"), 14, 10) << latency;
    }
    // What the model makes of it is kept here, so that a change is seen; as what it is if the cores never wait.
    EXPECT_NEAR(gain(opteron(), "matmul"), 7.9, 0.5);
    auto never_waits = opteron();
    never_waits.waited_byte = 0;
    EXPECT_NEAR(gain(never_waits, "matmul"), 3.4, 0.5);
}

TEST(section_6, vecmul_gains_though_less_than_in_the_paper) {
    // The paper has 69 percent.
    EXPECT_NEAR(gain(tiles(), "vecmul"), 34, 3);
}

TEST(section_6, tasks_wait_less_for_memory_under_locality) {
    for (const auto* name : {"map", "matmul"})
        EXPECT_LT(run_of(opteron(), name, distribution::coarse, "locality").memory_seconds,
                  0.85 * run_of(opteron(), name, distribution::coarse, "work-stealing").memory_seconds)
            << name;
    for (const auto* name : {"map", "vecmul"})
        EXPECT_LT(run_of(tiles(), name, distribution::coarse, "locality").memory_seconds,
                  0.8 * run_of(tiles(), name, distribution::coarse, "work-stealing").memory_seconds)
            << name;
}

TEST(section_6, what_is_spread_evenly_is_not_dealt) {
    for (const auto* name : {"map", "matmul"})
        for (const auto* policy : {"locality", "locality-paper"})
            EXPECT_EQ(run_of(opteron(), name, distribution::fine, policy).dealt, 0u) << name;
}

TEST(section_6, matmul_with_fine_waits_as_long_for_memory_under_both_schedulers) {
    EXPECT_NEAR(run_of(opteron(), "matmul", distribution::fine, "locality").memory_seconds /
                    run_of(opteron(), "matmul", distribution::fine, "work-stealing").memory_seconds,
                1, 0.02);
}

TEST(section_6, stealing_from_coarse_vectors_loses_to_fine_ones) {
    for (const auto* where : {&opteron(), &tiles()})
        EXPECT_GE(stealing(*where, "map", distribution::coarse), 1.1 * stealing(*where, "map", distribution::fine));
}

TEST(section_6, sparselu_is_maintained_by_both_distributions_on_nodes_and_gains_by_none_on_tiles) {
    // The order in which idle cores look makes 3 percent.
    const auto median = [](distribution how, const char* policy) {
        std::vector<double> times;
        for (const unsigned seed : {1u, 2u, 3u}) {
            const auto rules = policy_named(policy, opteron().machine, 0);
            times.push_back(simulate(paper_program("sparselu", how, false), opteron(), *rules, {.seed = seed}).seconds);
        }
        std::nth_element(times.begin(), times.begin() + 1, times.end());
        return times[1];
    };
    const auto usual = median(distribution::fine, "work-stealing");
    EXPECT_NEAR(median(distribution::coarse, "work-stealing") / usual, 1, 0.03);
    EXPECT_NEAR(median(distribution::coarse, "locality") / median(distribution::fine, "locality"), 1, 0.03);
    EXPECT_LE(median(distribution::coarse, "locality"), usual);
    // The paper's loses with coarse; here it is no difference.
    EXPECT_NEAR(stealing(tiles(), "sparselu", distribution::coarse) / stealing(tiles(), "sparselu", distribution::fine),
                1, 0.03);
}

TEST(section_6, fine_against_the_advice_imbalances_map_under_the_papers_rule_and_not_under_ours) {
    const auto fine = time_of(opteron(), "map", distribution::fine, "locality-paper");
    EXPECT_GE(fine, 2 * stealing(opteron(), "map", distribution::fine))
        << "all tasks go to one queue, and few may be stolen";
    EXPECT_LE(time_of(opteron(), "map", distribution::fine, "locality"),
              1.01 * stealing(opteron(), "map", distribution::fine));
}

TEST(section_6, matmul_loses_with_fine) {
    EXPECT_GT(time_of(opteron(), "matmul", distribution::fine, "locality-paper"),
              1.04 * time_of(opteron(), "matmul", distribution::coarse, "locality-paper"));
    EXPECT_GT(time_of(opteron(), "matmul", distribution::fine, "locality"),
              time_of(opteron(), "matmul", distribution::coarse, "locality"));
}

TEST(section_6, coarse_serialises_reduction_on_tiles_and_larger_vicinities_win_it_back) {
    std::vector<double> by_vicinity;
    for (const unsigned vicinity : {1u, 4u, 8u, 16u, 0u})
        by_vicinity.push_back(time_of(tiles(), "reduction", distribution::coarse, "locality-paper", vicinity));
    EXPECT_GE(by_vicinity.front(), 10 * stealing(tiles(), "reduction", distribution::coarse));
    EXPECT_TRUE(std::is_sorted(by_vicinity.rbegin(), by_vicinity.rend()));
    EXPECT_LE(by_vicinity.back(), 1.05 * stealing(tiles(), "reduction", distribution::coarse));
    EXPECT_LE(time_of(tiles(), "reduction", distribution::coarse, "locality", 1), 0.15 * by_vicinity.front())
        << "load counts";
}

TEST(section_6, larger_vicinities_hurt_map_and_help_vecmul_on_tiles) {
    const auto times = [](const char* name) {
        std::vector<double> all;
        for (const unsigned vicinity : {1u, 4u, 8u, 0u})
            all.push_back(time_of(tiles(), name, distribution::coarse, "locality-paper", vicinity));
        return all;
    };
    const auto map = times("map"), vecmul = times("vecmul");
    EXPECT_TRUE(std::is_sorted(map.begin(), map.end()));
    EXPECT_GE(map.back(), 1.3 * map.front());
    EXPECT_LE(vecmul[1], 0.9 * vecmul[0]);
    EXPECT_LE(vecmul[2], 0.9 * vecmul[0]);
    EXPECT_LE(vecmul[3], 0.9 * vecmul[0]);
}

TEST(section_6, coarse_against_the_advice_loses_where_one_allocation_has_all) {
    for (const auto* name : {"reduction", "jacobi"}) {
        EXPECT_GE(stealing(opteron(), name, distribution::coarse), 2 * stealing(opteron(), name, distribution::fine))
            << name;
        EXPECT_GE(time_of(opteron(), name, distribution::coarse, "locality"),
                  2 * time_of(opteron(), name, distribution::fine, "locality"));
    }
}

TEST(section_6, what_strassens_tasks_allocate_loses_by_distribution) {
    const auto first_touch = stealing(opteron(), "strassen", distribution::standard);
    EXPECT_GE(stealing(opteron(), "strassen", distribution::fine), 1.03 * first_touch);
    EXPECT_GE(stealing(opteron(), "strassen", distribution::coarse), 1.03 * first_touch);
}

TEST(section_2, distribution_beats_first_touch_by_one_thread) {
    for (const auto* name : {"map", "reduction", "jacobi"})
        EXPECT_LE(stealing(opteron(), name, distribution::fine),
                  0.5 * stealing(opteron(), name, distribution::standard))
            << name;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// What `causeway study` decides without a device: categories, the search for a work-group size, what repeated times
// say, findings, and verdicts.
#include "study/categories.hpp"
#include "study/findings.hpp"
#include "study/paper/verdict.hpp"
#include "study/size_search.hpp"
#include "study/statistics.hpp"
#include "study/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <optional>
#include <set>

using namespace study;

namespace {

/// Searches with a made-up cost; gives the best that was found.
shape search(size_limits limits, const std::function<std::optional<double>(const shape&)>& cost, std::size_t& trials) {
    size_search looking(std::move(limits), {});
    std::vector<timed_size> timed;
    while (const auto size = looking.next()) {
        const auto found = cost(*size);
        looking.tell(*size, found);
        if (found) timed.emplace_back(*found, *size);
    }
    trials = looking.trials();
    EXPECT_LE(trials, looking.most_trials());
    return timed.empty() ? shape{} : std::min_element(timed.begin(), timed.end())->second;
}

double cost_of(const shape& size, double best_items) {
    double items = 1;
    for (const auto each : size) items *= static_cast<double>(each);
    return 1 + 0.2 * std::abs(std::log2(items / best_items));
}

} // namespace

TEST(study_categories, every_function_has_one_of_the_sixteen) {
    EXPECT_EQ(category_of("clGetPlatformIDs"), "platform");
    EXPECT_EQ(category_of("clGetDeviceInfo"), "device");
    EXPECT_EQ(category_of("clCreateContextFromType"), "context");
    EXPECT_EQ(category_of("clSetContextDestructorCallback"), "context");
    EXPECT_EQ(category_of("clCreateCommandQueueWithProperties"), "queue");
    EXPECT_EQ(category_of("clCreateSubBuffer"), "buffer");
    EXPECT_EQ(category_of("clReleaseMemObject"), "buffer");
    EXPECT_EQ(category_of("clGetSupportedImageFormats"), "image");
    EXPECT_EQ(category_of("clCreateSampler"), "sampler");
    EXPECT_EQ(category_of("clCreateProgramWithBuiltInKernels"), "program");
    EXPECT_EQ(category_of("clLinkProgram"), "program");
    EXPECT_EQ(category_of("clCreateKernelsInProgram"), "kernel");
    EXPECT_EQ(category_of("clGetKernelWorkGroupInfo"), "kernel");
    EXPECT_EQ(category_of("clSetKernelArg"), "arguments");
    EXPECT_EQ(category_of("clEnqueueNDRangeKernel"), "enqueued commands");
    EXPECT_EQ(category_of("clEnqueueFillImage"), "enqueued commands");
    EXPECT_EQ(category_of("clEnqueueUnmapMemObject"), "map");
    EXPECT_EQ(category_of("clSetUserEventStatus"), "event");
    EXPECT_EQ(category_of("clEnqueueMarkerWithWaitList"), "synchronisation");
    EXPECT_EQ(category_of("clWaitForEvents"), "synchronisation");
    EXPECT_EQ(category_of("clGetEventProfilingInfo"), "profiling");
    EXPECT_EQ(category_of("clGetExtensionFunctionAddressForPlatform"), "extensions");
    EXPECT_EQ(category_of("clEnqueueAllReduceBuffer"), "extensions");
    EXPECT_EQ(std::set(categories.begin(), categories.end()).size(), 16U);
}

TEST(study_size_search, all_sizes_divide_the_global_one_within_the_limits) {
    const auto sizes = all_sizes({{12, 6}, 8, {4, 8}});
    for (const auto& each : sizes) {
        EXPECT_EQ(12 % each[0], 0U);
        EXPECT_EQ(6 % each[1], 0U);
        EXPECT_LE(each[0], 4U);
        EXPECT_LE(each[0] * each[1], 8U);
    }
    EXPECT_EQ(std::set(sizes.begin(), sizes.end()).size(), sizes.size());
    EXPECT_THAT(sizes, testing::Contains(shape{4, 2}));
    EXPECT_THAT(sizes, testing::Not(testing::Contains(shape{4, 3})));
}

TEST(study_size_search, finds_95_per_cent_of_the_best_with_few_trials) {
    for (const double best_items : {1., 16., 64., 200., 1024., 4096.}) {
        const size_limits limits{{65536}, 4096, {4096}};
        double best = 1e9;
        for (const auto& each : all_sizes(limits)) best = std::min(best, cost_of(each, best_items));
        std::size_t trials = 0;
        const auto found = search(limits, [&](const shape& size) { return cost_of(size, best_items); }, trials);
        EXPECT_LE(trials, 12U);
        EXPECT_GE(best / cost_of(found, best_items), 0.95) << best_items;
    }
}

TEST(study_size_search, finds_the_best_of_two_dimensions_by_steps) {
    const size_limits limits{{1024, 1024}, 1024, {1024, 1024}};
    const auto cost = [](const shape& size) {
        return 1 + 0.1 * std::abs(std::log2(static_cast<double>(size[0]) / 64)) +
               0.1 * std::abs(std::log2(static_cast<double>(size[1]) / 4));
    };
    std::size_t trials = 0;
    const auto found = search(limits, cost, trials);
    EXPECT_GE(1 / cost(found), 0.9);
}

TEST(study_size_search, sizes_that_fail_are_never_the_best) {
    std::size_t trials = 0;
    const auto found = search(
        {{256}, 256, {256}},
        [](const shape& size) {
            return size[0] > 8 ? std::nullopt : std::optional<double>(1.0 / static_cast<double>(size[0]));
        },
        trials);
    EXPECT_EQ(found, shape{8});
    std::size_t none = 0;
    EXPECT_TRUE(search({{256}, 256, {256}}, [](const shape&) { return std::nullopt; }, none).empty());
}

TEST(study_size_search, gives_a_size_another_chance_whose_one_run_other_work_made_longer) {
    std::vector<timed_size> looked;
    for (std::size_t size = 1; size <= 12; ++size)
        looked.emplace_back(size == 7 ? 1.4 : 1 + 0.1 * static_cast<double>(size), shape{size});
    std::vector<std::pair<std::size_t, unsigned>> asked;
    const auto best = best_in_rounds(looked, [&](const std::vector<shape>& few, unsigned rounds) {
        asked.emplace_back(few.size(), rounds);
        std::vector<double> times;
        for (const auto& each : few) times.push_back(each == shape{7} ? 0.9 : 2.);
        return std::optional(times);
    });
    EXPECT_EQ(best, shape{7});
    EXPECT_EQ(asked, (std::vector<std::pair<std::size_t, unsigned>>{{8, 2}, {4, 3}, {2, 4}}));
}

TEST(study_size_search, takes_the_best_of_one_run_where_there_is_no_time_for_more) {
    const auto never = [](const std::vector<shape>&, unsigned) -> std::optional<std::vector<double>> { return {}; };
    EXPECT_EQ(best_in_rounds({{2, {1}}, {1, {8}}, {3, {4}}}, never), shape{8});
    EXPECT_EQ(best_in_rounds({{2, {1}}}, never), shape{1});
    EXPECT_FALSE(best_in_rounds({}, never));
}

TEST(study_size_search, a_prime_has_two_sizes) {
    std::size_t trials = 0;
    EXPECT_EQ(search({{10007}, 4096, {4096}}, [](const shape& size) { return cost_of(size, 64); }, trials), shape{1});
    EXPECT_EQ(trials, 1U); // the other is too large
}

TEST(study_statistics, outliers_are_left_out) {
    const auto found = summarize({1, 1.01, 0.99, 1.02, 1, 50, 1.01});
    EXPECT_EQ(found.outliers, 1U);
    EXPECT_EQ(found.count, 6U);
    EXPECT_NEAR(found.median, 1, 0.02);
    EXPECT_LT(found.high, 1.1);
}

TEST(study_statistics, what_is_twice_as_fast_is_sure_to_be) {
    std::vector<double> before, after;
    for (int i = 0; i < 15; ++i) {
        before.push_back(2 + 0.1 * (i % 3));
        after.push_back(1 + 0.05 * (i % 2));
    }
    const auto found = compare(before, after);
    EXPECT_NEAR(found.speedup, 2, 0.2);
    EXPECT_GT(found.low, 1.5);
    EXPECT_STREQ(found.sureness(), "sure");
}

TEST(study_statistics, equal_times_are_no_gain) {
    const std::vector<double> times{1, 1.2, 0.9, 1.1, 1, 0.95, 1.05, 1.3, 0.8};
    std::vector<double> turned(times.rbegin(), times.rend());
    EXPECT_STREQ(compare(times, turned).sureness(), "not sure");
    EXPECT_STREQ(compare(times, times).sureness(), "not sure");
}

TEST(study_findings, tell_the_first_map_of_all_launches) {
    const nlohmann::json copy{{"function", "clEnqueueReadBuffer"}, {"seconds", 0.5}},
        process{{"wall", 1},
                {"kernels", nlohmann::json::array()},
                {"compilation", 0},
                {"categories", nlohmann::json::array()},
                {"waiting", 0},
                {"busy", 0},
                {"copies", {copy}},
                {"copy_seconds", 0.5},
                {"devices", nlohmann::json::array({{{"host_memory", true}}})}},
        intact{{"intact", true}}, map{{"kind", "transfer"}, {"what", "map"},  {"speedup", 1.5},   {"low", 1.25},
                                      {"high", 2},          {"sure", "sure"}, {"outcome", "same"}},
        perhaps{{"kind", "transfer"}, {"what", "map"},      {"speedup", 1.1},   {"low", 0.9},
                {"high", 1.3},        {"sure", "not sure"}, {"outcome", "same"}},
        slower{{"kind", "transfer"}, {"what", "map"},      {"speedup", 0.5},   {"low", 0.25},
               {"high", 0.75},       {"sure", "not sure"}, {"outcome", "same"}},
        launches = nlohmann::json::array(
            {{{"kernel", "none"}, {"local", nullptr}, {"reference", intact}, {"variants", nlohmann::json::array()}},
             {{"kernel", "maps"}, {"local", nullptr}, {"reference", intact}, {"variants", {map}}},
             {{"kernel", "more"}, {"local", nullptr}, {"reference", intact}, {"variants", {slower}}}});
    const auto found = findings_of(process, launches, {});
    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(found[0].at("figure"), testing::HasSubstr("1.50 x with maps"));
    EXPECT_EQ(found[0].at("sure"), "sure");
    EXPECT_DOUBLE_EQ(found[0].at("gain"), 0.45);
    const auto with = [&](const nlohmann::json& one) {
        return findings_of(process,
                           nlohmann::json::array(
                               {{{"kernel", "maps"}, {"local", nullptr}, {"reference", intact}, {"variants", {one}}}}),
                           {});
    };
    EXPECT_EQ(with(perhaps)[0].at("sure"), "not sure");
    EXPECT_TRUE(with(slower).empty());
}

TEST(study_findings, say_what_to_change_where_a_launch_was_not_done_again) {
    const nlohmann::json process{{"wall", 1},
                                 {"kernels", nlohmann::json::array()},
                                 {"compilation", 0},
                                 {"categories", nlohmann::json::array()},
                                 {"waiting", 0},
                                 {"busy", 0},
                                 {"copies", nlohmann::json::array()},
                                 {"copy_seconds", 0},
                                 {"devices", nlohmann::json::array()}};
    const auto change_after = [&](const nlohmann::json& error) {
        const auto found = findings_of(process, {{{"kernel", "square"}, {"error", error}}}, {});
        return found.empty() ? "" : found[0].at("change").get<std::string>();
    };
    const auto after_fault = [&](const char* where, int object, int signal) {
        return change_after({{"error", "it"}, {"fault", where}, {"object", object}, {"signal", signal}});
    };
    EXPECT_THAT(after_fault("beyond its end", 0, SIGSEGV), testing::HasSubstr("outside of its buffers"));
    EXPECT_THAT(after_fault("elsewhere", -1, SIGSEGV), testing::HasSubstr("or its driver"));
    EXPECT_THAT(after_fault("elsewhere", -1, SIGFPE), testing::HasSubstr("divides by zero"));
    EXPECT_THAT(after_fault("elsewhere", -1, SIGILL), testing::HasSubstr("undefined"));
    EXPECT_THAT(change_after({{"error", "it did not end within 120 seconds"}, {"too_long", true}}),
                testing::HasSubstr("Let one launch do less"));
    EXPECT_THAT(change_after({{"error", "the process ended"}}), testing::HasSubstr("were not timed"));
    EXPECT_EQ(change_after({{"error", "the time was over"}, {"given_up", true}}), "");
}

TEST(study_findings, say_in_words_why_a_launch_was_not_done_again) {
    const auto text = [](const char* where, int object, int signal) {
        return fault_text({{"fault", where}, {"object", object}, {"signal", signal}});
    };
    EXPECT_EQ(text("beyond its end", 2, SIGSEGV), "memory beyond the end of buffer 2 was touched");
    EXPECT_EQ(text("before its begin", 0, SIGBUS), "memory before the begin of buffer 0 was touched");
    EXPECT_EQ(text("elsewhere", -1, SIGSEGV), "memory outside of all buffers was touched");
    EXPECT_EQ(text("elsewhere", -1, SIGFPE), "an integer was divided by zero (SIGFPE)");
    EXPECT_THAT(text("elsewhere", -1, SIGILL), testing::HasSubstr("SIGILL"));
}

TEST(study_verdicts, tell_a_million_elements_by_the_name) {
    for (const auto* const each :
         {"Square 1000000", "Square 10000000", "Vectoraddition 1100000", "Blackscholes 1638400"})
        EXPECT_TRUE(paper::is_of_many_elements(each)) << each;
    for (const auto* const each : {"Square 100000", "Reduction 640000", "MRI-Q computeQ", "CP", "Matrixmul(naive) 256"})
        EXPECT_FALSE(paper::is_of_many_elements(each)) << each;
}

TEST(study_verdicts, take_the_best_of_several_by_what_confirms_it) {
    EXPECT_EQ(paper::best_as_confirmed({{1, 1}, {1.2, 0.9}, {0.8, 1.3}}), 0.9);
    EXPECT_EQ(paper::best_as_confirmed({{1, 1}, {7, 6.5}}), 6.5);
    EXPECT_EQ(paper::best_as_confirmed({}), 0);
}

paper::row point(const char* figure, const char* series, const char* x, double value) {
    return {figure, "one", series, x, 1 / value, value, {value, value}};
}

/// The verdict that speaks of `word` in its finding.
paper::verdict verdict_on(const std::string& word, const paper::rows& all) {
    for (const auto& each : paper::verdicts("one", true, all))
        if (each.finding.find(word) != std::string::npos) return each;
    return {};
}

TEST(study_verdicts, tell_that_larger_groups_help_where_null_is_the_best) {
    const auto with = [](double one, double hundred) {
        return verdict_on("groups", {point("14", "Square", "NULL", 1), point("14", "Square", "1", one),
                                     point("14", "Square", "100", hundred)})
            .word;
    };
    EXPECT_EQ(with(0.5, 1.2), "holds");
    EXPECT_EQ(with(0.5, 0.9), "holds in part");
    EXPECT_EQ(with(0.98, 0.97), "holds no more");
}

TEST(study_verdicts, take_the_mean_of_the_two_in_the_middle_of_an_even_number) {
    const auto groups = verdict_on("groups", {point("14", "Square", "NULL", 1), point("14", "Square", "1", 0.2),
                                              point("14", "Sum", "NULL", 1), point("14", "Sum", "1", 0.4)});
    EXPECT_THAT(groups.figure, testing::HasSubstr("groups of one 0.30 x"));
}

TEST(study_verdicts, ask_parboils_kernels_whether_more_work_helps) {
    const auto with = [](double square, double cp) {
        return verdict_on("work per item", {point("8", "Square", "1", 1), point("8", "Square", "10", square),
                                            point("11", "CP", "1", 1), point("11", "CP", "4", cp)})
            .word;
    };
    EXPECT_EQ(with(1.3, 1.3), "holds");
    EXPECT_EQ(with(1.3, 0.6), "holds in part");
    EXPECT_EQ(with(0.9, 0.6), "holds no more");
}

TEST(study_verdicts, compare_each_kernel_with_openmp) {
    // The median of these is 1, and none is near it but one.
    const auto vectors = verdict_on("OpenMP", {point("28", "Square", "OpenCL", 0.4), point("28", "CP", "OpenCL", 1),
                                               point("28", "Reduction", "OpenCL", 6)});
    EXPECT_EQ(vectors.word, "holds in part");
    EXPECT_THAT(vectors.figure, testing::HasSubstr("0.40 to 6.00 x of OpenMP, 2 of 3 kernels differ"));
}

TEST(study_verdicts, judge_affinity_where_data_fits_into_caches) {
    const auto all = verdict_on("affinity",
                                {point("table 7", "10", "aligned", 1), point("table 7", "10", "misaligned", 0.8),
                                 point("table 7", "30", "aligned", 1), point("table 7", "30", "misaligned", 0.9),
                                 point("table 7", "500", "aligned", 1), point("table 7", "500", "misaligned", 1)});
    EXPECT_EQ(all.word, "holds in part");
    EXPECT_THAT(all.figure, testing::HasSubstr("misaligned threads 0.85 x"));
}

TEST(study_verdicts, differ_by_driver_where_words_do) {
    const auto all = paper::verdicts_of_all({{"one", {{"first", "holds", "1"}, {"second", "holds", "2"}}},
                                             {"two", {{"first", "holds", "3"}, {"second", "holds no more", "4"}}},
                                             {"three", {{"first", "holds", "5"}, {"second", "holds", "6"}}}});
    ASSERT_EQ(all.size(), 2);
    EXPECT_EQ(all[0].word, "holds");
    EXPECT_EQ(all[1].word, "differs by driver");
    EXPECT_EQ(all[1].figure, "one: holds; two: holds no more; three: holds");
}

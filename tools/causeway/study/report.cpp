// SPDX-License-Identifier: Apache-2.0
// Figures in the units that people read.
#include "study/report.hpp"

#include "printable.hpp"
#include "study/units.hpp"

#include <cstdio>
#include <string>

namespace study {

namespace {

using nlohmann::json;

constexpr std::size_t most_sizes = 4; ///< of one kernel

void print_parts(const json& process) {
    const auto wall = process.at("wall").get<double>();
    std::printf("\n%s\n\n  %-36s %10s %6s\n",
                causeway_tool::printable(process.at("program").get_ref<const std::string&>()).c_str(),
                "what its first thread did", "time", "share");
    for (const auto& part : process.at("parts")) {
        const auto seconds = part.at("seconds").get<double>();
        std::printf("  %-36s %10s %5.1f%%\n", part.at("part").get_ref<const std::string&>().c_str(),
                    time_text(seconds).c_str(), wall > 0 ? 100 * seconds / wall : 0);
    }
    std::printf("  %-36s %10s\n", "in all", time_text(wall).c_str());
    std::printf("\n  the device was busy for %s (%.1f%%): %s in kernels, %s in copies\n",
                time_text(process.at("busy")).c_str(), wall > 0 ? 100 * process.at("busy").get<double>() / wall : 0,
                time_text(process.at("kernel_seconds")).c_str(), time_text(process.at("copy_seconds")).c_str());
}

void print_categories(const json& process) {
    std::printf("\n  %-18s %8s %10s %6s  %s\n", "calls", "count", "time", "share", "the longest");
    for (const auto& each : process.at("categories")) {
        if (each.at("calls").get<std::uint64_t>() == 0) continue;
        const auto& longest = each.at("functions").front();
        std::printf("  %-18s %8llu %10s %5.1f%%  %s, %s\n", each.at("category").get_ref<const std::string&>().c_str(),
                    each.at("calls").get<unsigned long long>(), time_text(each.at("seconds")).c_str(),
                    100 * each.at("share").get<double>(), longest.at("function").get_ref<const std::string&>().c_str(),
                    time_text(longest.at("seconds")).c_str());
    }
}

void print_kernels(const json& process) {
    if (process.at("kernels").empty()) return;
    std::printf("\n  %-28s %8s %10s %10s %10s %9s %6s  %s\n", "kernels", "launches", "time", "each", "buffers", "GB/s",
                "limit", "sizes: global / local");
    for (const auto& kernel : process.at("kernels")) {
        std::size_t shown = 0;
        for (const auto& size : kernel.at("sizes")) {
            if (shown == most_sizes) break;
            std::printf("  %-28s %8llu %10s %10s %10s %9.2f %5.0f%%  %s / %s\n",
                        shown == 0 ? kernel.at("kernel").get_ref<const std::string&>().c_str() : "",
                        size.at("count").get<unsigned long long>(), time_text(size.at("seconds")).c_str(),
                        time_text(size.at("mean")).c_str(), bytes_text(size.at("bytes_each")).c_str(),
                        size.at("gb_per_s").get<double>(), 100 * size.at("of_machine").get<double>(),
                        shape_text(size.at("global")).c_str(),
                        size.at("local").is_null() ? "the driver's choice" : shape_text(size.at("local")).c_str());
            ++shown;
        }
        if (kernel.at("sizes").size() > most_sizes)
            std::printf("  %-28s and %zu sizes more; %llu launches in all, %s\n", "",
                        kernel.at("sizes").size() - most_sizes, kernel.at("count").get<unsigned long long>(),
                        time_text(kernel.at("seconds")).c_str());
        if (const auto late = kernel.at("late_compilation").get<double>(); late > 1e-3)
            std::printf("  %-28s the first launch took %s longer: the driver compiles there\n", "",
                        time_text(late).c_str());
    }
}

void print_copies(const json& process) {
    if (process.at("copies").empty()) return;
    std::printf("\n  %-28s %8s %10s %10s %10s %9s %6s\n", "copies and maps", "count", "time", "each", "bytes", "GB/s",
                "limit");
    for (const auto& each : process.at("copies")) {
        const auto& function = each.at("function").get_ref<const std::string&>();
        std::printf("  %-28s %8llu %10s %10s %10s", function.c_str(), each.at("count").get<unsigned long long>(),
                    time_text(each.at("seconds")).c_str(), time_text(each.at("mean")).c_str(),
                    bytes_text(each.at("bytes_each")).c_str());
        // A map moves nothing where host and device have the same memory.
        if (function.find("map") == std::string::npos && function.find("Map") == std::string::npos)
            std::printf(" %9.2f %5.0f%%", each.at("gb_per_s").get<double>(), 100 * each.at("of_machine").get<double>());
        std::printf("\n");
    }
}

void print_observer(const json& process) {
    const auto& observer = process.at("observer");
    std::printf("\n  measuring took %s (%.2f%%): %llu calls at %.0f ns, and what their commands needed\n",
                time_text(observer.at("seconds")).c_str(), 100 * observer.at("share").get<double>(),
                observer.at("calls").get<unsigned long long>(), 1e9 * observer.at("seconds_per_call").get<double>());
    if (const auto count = process.at("still_running").get<std::uint64_t>(); count != 0)
        std::printf("  nobody waited for %llu commands: their times are not known\n",
                    static_cast<unsigned long long>(count));
}

void print_launches(const json& process) {
    for (const auto& launch : process.at("launches")) {
        std::printf("\n  a launch of %s in other ways, global %s, local %s\n",
                    launch.at("kernel").get_ref<const std::string&>().c_str(), shape_text(launch.at("global")).c_str(),
                    launch.at("local").is_null() ? "the driver's choice" : shape_text(launch.at("local")).c_str());
        if (launch.contains("error")) {
            std::printf("  it could not be done again: %s\n",
                        launch.at("error").at("error").get_ref<const std::string&>().c_str());
            continue;
        }
        std::printf("  %-52s %10s %10s %8s  %-15s %s\n", "", "as it was", "time", "speedup", "95 %", "results");
        for (const auto& each : launch.at("variants")) {
            const auto& what = each.at("what").get_ref<const std::string&>();
            if (!each.contains("speedup")) {
                std::printf("  %-52s left out: %s%s\n", what.c_str(),
                            each.at("outcome").get_ref<const std::string&>().c_str(),
                            each.contains("why") ? (", " + each.at("why").get<std::string>()).c_str() : "");
                continue;
            }
            char range[48];
            std::snprintf(range, sizeof range, "%.2f to %.2f", each.at("low").get<double>(),
                          each.at("high").get<double>());
            std::printf("  %-52s %10s %10s %8.2f  %-15s %s\n", what.c_str(), time_text(each.at("before")).c_str(),
                        time_text(each.at("seconds")).c_str(), each.at("speedup").get<double>(), range,
                        each.at("outcome").get_ref<const std::string&>().c_str());
        }
        if (launch.contains("sizes_tried"))
            std::printf("  %llu of %llu work-group sizes were tried%s\n",
                        launch.at("sizes_tried").get<unsigned long long>(),
                        launch.at("sizes_possible").get<unsigned long long>(),
                        launch.at("stopped_early").get<bool>() ? "; then the time was over" : "");
        if (launch.contains("found_of_best"))
            std::printf("  the best of all is %s; the search found %s, %.0f %% of its speed\n",
                        shape_text(launch.at("best_of_all")).c_str(), shape_text(launch.at("found")).c_str(),
                        100 * launch.at("found_of_best").get<double>());
    }
}

void print_findings(const json& process) {
    if (process.at("findings").empty()) return;
    std::printf("\nwhat would save time\n");
    int number = 0;
    for (const auto& each : process.at("findings")) {
        std::printf("\n%3d. %s\n     %s\n", ++number, each.at("sentence").get_ref<const std::string&>().c_str(),
                    each.at("figure").get_ref<const std::string&>().c_str());
        if (const auto& change = each.at("change").get_ref<const std::string&>(); !change.empty())
            std::printf("     %s\n", change.c_str());
        if (const auto gain = each.at("gain").get<double>(); gain > 0)
            std::printf("     gains %s, %.1f%% of the run: %s\n", time_text(gain).c_str(),
                        100 * each.at("share").get<double>(), each.at("sure").get_ref<const std::string&>().c_str());
    }
}

} // namespace

void print(const json& study) {
    const auto& machine = study.at("machine");
    for (const auto& process : study.at("processes")) {
        print_parts(process);
        print_categories(process);
        print_kernels(process);
        print_copies(process);
        print_observer(process);
        print_launches(process);
        print_findings(process);
    }
    std::printf("\nmachine: %s; its memory gives %.1f GB/s read, %.1f copied, %.1f in a triad; the highest is the "
                "limit above.\n"
                "A kernel's bytes are the sizes of its buffers: more than the limit says that it leaves parts of them "
                "alone, or finds them in "
                "a cache.\n",
                machine.at("processor").get_ref<const std::string&>().c_str(),
                machine.at("read_gb_per_s").get<double>(), machine.at("copy_gb_per_s").get<double>(),
                machine.at("triad_gb_per_s").get<double>());
}

} // namespace study

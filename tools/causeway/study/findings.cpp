// SPDX-License-Identifier: Apache-2.0
// One function for each thing that programs for GPUs get wrong on CPUs.
#include "study/findings.hpp"

#include "study/units.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

namespace study {

namespace {

using nlohmann::json;

constexpr double worth_a_word = 0.01; ///< of the wall time

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
}
std::string times_text(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f x", factor);
    return text;
}

/// What to change where a launch could not be replayed.
std::string change_after(const json& error) {
    if (error.contains("too_long"))
        return "Let one launch do less: divide it into several, or give the studied run a smaller problem.";
    if (!error.contains("fault"))
        return "Its variants were not timed, because each is compared with a replay of the launch.";
    if (error.at("signal") == SIGFPE) return "The kernel divides by zero: mend that first.";
    if (error.at("signal") == SIGILL)
        return "The kernel does what is undefined, or the driver compiled it for another processor: mend that first.";
    if (error.at("object") < 0) return "The kernel or its driver touches memory that is not there: mend that first.";
    return "The kernel itself touches memory outside of its buffers: mend that first.";
}

class finder {
  public:
    finder(const json& process, const json& launches, const json& machine)
        : m_process(process), m_launches(launches), m_machine(machine), m_wall(process.at("wall").get<double>()) {}

    json all() {
        of_compilation();
        of_set_up();
        of_short_launches();
        of_idle_device();
        of_launches();
        of_copies();
        of_bandwidth();
        std::stable_sort(m_found.begin(), m_found.end(),
                         [](const json& a, const json& b) { return a.at("gain") > b.at("gain"); });
        return m_found;
    }

  private:
    void add(const std::string& sentence, const std::string& figure, const std::string& change, double gain,
             const std::string& sure) {
        m_found.push_back({{"sentence", sentence},
                           {"figure", figure},
                           {"change", change},
                           {"gain", gain},
                           {"share", m_wall > 0 ? gain / m_wall : 0},
                           {"sure", sure}});
    }

    void of_compilation() {
        double late = 0;
        for (const auto& kernel : m_process.at("kernels")) late += kernel.at("late_compilation").get<double>();
        const auto early = m_process.at("compilation").get<double>(), gain = early + late;
        if (gain < worth_a_word * m_wall) return;
        add("Compiling kernels takes a large part of the run.",
            time_text(early) + " in builds" + (late > 0 ? " and " + time_text(late) + " in first launches" : "") +
                ", " + percent(gain / m_wall) + " of the run",
            "Keep the binary: after the first build ask clGetProgramInfo for CL_PROGRAM_BINARIES, write it to a file, "
            "and begin with "
            "clCreateProgramWithBinary. A driver with a cache of its own (PoCL, NVIDIA) does so from the second run "
            "on.",
            gain, late > 0 ? "likely" : "sure");
    }

    void of_set_up() {
        double seconds = 0;
        for (const auto& each : m_process.at("categories")) {
            const auto& name = each.at("category").get_ref<const std::string&>();
            if (name == "platform" || name == "device" || name == "context")
                seconds += each.at("seconds").get<double>();
        }
        if (seconds < 0.05 * m_wall) return;
        add("Setting OpenCL up takes longer than it seems to be worth for a run as short as this.",
            time_text(seconds) + " for platforms, devices and the context, " + percent(seconds / m_wall) +
                " of the run",
            "Do more in one process: make the context once, and keep the process for the next problem. Ask for the one "
            "platform that is "
            "used; each driver that is loaded costs.",
            0, "sure");
    }

    void of_short_launches() {
        for (const auto& kernel : m_process.at("kernels")) {
            double outside = 0, inside = 0, count = 0;
            for (const auto& size : kernel.at("sizes")) {
                const auto launches = size.at("count").get<double>();
                count += launches;
                outside += size.at("in_call_mean").get<double>() * launches;
                inside += size.at("seconds").get<double>();
            }
            outside = std::max(0., outside - kernel.at("late_compilation").get<double>());
            if (count < 20 || outside < 0.5 * inside || outside < worth_a_word * m_wall) continue;
            add("Launching " + name_of(kernel) + " takes about as long as running it.",
                std::to_string(static_cast<long long>(count)) + " launches: " + time_text(outside / count) +
                    " in the call, " + time_text(inside / count) + " in the kernel",
                "Let one launch do more: a loop over steps inside the kernel, or several steps' data in one global "
                "size.",
                outside / 2, "not sure");
        }
    }

    void of_idle_device() {
        const auto copies = m_process.at("copy_seconds").get<double>(), busy = m_process.at("busy").get<double>();
        const auto waiting = m_process.at("waiting").get<double>();
        if (waiting < 0.2 * m_wall || busy < 0.2 * m_wall || copies > 0.5 * busy) return;
        add("The host waits while the device works.",
            time_text(waiting) + " of waiting, " + percent(waiting / m_wall) + " of the run",
            "Nothing is wrong with that on a CPU, whose cores do the work: a host thread with work of its own would "
            "take it from them.",
            0, "sure");
    }

    /// The time of a kernel in the program.
    double seconds_of(const std::string& name) const {
        for (const auto& kernel : m_process.at("kernels"))
            if (kernel.at("kernel") == name) return kernel.at("seconds").get<double>();
        return 0;
    }

    void of_launches() {
        for (const auto& launch : m_launches) {
            if (launch.contains("error")) {
                if (launch.at("error").contains("given_up")) continue;
                add("A launch of " + name_of(launch) + " could not be done again.", launch.at("error").at("error"),
                    change_after(launch.at("error")), 0, "sure");
                continue;
            }
            if (!launch.at("reference").at("intact").get<bool>())
                add(name_of(launch) + " writes outside of its buffers.",
                    "bytes around a copy of its buffers have changed",
                    "Compare get_global_id with the number of elements before each write.", 0, "sure");
            of_sizes(launch);
            of_best(
                "coalesced", launch, "More work in each work-item makes " + name_of(launch) + " faster.",
                "Let each work-item loop over the elements that were those of several, and divide the global size: ");
            of_best("knob", launch, "The driver runs " + name_of(launch) + " faster when it is told how.",
                    "Set in the environment: ");
            of_best("bound", launch, "Work-groups bound to cores make " + name_of(launch) + " faster.",
                    "Divide the device by CL_DEVICE_PARTITION_EQUALLY into single units, and enqueue each one's part "
                    "of the "
                    "range at a global offset: ");
        }
    }

    void of_sizes(const json& launch) {
        const auto own = launch.at("local").is_null() ? "the driver's choice" : shape_text(launch.at("local"));
        of_best("size", launch, "Another work-group size makes " + name_of(launch) + " faster than " + own + ".",
                "Pass as local_work_size of clEnqueueNDRangeKernel: ");
    }

    void of_best(const std::string& kind, const json& launch, const std::string& sentence, const std::string& change) {
        const json* best = nullptr;
        for (const auto& each : launch.at("variants")) {
            if (each.at("kind") != kind || !each.contains("speedup")) continue;
            if (best == nullptr || each.at("speedup") > best->at("speedup")) best = &each;
        }
        if (best == nullptr || best->at("speedup").get<double>() < 1.03) return;
        const auto speedup = best->at("speedup").get<double>();
        const auto gain = seconds_of(launch.at("kernel")) * (1 - 1 / speedup);
        if (gain < 0.001 * m_wall) return;
        auto sure = best->at("sure").get<std::string>();
        std::string figure = times_text(speedup) + " (" + time_text(best->at("before")) + " to " +
                             time_text(best->at("seconds")) + "; 95 %: " + times_text(best->at("low")) + " to " +
                             times_text(best->at("high")) + ")";
        if (best->at("outcome") == "rounding") figure += "; results differ by rounding";
        if (best->at("outcome") == "unknown") {
            figure += "; results could not be compared: they differ from run to run, or were there before";
            sure = "not sure";
        }
        add(sentence, figure, change + best->at("what").get<std::string>() + ".", gain, sure);
    }

    void of_copies() {
        double host = 0;
        for (const auto& each : m_process.at("copies")) {
            const auto& function = each.at("function").get_ref<const std::string&>();
            if (function.find("Map") == std::string::npos &&
                (function.find("Read") != std::string::npos || function.find("Write") != std::string::npos))
                host += each.at("seconds").get<double>();
        }
        if (host < worth_a_word * m_wall) return;
        json map; // a copy: value() gives a list that ends with the loop
        for (const auto& launch : m_launches)
            for (const auto& each : launch.value("variants", json::array()))
                if (each.at("kind") == "transfer" && each.contains("speedup") && map.is_null()) map = each;
        std::string figure = time_text(host) + " in reads and writes, " + percent(host / m_wall) + " of the run";
        if (!map.is_null()) figure += "; a launch with its copies: " + times_text(map.at("speedup")) + " with maps";
        const bool shares_memory = !m_process.at("devices").empty() &&
                                   m_process.at("devices").front().at("host_memory").get<bool>();
        if (!shares_memory) return;
        std::string sure = "likely";
        if (!map.is_null()) {
            if (map.at("high").get<double>() < 1) return; // the launch was slower with maps
            sure = map.at("sure").get<std::string>();
        }
        add("Data is copied between host and device, which have the same memory.", figure,
            "Map buffers (clEnqueueMapBuffer) and fill and read them in place, in place of clEnqueueWriteBuffer and "
            "clEnqueueReadBuffer; or make "
            "them of the program's own memory, aligned to 4096 bytes, by CL_MEM_USE_HOST_PTR.",
            0.9 * host, sure);
    }

    void of_bandwidth() {
        for (const auto& kernel : m_process.at("kernels")) {
            const auto share = kernel.at("of_machine").get<double>();
            if (share < 0.7 || share > 1.2 || kernel.at("seconds").get<double>() < 0.1 * m_wall) continue;
            add(name_of(kernel) + " is as fast as memory lets it be.",
                percent(share) + " of the " +
                    std::to_string(static_cast<int>(m_machine.at("read_gb_per_s").get<double>())) +
                    " GB/s that this machine's memory gives",
                "Fewer bytes are all that helps: join it with the kernel before or behind it, so that what one writes "
                "the other has at hand.",
                0, "likely");
        }
    }

    static std::string name_of(const json& kernel) { return kernel.at("kernel").get<std::string>(); }

    const json& m_process;
    const json& m_launches;
    const json& m_machine;
    double m_wall;
    json m_found = json::array();
};

} // namespace

json findings_of(const json& process, const json& launches, const json& machine) {
    return finder(process, launches, machine).all();
}

} // namespace study

// SPDX-License-Identifier: Apache-2.0
// Whose code an instruction is, its address says: drivers put kernels into memory of no file, or, as PoCL, into a file
// with the kernel's name.
#include "study/paper/counting.hpp"

#include "study/paper/schedule.hpp"
#include "study/paper/single_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace paper {

namespace {

std::size_t product(const shape& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
}

application with_size(application of, const std::string& name, const shape& global, unsigned count, unsigned per_item) {
    const auto items = product(of.global), fewer = product(global);
    for (auto& each : of.arguments) {
        if (each.what == argument::sort::input || each.what == argument::sort::output)
            each.bytes = each.bytes / items * fewer;
        if (each.what == argument::sort::atoms) each.bytes = each.bytes / of.count * count;
    }
    of.number = static_cast<unsigned>(of.number == items ? fewer : global.front());
    of.name = name;
    of.global = global;
    of.count = count;
    of.per_item = per_item;
    return of;
}

/// Those of the figures, so small that a launch has some 10,000 instructions.
std::vector<application> small_applications() {
    const auto every = applications();
    const auto of = [&](const std::string& kernel) {
        return *std::find_if(every.begin(), every.end(), [&](const auto& each) { return each.kernel == kernel; });
    };
    const auto square = of("square"), sum = of("vectoadd"), tiled = of("matrixmul"), naive = of("matrixmul_naive"),
               options = of("blackscholes"), cp = of("cenergy"), phimag = of("phimag"), rhophi = of("rhophi"),
               q = of("computeq"), fhd = of("computefhd");
    return {with_size(square, "Square 2000", {2000}, 0, 1000),
            with_size(sum, "Vectoraddition 2000", {2000}, 0, 1000),
            with_size(tiled, "Matrixmul 16", {16, 16}, 0, 1),
            with_size(naive, "Matrixmul(naive) 16", {16, 16}, 0, 1),
            with_size(options, "Blackscholes 256", {256}, 0, 1),
            with_size(cp, cp.name, {64, 16}, 4, 4),
            phimag,
            rhophi,
            with_size(q, q.name, {256}, 1, 4),
            with_size(fhd, fhd.name, {256}, 1, 4)};
}

/// Under which figure a time's instructions are: the paper counts those of figure 8 in figure 9.
const std::map<std::string, std::string> figure_of_instructions = {{"8", "9"},   {"11", "12"}, {"14", "15"},
                                                                   {"16", "17"}, {"18", "19"}, {"20", "21"}};

std::function<bool(const std::string&)> kernel_mappings() {
    std::set<std::string> files;
    for (const auto& each : applications()) files.insert(std::string("/").append(each.kernel).append(".so"));
    return [files](const std::string& path) {
        return path.empty() || path.find("svml") != std::string::npos || // Intel's functions for kernels
               files.contains(path.substr(std::min(path.rfind('/'), path.size())));
    };
}

} // namespace

int count_launches(std::size_t nth, std::uint64_t most, unsigned looks, int report) {
    const auto found = all_devices();
    if (nth >= found.size()) throw std::runtime_error("there is no such device");
    device on(found[nth].first, found[nth].second);
    const auto is_kernel = kernel_mappings();
    const auto nothing = count_instructions([] {}, most, is_kernel).all; // what counting takes
    std::set<std::string> begun;
    for (const auto& launch : schedule(small_applications())) {
        if (product(launch.local) > on.largest_group(launch.of, launch.options)) continue;
        const auto once = on.launch(launch.of, launch.global, launch.local, launch.options);
        once(); // compiles
        once();
        // The first row of each series may take ten times as many steps.
        const auto limit = begun.insert(launch.figure + launch.of.name).second ? most * 10 : most;
        auto counted = count_instructions(once, limit, is_kernel);
        if (!counted.is_whole || counted.kernel == 0) continue; // too long, or in threads that take no signals
        for (unsigned look = 1; look < looks; ++look) {
            const auto again = count_instructions(once, limit, is_kernel);
            if (again.is_whole && again.all < counted.all) counted = again; // the fewer hold the fewer waits
        }
        const auto line = launch.figure + "|" + launch.of.name + "|" + launch.x + "|" +
                          std::to_string(counted.all - nothing) + "|" + std::to_string(counted.kernel) + "\n";
        if (write(report, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
    }
    std::_Exit(0); // a driver's end is not what was asked for
}

void count_figures(std::size_t nth, const std::string& device, const effort& spent, rows& all) {
    std::FILE* const lines = std::tmpfile();
    if (lines == nullptr) throw std::runtime_error("there is no temporary file");
    const bool is_hasty = spent.is_hasty();
    const std::string device_number = std::to_string(nth), most = is_hasty ? "30000" : "1000000",
                      looks = is_hasty ? "1" : "2", report = std::to_string(fileno(lines));
    const pid_t process = fork();
    if (process == 0) {
        // A second thread would wait in loops, whose number says nothing.
        for (const auto* const name : {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT", "DPCPP_CPU_NUM_CUS"})
            setenv(name, "1", 1);
        execl("/proc/self/exe", "paper-study", "--count", device_number.c_str(), most.c_str(), looks.c_str(),
              report.c_str(), nullptr);
        _exit(127);
    }
    int status = -1;
    if (process > 0) waitpid(process, &status, 0);
    std::rewind(lines);
    rows wholes, kernels, shares;
    std::array<char, 256> line{};
    while (std::fgets(line.data(), line.size(), lines) != nullptr) {
        std::istringstream words(line.data());
        std::string figure, series, x, whole_text, kernel_text;
        for (auto* const each : {&figure, &series, &x, &whole_text, &kernel_text}) std::getline(words, *each, '|');
        const auto found = figure_of_instructions.find(figure);
        if (found == figure_of_instructions.end() || kernel_text.empty()) continue;
        figure = found->second;
        const double whole = std::stod(whole_text), kernel = std::stod(kernel_text);
        wholes.push_back({figure, device, series, x, 0, whole});
        kernels.push_back({figure + " kernel", device, series, x, 0, kernel});
        if (figure == "9" || figure == "15") // Figure 10, and the other half of 15
            shares.push_back({figure == "9" ? "10" : "15 share", device, series, x, 0, kernel / whole});
    }
    for (const auto* const each : {&wholes, &kernels, &shares}) all.insert(all.end(), each->begin(), each->end());
    std::fclose(lines);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the process that counts failed");
}

} // namespace paper

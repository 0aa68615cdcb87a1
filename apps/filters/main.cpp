// SPDX-License-Identifier: Apache-2.0
// Times and verifies four image filters, each written plainly, with double buffering by hand, and as a stream graph.
#include "common/program.hpp"
#include "common/statistics.hpp"
#include "filters/filter.hpp"
#include "filters/images.hpp"
#include "filters_communication_lines.hpp"

#include <getopt.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace filters;

constexpr const char* usage =
    "usage: filters [options]\n"
    "  --filter NAME       box, median, gaussian, sobel or all (default)\n"
    "  --input FILE        frames: binary PGM or PPM images, or the luma of a Y4M film (default: some are made)\n"
    "  --output PREFIX     write PREFIX-<filter>.ppm (.pgm, .y4m)\n"
    "  --width N, --height N, --channels 1|3, --frames N   of the frames that are made (default 640 x 360, 3, 20)\n"
    "  --radius N          of the box filter (default 4)\n"
    "  --sigma N           of the Gaussian (default 5)\n"
    "  --rounds N          timed runs of each version, taken in turn (default 5)\n"
    "  --verify            compare all frames with the host's result\n"
    "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX      device of the platform (default 0)\n";

struct options {
    std::string filter = "all", input, output, platform;
    int width = 640, height = 360, channels = 3, frames = 20, radius = 4, sigma = 5, rounds = 5, device = 0;
    bool verify = false, help = false;
};

options parse(int argc, char** argv) {
    static const option known[] = {
        {"filter", 1, nullptr, 'f'}, {"input", 1, nullptr, 'i'},  {"output", 1, nullptr, 'o'},
        {"width", 1, nullptr, 'w'},  {"height", 1, nullptr, 'h'}, {"channels", 1, nullptr, 'c'},
        {"frames", 1, nullptr, 'n'}, {"radius", 1, nullptr, 'r'}, {"sigma", 1, nullptr, 's'},
        {"rounds", 1, nullptr, 'R'}, {"verify", 0, nullptr, 'v'}, {"platform", 1, nullptr, 'p'},
        {"device", 1, nullptr, 'd'}, {"help", 0, nullptr, 'H'},   {nullptr, 0, nullptr, 0}};
    options asked;
    for (int letter; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (letter) {
        case 'f': asked.filter = optarg; break;
        case 'i': asked.input = optarg; break;
        case 'o': asked.output = optarg; break;
        case 'w': asked.width = apps::number<int>(optarg, 1); break;
        case 'h': asked.height = apps::number<int>(optarg, 1); break;
        case 'c': asked.channels = apps::number<int>(optarg, 1); break;
        case 'n': asked.frames = apps::number<int>(optarg, 1); break;
        case 'r': asked.radius = apps::number<int>(optarg, 0); break;
        case 's': asked.sigma = apps::number<int>(optarg, 1); break;
        case 'R': asked.rounds = apps::number<int>(optarg, 1); break;
        case 'v': asked.verify = true; break;
        case 'p': asked.platform = optarg; break;
        case 'd': asked.device = apps::number<int>(optarg, 0); break;
        case 'H': asked.help = true; break;
        default: throw std::invalid_argument("see --help");
        }
    }
    if (asked.channels != 1 && asked.channels != 3) throw std::invalid_argument("--channels is 1 or 3");
    return asked;
}

struct version {
    const char* name;
    filter_function run;
    int lines;
};

struct filter {
    const char* name;
    void (*expected)(const workload&, const unsigned char*, unsigned char*);
    int tolerance; ///< of a byte: floats on the device, doubles on the host
    version versions[3];
};

const filter all_filters[] = {
    {"box",
     reference::box,
     0,
     {{"plain", plain::box, communication_lines::plain_box},
      {"double buffered", double_buffered::box, communication_lines::double_buffered_box},
      {"graph", filters::graph::box, communication_lines::graph_box}}},
    {"median",
     reference::median,
     0,
     {{"plain", plain::median, communication_lines::plain_median},
      {"double buffered", double_buffered::median, communication_lines::double_buffered_median},
      {"graph", filters::graph::median, communication_lines::graph_median}}},
    {"gaussian",
     reference::recursive_gaussian,
     1,
     {{"plain", plain::recursive_gaussian, communication_lines::plain_recursive_gaussian},
      {"double buffered", double_buffered::recursive_gaussian, communication_lines::double_buffered_recursive_gaussian},
      {"graph", filters::graph::recursive_gaussian, communication_lines::graph_recursive_gaussian}}},
    {"sobel",
     reference::sobel,
     0,
     {{"plain", plain::sobel, communication_lines::plain_sobel},
      {"double buffered", double_buffered::sobel, communication_lines::double_buffered_sobel},
      {"graph", filters::graph::sobel, communication_lines::graph_sobel}}}};

/// All frames as the host makes them, several at once.
std::vector<unsigned char> expected_frames(const workload& work, const filter& which) {
    const auto size = work.frame_size();
    std::vector<unsigned char> frames(work.frames * size);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> workers(
        std::min<std::size_t>(work.frames, std::max(1U, std::thread::hardware_concurrency())));
    for (auto& worker : workers)
        worker = std::jthread([&] {
            for (std::size_t frame; (frame = next++) < work.frames;)
                which.expected(work, work.input + frame * size, &frames[frame * size]);
        });
    workers.clear();
    return frames;
}

/// Compares all frames with the host's; false, and a line that says where, at the first byte that is wrong.
bool verify(const workload& work, const filter& which, const char* by, const std::vector<unsigned char>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::abs(work.output[i] - expected[i]) <= which.tolerance) continue;
        std::printf("%s, %s: WRONG in frame %zu at byte %zu: %d instead of %d\n", which.name, by, i / work.frame_size(),
                    i % work.frame_size(), work.output[i], expected[i]);
        return false;
    }
    return true;
}

bool run_filter(const options& asked, const filter& which, workload work) {
    std::vector<double> seconds[3], busy[3];
    bool good = true;
    auto progress = std::make_optional<apps::progress_line>();
    progress->show(std::string(which.name) + ": what the host makes");
    const auto expected = asked.verify ? expected_frames(work, which) : std::vector<unsigned char>();
    for (int round = 0; round < asked.rounds; ++round) {
        for (int turn = 0; turn < 3; ++turn) {
            const int i = round % 2 == 0 ? turn : 2 - turn; // whoever comes later in a round is not always the same
            progress->show(std::string(which.name) + ": round " + std::to_string(round + 1) + " of " +
                           std::to_string(asked.rounds) + ", " + which.versions[i].name);
            std::memset(work.output, 0xA5, work.frames * work.frame_size());
            const auto begin = std::clock();
            seconds[i].push_back(which.versions[i].run(work));
            busy[i].push_back(double(std::clock() - begin) / CLOCKS_PER_SEC);
            if (asked.verify && round == 0) good = verify(work, which, which.versions[i].name, expected) && good;
        }
    }
    progress.reset();
    for (int i = 0; i < 3; ++i) {
        const auto taken = apps::quartiles_of(seconds[i]);
        const double per_frame = 1e6 / double(work.frames);
        std::printf("%-9s %-16s %9.1f us per frame (%.1f to %.1f)  %5.1f %% of plain's speed, "
                    "%5.1f %% of double buffered's, %9.1f us of processors, %3d lines\n",
                    which.name, which.versions[i].name, taken.median * per_frame, taken.lower * per_frame,
                    taken.upper * per_frame, 100 * apps::median_ratio(seconds[0], seconds[i]),
                    100 * apps::median_ratio(seconds[1], seconds[i]), apps::quartiles_of(busy[i]).median * per_frame,
                    which.versions[i].lines);
    }
    if (asked.verify && good) std::printf("%-9s all versions verified\n", which.name);
    return good;
}

int run(const options& asked) {
    auto frames = asked.input.empty()
                      ? make_images(asked.width, asked.height, asked.channels, std::size_t(asked.frames))
                      : read_images(asked.input);
    auto* const device = apps::device_of(asked.platform, std::size_t(asked.device));
    const auto context = apps::create_context(device);
    const auto queue = apps::create_in_order_queue(context.get(), device);
    const auto program = apps::build_program(context.get(), device, kernel_source, "");
    const apps::pinned_memory input(context.get(), queue.get(), frames.pixels.size());
    const apps::pinned_memory output(context.get(), queue.get(), frames.pixels.size());
    std::memcpy(input.data(), frames.pixels.data(), frames.pixels.size());
    const workload work{.context = context.get(),
                        .device = device,
                        .program = program.get(),
                        .of = {frames.width, frames.height, frames.channels, asked.radius},
                        .sigma = float(asked.sigma),
                        .frames = frames.count(),
                        .input = static_cast<const unsigned char*>(input.data()),
                        .output = static_cast<unsigned char*>(output.data())};
    std::printf("%zu frames of %d x %d x %d on %s\n", work.frames, frames.width, frames.height, frames.channels,
                apps::device_name(device).c_str());
    bool good = true, found = false;
    for (const auto& which : all_filters) {
        if (asked.filter != "all" && asked.filter != which.name) continue;
        found = true;
        good = run_filter(asked, which, work) && good;
        if (!asked.output.empty()) {
            std::memcpy(frames.pixels.data(), output.data(), frames.pixels.size());
            write_images(asked.output + "-" + which.name + ending_of(frames), frames);
            std::memcpy(frames.pixels.data(), input.data(), frames.pixels.size());
        }
    }
    if (!found) throw std::invalid_argument("there is no filter " + asked.filter);
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto asked = parse(argc, argv);
        if (asked.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        return run(asked);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "filters: %s\n", error.what());
        return 2;
    }
}

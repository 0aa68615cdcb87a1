// SPDX-License-Identifier: Apache-2.0
// A Y4M film to a Y4M film: noise removed, edges drawn. As a stream graph, plainly, or both, compared and timed.
#include "common/program.hpp"
#include "video/video.hpp"

#include <getopt.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using namespace video;

constexpr const char* usage =
    "usage: video [options] INPUT.y4m OUTPUT.y4m\n"
    "       video --make [--width N] [--height N] [--frames N] [--cycle N] OUTPUT.y4m\n"
    "       video --sum INPUT.y4m\n"
    "Each file may be a pipe; - is standard input or output. Films may be endless.\n"
    "  --plain             without a graph: each step waits for the one before\n"
    "  --verify            both ways, OUTPUT.y4m from the graph; compares all bytes\n"
    "  --threshold N       edges from this strength on (default 60)\n"
    "  --explain           print the graph's stages and buffers\n"
    "  --progress          show it even if standard error is no terminal\n"
    "  --make              make a film (default 640 x 360, 100 frames)\n"
    "  --cycle N           its pictures come again after N frames, and frames bear their numbers: made very fast\n"
    "  --sum               print how many frames a film has, and a sum of all its bytes\n"
    "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX      device of the platform (default 0)\n";

struct options {
    std::string platform;
    int width = 640, height = 360, frames = 100, cycle = 0, threshold = 60, device = 0;
    bool plain = false, verify = false, make = false, sum = false, explain = false, progress = false, help = false;
    std::vector<std::string> files;
};

options parse(int argc, char** argv) {
    static const option known[] = {
        {"plain", 0, nullptr, 'P'},    {"verify", 0, nullptr, 'v'},   {"make", 0, nullptr, 'm'},
        {"explain", 0, nullptr, 'e'},  {"progress", 0, nullptr, 'b'}, {"width", 1, nullptr, 'w'},
        {"height", 1, nullptr, 'h'},   {"frames", 1, nullptr, 'n'},   {"threshold", 1, nullptr, 't'},
        {"platform", 1, nullptr, 'p'}, {"device", 1, nullptr, 'd'},   {"help", 0, nullptr, 'H'},
        {"cycle", 1, nullptr, 'c'},    {"sum", 0, nullptr, 's'},      {nullptr, 0, nullptr, 0}};
    options asked;
    for (int letter; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (letter) {
        case 'P': asked.plain = true; break;
        case 'v': asked.verify = true; break;
        case 'm': asked.make = true; break;
        case 'e': asked.explain = true; break;
        case 'c': asked.cycle = apps::number<int>(optarg, 1); break;
        case 's': asked.sum = true; break;
        case 'b': asked.progress = true; break;
        case 'w': asked.width = apps::number<int>(optarg, 8); break;
        case 'h': asked.height = apps::number<int>(optarg, 8); break;
        case 'n': asked.frames = apps::number<int>(optarg, 0); break;
        case 't': asked.threshold = apps::number<int>(optarg, 0); break;
        case 'p': asked.platform = optarg; break;
        case 'd': asked.device = apps::number<int>(optarg, 0); break;
        case 'H': asked.help = true; break;
        default: throw std::invalid_argument("see --help");
        }
    }
    asked.files.assign(argv + optind, argv + argc);
    if (!asked.help && asked.files.size() != (asked.make || asked.sum ? 1 : 2))
        throw std::invalid_argument("see video --help for the files that it needs");
    return asked;
}

/// The size of what is a file, not a pipe.
std::optional<std::uintmax_t> size_of(const std::string& path) {
    std::error_code none;
    if (path == "-" || !std::filesystem::is_regular_file(path, none)) return std::nullopt;
    return std::filesystem::file_size(path);
}

std::string text_of(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

struct run_result {
    double seconds = 0; ///< from the first frame to the last
    double bytes = 0;   ///< of frames
    outcome of;
};

run_result process(const options& asked, film work, const std::string& to, outcome (*run)(const film&)) {
    const auto input = apps::open_file(asked.files[0], "rb"), output = apps::open_file(to, "wb");
    work.input = input.get();
    work.output = output.get();
    work.format = apps::read_video_header(work.input, asked.files[0]);
    work.of = {int(apps::video_format::frame_header_size),
               work.format.width,
               work.format.height,
               work.format.chroma_width(),
               work.format.chroma_height(),
               asked.threshold};
    std::fputs(work.format.header.c_str(), work.output);
    const double frame_mb = double(work.format.frame_size()) * 1e-6;
    const auto whole = size_of(asked.files[0]);
    work.watch = [&](std::function<std::uint64_t()> done) {
        auto line = std::make_shared<apps::progress_line>(asked.progress ? apps::progress_line::when::always
                                                                         : apps::progress_line::when::on_terminals);
        line->repeat([done, frame_mb, whole] {
            const double now = double(done()) * frame_mb;
            if (!whole) return text_of("%.1f MB", now);
            const double all = double(*whole) * 1e-6;
            return text_of("%5.1f %% of ", 100 * now / all) + text_of("%.1f MB", all);
        });
        return line;
    };
    run_result result;
    const auto begin = std::chrono::steady_clock::now();
    result.of = run(work);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.bytes = double(result.of.frames) * double(work.format.frame_size());
    return result;
}

bool same_contents(const std::string& one, const std::string& other) {
    const auto first = apps::open_file(one, "rb"), second = apps::open_file(other, "rb");
    std::vector<char> a(1 << 20), b(1 << 20);
    for (;;) {
        const auto got = std::fread(a.data(), 1, a.size(), first.get());
        if (std::fread(b.data(), 1, b.size(), second.get()) != got || std::memcmp(a.data(), b.data(), got) != 0)
            return false;
        if (got < a.size()) return true;
    }
}

int process_all(const options& asked) {
    auto* const device = apps::device_of(asked.platform, std::size_t(asked.device));
    const auto context = apps::create_context(device);
    const auto program = apps::build_program(context.get(), device, kernel_source, "");
    const film work{.context = context.get(), .device = device, .program = program.get()};
    // The film may go to standard output.
    std::FILE* const told = asked.files[1] == "-" ? stderr : stdout;
    cl_ulong memory = 0;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr),
                "asking for the memory");
    std::fprintf(told, "%s, %.1f MB of memory\n", apps::device_name(device).c_str(), double(memory) * 1e-6);
    const auto print = [&](const char* version, const run_result& of) {
        std::fprintf(told, "%-6s %9.3f s, %8.1f MB/s of film; %llu frames, %.1f MB, %.2f times the device's memory\n",
                     version, of.seconds, of.bytes / of.seconds * 1e-6, static_cast<unsigned long long>(of.of.frames),
                     of.bytes * 1e-6, of.bytes / double(memory));
    };
    if (!asked.plain || asked.verify) {
        const auto result = process(asked, work, asked.files[1], run_graph);
        print("graph", result);
        if (asked.explain) std::fputs(result.of.explained.c_str(), told);
    }
    if (!asked.plain && !asked.verify) return 0;
    const std::string plain = asked.verify ? asked.files[1] + ".plain" : asked.files[1];
    print("plain", process(asked, work, plain, run_plain));
    if (!asked.verify) return 0;
    const bool good = same_contents(asked.files[1], plain);
    std::puts(good ? "both films are the same: verified" : "WRONG: the films differ");
    std::filesystem::remove(plain);
    return good ? 0 : 1;
}

int run(const options& asked) {
    if (asked.make) {
        make_film(apps::open_file(asked.files[0], "wb").get(),
                  {asked.width, asked.height, std::uint64_t(asked.frames), asked.cycle});
        return 0;
    }
    if (asked.sum) {
        const auto made = sum_film(apps::open_file(asked.files[0], "rb").get(), asked.files[0]);
        std::printf("%llu frames, %.1f MB, sum %016llx\n", static_cast<unsigned long long>(made.frames),
                    double(made.bytes) * 1e-6, static_cast<unsigned long long>(made.sum));
        return 0;
    }
    if (asked.verify && (!size_of(asked.files[0]) || asked.files[1] == "-" || asked.files[1] == "/dev/null"))
        throw std::invalid_argument("--verify reads both films again: of pipes compare what --sum prints");
    return process_all(asked);
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
        std::fprintf(stderr, "video: %s\n", error.what());
        return 2;
    }
}

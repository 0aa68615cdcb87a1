// SPDX-License-Identifier: Apache-2.0
// A Y4M film to a Y4M film: noise removed, edges drawn. As a stream graph, plainly, or both, compared and timed.
#include "video/video.hpp"

#include <getopt.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

using namespace video;

constexpr const char *usage =
    "usage: video [options] INPUT.y4m OUTPUT.y4m\n"
    "       video --make [--width N] [--height N] [--frames N] OUTPUT.y4m\n"
    "  --plain             without a graph: each step waits for the one before\n"
    "  --verify            both ways, OUTPUT.y4m from the graph; compares all bytes\n"
    "  --threshold N       edges from this strength on (default 60)\n"
    "  --explain           print the graph's stages and buffers\n"
    "  --progress          show it even if standard error is no terminal\n"
    "  --make              make a film (default 640 x 360, 100 frames)\n"
    "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX      device of the platform (default 0)\n";

struct options {
    std::string platform;
    int width = 640, height = 360, frames = 100, threshold = 60, device = 0;
    bool plain = false, verify = false, make = false, explain = false, help = false;
    bool progress = isatty(STDERR_FILENO) != 0;
    std::vector<std::string> files;
};

int number(const char *text, int least)
{
    int value = 0;
    const char *end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || stop != end || value < least)
        throw std::invalid_argument("not a number of at least " + std::to_string(least) + ": " + text);
    return value;
}

options parse(int argc, char **argv)
{
    static const option known[] = {
        {"plain", 0, nullptr, 'P'},    {"verify", 0, nullptr, 'v'},   {"make", 0, nullptr, 'm'},
        {"explain", 0, nullptr, 'e'},  {"progress", 0, nullptr, 'b'}, {"width", 1, nullptr, 'w'},
        {"height", 1, nullptr, 'h'},   {"frames", 1, nullptr, 'n'},   {"threshold", 1, nullptr, 't'},
        {"platform", 1, nullptr, 'p'}, {"device", 1, nullptr, 'd'},   {"help", 0, nullptr, '?'},
        {nullptr, 0, nullptr, 0}};
    options asked;
    for (int letter; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (letter) {
        case 'P': asked.plain = true; break;
        case 'v': asked.verify = true; break;
        case 'm': asked.make = true; break;
        case 'e': asked.explain = true; break;
        case 'b': asked.progress = true; break;
        case 'w': asked.width = number(optarg, 8); break;
        case 'h': asked.height = number(optarg, 8); break;
        case 'n': asked.frames = number(optarg, 0); break;
        case 't': asked.threshold = number(optarg, 0); break;
        case 'p': asked.platform = optarg; break;
        case 'd': asked.device = number(optarg, 0); break;
        default: asked.help = true;
        }
    }
    asked.files.assign(argv + optind, argv + argc);
    if (!asked.help && asked.files.size() != (asked.make ? 1 : 2))
        throw std::invalid_argument("see video --help for the files that it needs");
    return asked;
}

struct closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closer>;

file open(const std::string &path, const char *mode)
{
    file opened(std::fopen(path.c_str(), mode));
    if (!opened)
        throw std::runtime_error("cannot open " + path);
    return opened;
}

/// Says how far a file has grown, twice a second, for as long as it lives.
class progress_line {
public:
    progress_line(bool wanted, std::string path, std::uintmax_t whole)
        : m_path(std::move(path)), m_whole(whole)
    {
        if (wanted && whole > 0)
            m_thread = std::thread([this] { show(); });
    }
    ~progress_line()
    {
        if (!m_thread.joinable())
            return;
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
        std::fprintf(stderr, "\r%60s\r", "");
    }
    progress_line(const progress_line &) = delete;
    progress_line &operator=(const progress_line &) = delete;

private:
    void show()
    {
        std::unique_lock lock(m_mutex);
        while (!m_changed.wait_for(lock, std::chrono::milliseconds(500), [this] { return m_ended; })) {
            std::error_code gone;
            const auto now = std::filesystem::file_size(m_path, gone);
            if (!gone)
                std::fprintf(stderr, "\r%5.1f %% of %.1f MB", 100 * double(now) / double(m_whole),
                             double(m_whole) * 1e-6);
        }
    }

    std::string m_path;
    std::uintmax_t m_whole;
    std::mutex m_mutex; // guards m_ended
    std::condition_variable m_changed;
    bool m_ended = false;
    std::thread m_thread;
};

/// Seconds from the first frame to the last.
template <class Run>
double process(const options &asked, film work, const std::string &to, Run run)
{
    const auto input = open(asked.files[0], "rb"), output = open(to, "wb");
    work.input = input.get();
    work.output = output.get();
    work.format = apps::read_video_header(work.input, asked.files[0]);
    work.of = {int(apps::video_format::frame_header_size), work.format.width,           work.format.height,
               work.format.chroma_width(),                 work.format.chroma_height(), asked.threshold};
    std::fputs(work.format.header.c_str(), work.output);
    const progress_line shown(asked.progress, to, std::filesystem::file_size(asked.files[0]));
    const auto begin = std::chrono::steady_clock::now();
    run(work);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool same_contents(const std::string &one, const std::string &other)
{
    const auto first = open(one, "rb"), second = open(other, "rb");
    std::vector<char> a(1 << 20), b(1 << 20);
    for (;;) {
        const auto got = std::fread(a.data(), 1, a.size(), first.get());
        if (std::fread(b.data(), 1, b.size(), second.get()) != got || std::memcmp(a.data(), b.data(), got) != 0)
            return false;
        if (got < a.size())
            return true;
    }
}

void print(const char *version, const options &asked, double seconds)
{
    const double bytes = double(std::filesystem::file_size(asked.files[0]));
    std::printf("%-6s %9.3f s, %8.1f MB/s of film\n", version, seconds, bytes / seconds * 1e-6);
}

int run(const options &asked)
{
    if (asked.make) {
        make_film(asked.files[0], asked.width, asked.height, asked.frames);
        return 0;
    }
    const auto devices = apps::devices_of(asked.platform);
    if (std::size_t(asked.device) >= devices.size())
        throw std::runtime_error("there is no device " + std::to_string(asked.device));
    const auto device = devices[std::size_t(asked.device)];
    const auto context = apps::create_context(device);
    const auto program = apps::build_program(context.get(), device, kernel_source, "");
    const film work{.context = context.get(), .device = device, .program = program.get()};
    cl_ulong memory = 0;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr),
                "asking for the memory");
    std::printf("a film of %.1f MB on %s with %.1f MB\n", double(std::filesystem::file_size(asked.files[0])) * 1e-6,
                apps::device_name(device).c_str(), double(memory) * 1e-6);
    if (!asked.plain || asked.verify) {
        std::string explained;
        const double seconds = process(asked, work, asked.files[1], [&](const film &of) { explained = run_graph(of); });
        print("graph", asked, seconds);
        if (asked.explain)
            std::fputs(explained.c_str(), stdout);
    }
    if (!asked.plain && !asked.verify)
        return 0;
    const std::string plain = asked.verify ? asked.files[1] + ".plain" : asked.files[1];
    print("plain", asked, process(asked, work, plain, run_plain));
    if (!asked.verify)
        return 0;
    const bool good = same_contents(asked.files[1], plain);
    std::puts(good ? "both films are the same: verified" : "WRONG: the films differ");
    std::filesystem::remove(plain);
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const auto asked = parse(argc, argv);
        if (asked.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        return run(asked);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "video: %s\n", error.what());
        return 2;
    }
}

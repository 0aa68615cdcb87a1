// SPDX-License-Identifier: Apache-2.0
// How much of a slow file's time hides behind kernels: by hand and with Causeway. The file is a pipe that gives so many
// bytes in a second, and needs no processor for it, as a slow disk.
#include "common/program.hpp"
#include "common/statistics.hpp"
#include "slow_file/problem.hpp"

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

using namespace slow_file;
using clock_type = std::chrono::steady_clock;

constexpr const char*
    usage = "usage: slow_file [options]\n"
            "  --rate MB           megabytes that the file gives in a second (default 64)\n"
            "  --rounds N          runs of each way, taken in turn (default 5)\n"
            "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n";

/// A pipe that is filled at a rate; what the reader leaves in it holds up the rest.
class slow_pipe {
  public:
    explicit slow_pipe(double bytes_per_second) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
        m_input.reset(::fdopen(ends[0], "rb"));
        m_feeder = std::thread([to = ends[1], bytes_per_second] { feed(to, bytes_per_second); });
    }
    ~slow_pipe() {
        m_input.reset();
        m_feeder.join();
    }
    slow_pipe(const slow_pipe&) = delete;
    slow_pipe& operator=(const slow_pipe&) = delete;
    [[nodiscard]] std::FILE* input() const { return m_input.get(); }

  private:
    static void feed(int to, double bytes_per_second) {
        constexpr std::size_t piece = std::size_t{64} << 10;
        const std::chrono::duration<double> takes(piece / bytes_per_second);
        std::vector<std::uint32_t> words(piece / sizeof(std::uint32_t));
        auto next = clock_type::now();
        for (std::size_t at = 0; at < chunks * chunk_bytes; at += piece) {
            for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_of_file(at / sizeof words[0] + i);
            next = std::max(next, clock_type::now() - std::chrono::milliseconds(20)) +
                   std::chrono::duration_cast<clock_type::duration>(takes);
            std::this_thread::sleep_until(next);
            if (::write(to, words.data(), piece) != ssize_t(piece)) break; // the reader has given up
        }
        ::close(to);
    }

    struct close_file {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, close_file> m_input;
    std::thread m_feeder;
};

/// Seconds.
double timed(problem& on, void (*way)(problem&, std::FILE*), double rate) {
    on.forget();
    const slow_pipe file(rate);
    const auto begun = clock_type::now();
    way(on, file.input());
    const double took = std::chrono::duration<double>(clock_type::now() - begun).count();
    if (!on.is_right()) throw std::runtime_error("the kernel has not seen the whole file");
    return took;
}

int compare(double rate, int rounds, const std::string& platform) {
    const auto device = apps::device_of(platform, 0);
    problem on(device);
    const double reading = chunks * chunk_bytes / rate;
    on.take(chunk_bytes / rate);
    std::vector<double> hand, ours, hidden;
    for (int round = 0; round < rounds; ++round) {
        hand.push_back(timed(on, by_hand, rate));
        ours.push_back(timed(on, by_causeway, rate));
        // By hand nothing hides: what it takes less is what does.
        hidden.push_back((hand.back() - ours.back()) / reading);
    }
    const auto hand_seconds = apps::quartiles_of(hand), our_seconds = apps::quartiles_of(ours);
    const auto share = std::clamp(apps::quartiles_of(hidden).median, 0.0, 1.0);
    const double noise = std::max(hand_seconds.upper - hand_seconds.lower, our_seconds.upper - our_seconds.lower);
    std::printf("a slow file (a pipe of %.0f MB/s) through a kernel on %s: %.2f s by hand, %.2f s with Causeway; ",
                rate / 1e6, apps::device_name(device).c_str(), hand_seconds.median, our_seconds.median);
    if (noise < reading) {
        std::printf("%.0f %% of the reading hides behind kernels; verified\n", 100 * share);
    } else {
        std::printf("other work keeps this machine too busy to say what hides; verified\n");
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const option names[] = {{"rate", required_argument, nullptr, 'm'},
                            {"rounds", required_argument, nullptr, 'r'},
                            {"platform", required_argument, nullptr, 'p'},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
    double rate = 64e6;
    int rounds = 5;
    std::string platform;
    try {
        opterr = 0;
        for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
            case 'm': rate = 1e6 * apps::number<int>(optarg, 1); break;
            case 'r': rounds = apps::number<int>(optarg, 1); break;
            case 'p': platform = optarg; break;
            case 'h': std::printf("%s", usage); return 0;
            default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
            }
        return compare(rate, rounds, platform);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "slow_file: %s\n%s", error.what(), usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "slow_file: %s\n", error.what());
        return 1;
    }
}

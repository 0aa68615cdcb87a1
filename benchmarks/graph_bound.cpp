// SPDX-License-Identifier: Apache-2.0
// How near stream graphs and double buffering by hand come to the time that a pipeline must take: with copies in,
// kernel and copies out of h, k and d seconds per token, measured alone in the same rounds,
// h + k + d + (N - 1) max(h, k, d).
#include "common/opencl.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <causeway/graph.hpp>

#include <getopt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: graph_bound [options]\n"
    "  --token BYTES       may be given several times (default: frames of 640 x 360 and 1920 x 1080 in three colours)\n"
    "  --tokens N          of a run (default 100)\n"
    "  --kernel PERCENT    time of the kernel, of that of the slower copy (default 100: balanced)\n"
    "  --rounds N          timed runs of each part, taken in turn (default 9)\n"
    "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX      device of the platform (default 0)\n";

struct options {
    std::vector<std::size_t> sizes;
    std::size_t tokens = 100, kernel_percent = 100, rounds = 9, device = 0;
    std::string platform;
    bool help = false;
};

options parse(int argc, char** argv) {
    static const option known[] = {{"token", 1, nullptr, 't'},    {"tokens", 1, nullptr, 'n'},
                                   {"kernel", 1, nullptr, 'k'},   {"rounds", 1, nullptr, 'R'},
                                   {"platform", 1, nullptr, 'p'}, {"device", 1, nullptr, 'd'},
                                   {"help", 0, nullptr, '?'},     {nullptr, 0, nullptr, 0}};
    options asked;
    for (int letter; (letter = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (letter) {
        case 't': asked.sizes.push_back(apps::number<std::size_t>(optarg, 4) / 4 * 4); break;
        case 'n': asked.tokens = apps::number<std::size_t>(optarg, 2); break;
        case 'k': asked.kernel_percent = apps::number<std::size_t>(optarg, 1); break;
        case 'R': asked.rounds = apps::number<std::size_t>(optarg, 1); break;
        case 'p': asked.platform = optarg; break;
        case 'd': asked.device = apps::number<std::size_t>(optarg, 0); break;
        default: asked.help = true;
        }
    }
    if (asked.sizes.empty()) asked.sizes = {640 * 360 * 3, 1920 * 1080 * 3};
    return asked;
}

/// Its time grows with `work` and hardly with anything else.
constexpr const char* source = R"(
kernel void stir(int work, global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    uint x = in[i];
    for (int r = 0; r < work; ++r)
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + r;
    out[i] = x;
}
)";

std::uint32_t stirred(int work, std::uint32_t x) {
    for (int r = 0; r < work; ++r) x = (x ^ (x >> 15)) * 0x2c1b3c6dU + std::uint32_t(r);
    return x;
}

class bench {
  public:
    bench(cl_device_id device, std::size_t size, std::size_t tokens)
        : m_device(device), m_size(size), m_tokens(tokens), m_context(apps::create_context(device)),
          m_program(apps::build_program(m_context.get(), device, source, "")), m_in(new_queue()),
          m_compute(new_queue()), m_out(new_queue()), m_input(m_context.get(), m_in.get(), size * tokens),
          m_output(m_context.get(), m_in.get(), size * tokens) {
        auto* const words = static_cast<std::uint32_t*>(m_input.data());
        for (std::size_t i = 0; i < size * tokens / sizeof *words; ++i) words[i] = std::uint32_t(i * 2654435761U);
        for (std::size_t slot = 0; slot < 2; ++slot) {
            m_from[slot] = apps::create_buffer(m_context.get(), size);
            m_to[slot] = apps::create_buffer(m_context.get(), size);
            m_kernels[slot] = apps::create_kernel(m_program.get(), "stir");
        }
    }

    /// Makes the kernel take so many seconds, as nearly as a few tries can.
    void calibrate(double seconds) {
        double work = 16;
        for (int i = 0; i < 8; ++i) {
            use_work(int(work));
            (void)compute();
            const double share = seconds * double(m_tokens) / compute();
            work = std::min(std::max(work * std::min(share, 8.0), 1.0), 1e7);
        }
        use_work(int(work));
    }

    /// Each gives the seconds of all tokens.
    double copy_in() {
        return timed([this] {
            for (std::size_t i = 0; i < m_tokens; ++i) write(i, {}, nullptr);
            finish(m_in);
        });
    }
    double compute() {
        return timed([this] {
            for (std::size_t i = 0; i < m_tokens; ++i) launch(i, {}, nullptr);
            finish(m_compute);
        });
    }
    double copy_out() {
        return timed([this] {
            for (std::size_t i = 0; i < m_tokens; ++i) read(i, {}, nullptr);
            finish(m_out);
        });
    }
    double both_copies() {
        return timed([this] {
            for (std::size_t i = 0; i < m_tokens; ++i) {
                write(i, {}, nullptr);
                read(i, {}, nullptr);
                flush({&m_in, &m_out});
            }
            finish(m_in);
            finish(m_out);
        });
    }
    double plain() {
        return timed([this] {
            for (std::size_t i = 0; i < m_tokens; ++i) {
                const std::size_t work = m_size / sizeof(std::uint32_t);
                cl_command_queue queue = m_compute.get();
                apps::check(
                    clEnqueueWriteBuffer(queue, m_from[0].get(), CL_TRUE, 0, m_size, in(i), 0, nullptr, nullptr),
                    "writing a token");
                apps::check(
                    clEnqueueNDRangeKernel(queue, m_kernels[0].get(), 1, nullptr, &work, nullptr, 0, nullptr, nullptr),
                    "stir");
                apps::check(clEnqueueReadBuffer(queue, m_to[0].get(), CL_TRUE, 0, m_size, out(i), 0, nullptr, nullptr),
                            "reading a token");
            }
        });
    }
    double by_hand() {
        std::array<apps::event, 2> written, computed, read_back;
        return timed([&] {
            for (std::size_t i = 0; i < m_tokens; ++i) {
                const std::size_t slot = i % 2;
                write(i, {computed[slot].get()}, &written[slot]);
                launch(i, {written[slot].get(), read_back[slot].get()}, &computed[slot]);
                read(i, {computed[slot].get()}, &read_back[slot]);
                flush({&m_in, &m_compute, &m_out});
            }
            finish(m_out);
        });
    }
    double by_graph() {
        if (!m_graph) {
            m_graph = std::make_unique<causeway::stream_graph>(m_context.get(), m_device);
            m_graph->add_input_stream("input", m_input.data(), m_size * m_tokens, m_size);
            m_graph->add_output_stream("output", m_output.data(), m_size * m_tokens, m_size);
            m_graph->use_page_locked("input");
            m_graph->use_page_locked("output");
            causeway_kernel code{};
            code.kernel = m_kernels[0].get();
            code.item_size = sizeof(std::uint32_t);
            m_graph->add_kernel("stir", code, m_work);
            m_graph->connect("input", "stir", m_size);
            m_graph->connect("stir", "output", m_size);
            m_graph->initialize();
        }
        return timed([this] { m_graph->execute(); });
    }

    void forget_output() { std::memset(m_output.data(), 0, m_size * m_tokens); }
    /// Looks at a few words of each token.
    void check_output(const char* who) const {
        for (std::size_t i = 0; i < m_tokens; ++i)
            for (std::size_t at = i % 61; at < m_size / 4; at += m_size / 4 / 7 + 1) {
                std::uint32_t given = 0, got = 0;
                std::memcpy(&given, in(i) + at * 4, 4);
                std::memcpy(&got, out(i) + at * 4, 4);
                if (got != stirred(m_work, given))
                    throw std::runtime_error(std::string(who) + ": token " + std::to_string(i) + " is WRONG");
            }
    }

  private:
    [[nodiscard]] apps::queue new_queue() const { return apps::create_in_order_queue(m_context.get(), m_device); }
    [[nodiscard]] char* in(std::size_t i) const { return static_cast<char*>(m_input.data()) + i * m_size; }
    [[nodiscard]] char* out(std::size_t i) const { return static_cast<char*>(m_output.data()) + i * m_size; }

    void use_work(int work) {
        m_work = work;
        for (std::size_t slot = 0; slot < 2; ++slot)
            apps::set_arguments(m_kernels[slot].get(), m_work, m_from[slot].get(), m_to[slot].get());
    }

    template <class Run> static double timed(Run run) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    using waits = std::initializer_list<cl_event>;
    /// Calls `enqueue(count, list, event)` with those of `before` that are not null.
    template <class Enqueue> static void add(waits before, apps::event* ended, const char* what, Enqueue enqueue) {
        std::array<cl_event, 2> list{};
        cl_uint count = 0;
        for (cl_event each : before)
            if (each != nullptr) list[count++] = each;
        cl_event made = nullptr;
        apps::check(enqueue(count, count == 0 ? nullptr : list.data(), ended == nullptr ? nullptr : &made), what);
        if (ended != nullptr) ended->reset(made);
    }
    void write(std::size_t i, waits before, apps::event* ended) {
        add(before, ended, "writing a token", [&](cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueWriteBuffer(m_in.get(), m_from[i % 2].get(), CL_FALSE, 0, m_size, in(i), count, list,
                                        event);
        });
    }
    void launch(std::size_t i, waits before, apps::event* ended) {
        const std::size_t work = m_size / sizeof(std::uint32_t);
        add(before, ended, "stir", [&](cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueNDRangeKernel(m_compute.get(), m_kernels[i % 2].get(), 1, nullptr, &work, nullptr, count,
                                          list, event);
        });
    }
    void read(std::size_t i, waits before, apps::event* ended) {
        add(before, ended, "reading a token", [&](cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueReadBuffer(m_out.get(), m_to[i % 2].get(), CL_FALSE, 0, m_size, out(i), count, list, event);
        });
    }
    static void flush(std::initializer_list<const apps::queue*> queues) {
        for (const auto* each : queues) apps::check(clFlush(each->get()), "clFlush");
    }
    static void finish(const apps::queue& queue) { apps::check(clFinish(queue.get()), "clFinish"); }

    cl_device_id m_device;
    std::size_t m_size, m_tokens;
    apps::context m_context;
    apps::program m_program;
    apps::queue m_in, m_compute, m_out;
    apps::pinned_memory m_input, m_output;
    std::array<apps::buffer, 2> m_from, m_to;
    std::array<apps::kernel, 2> m_kernels;
    int m_work = 0;
    std::unique_ptr<causeway::stream_graph> m_graph;
};

struct part {
    const char* name;
    double (bench::*run)();
    bool whole; ///< of a pipeline
    std::vector<double> seconds;
};

void run(const options& asked, cl_device_id device, std::size_t size) {
    bench bench(device, size, asked.tokens);
    (void)bench.copy_in();
    (void)bench.copy_out();
    const double slower_copy = std::max(bench.copy_in(), bench.copy_out()) / double(asked.tokens);
    bench.calibrate(slower_copy * double(asked.kernel_percent) / 100);
    std::array<part, 7> parts{{{"copy in, h", &bench::copy_in, false, {}},
                               {"kernel, k", &bench::compute, false, {}},
                               {"copy out, d", &bench::copy_out, false, {}},
                               {"both copies", &bench::both_copies, false, {}},
                               {"plain", &bench::plain, true, {}},
                               {"double buffered", &bench::by_hand, true, {}},
                               {"graph", &bench::by_graph, true, {}}}};
    auto progress = std::make_optional<apps::progress_line>();
    for (std::size_t round = 0; round <= asked.rounds; ++round)
        for (std::size_t turn = 0; turn < parts.size(); ++turn) {
            // Whoever comes later in a round is not always the same.
            auto& each = parts[round % 2 == 0 ? turn : parts.size() - 1 - turn];
            progress->show(std::to_string(size) + " B, round " + std::to_string(round) + ", " + each.name);
            if (each.whole) bench.forget_output();
            const double seconds = (bench.*each.run)();
            if (each.whole) bench.check_output(each.name);
            if (round > 0) // the first time drivers still allocate
                each.seconds.push_back(seconds);
        }
    progress.reset();
    const double tokens = double(asked.tokens);
    const auto of_token = [&](std::size_t i) { return apps::quartiles_of(parts[i].seconds).median / tokens; };
    const double h = of_token(0), k = of_token(1), d = of_token(2), both = of_token(3);
    const double slowest = std::max({h, k, d}), bound = h + k + d + (tokens - 1) * slowest;
    const double link_bound = h + k + d + (tokens - 1) * std::max(slowest, both);
    std::printf("%zu tokens of %zu B: h %.1f us, k %.1f us, d %.1f us, both copies at once %.1f us\n", asked.tokens,
                size, h * 1e6, k * 1e6, d * 1e6, both * 1e6);
    std::printf("  bound h + k + d + (N - 1) max(h, k, d): %.1f us per token; with both copies at once: %.1f us\n",
                bound / tokens * 1e6, link_bound / tokens * 1e6);
    for (const auto& each : parts) {
        if (!each.whole) continue;
        const auto taken = apps::quartiles_of(each.seconds);
        std::printf("  %-16s %9.1f us per token (%.1f to %.1f)  %5.1f %% of the bound, %5.1f %% with both copies, "
                    "%5.1f %% of plain's speed, %5.1f %% of double buffered's\n",
                    each.name, taken.median / tokens * 1e6, taken.lower / tokens * 1e6, taken.upper / tokens * 1e6,
                    100 * bound / taken.median, 100 * link_bound / taken.median,
                    100 * apps::median_ratio(parts[4].seconds, each.seconds),
                    100 * apps::median_ratio(parts[5].seconds, each.seconds));
    }
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto asked = parse(argc, argv);
        if (asked.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        auto* const device = apps::device_of(asked.platform, asked.device);
        std::printf("%s\n", apps::device_name(device).c_str());
        for (const std::size_t size : asked.sizes) run(asked, device, size);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "graph_bound: %s\n", error.what());
        return 2;
    }
}

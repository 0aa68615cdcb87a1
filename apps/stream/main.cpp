// SPDX-License-Identifier: Apache-2.0
// Streams a file through a device kernel into another file, and times that beside the naive way.
#include "common/opencl.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

#include <getopt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

constexpr const char*
    usage = "usage: stream [options]\n"
            "  --size-mib N        size of the file to make (default 256)\n"
            "  --input FILE        stream this file instead of making one; it stays\n"
            "  --directory PATH    where files are made (default: the system's temporary directory)\n"
            "  --chunk-mib N       bytes in one device buffer (default 8)\n"
            "  --rounds N          runs of each way, taken in turn (default 3)\n"
            "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
            "  --device INDEX      device of the platform (default 0)\n";

struct options {
    std::size_t size_mib = 256, chunk_mib = 8, rounds = 3, device = 0;
    std::optional<std::filesystem::path> input;
    std::filesystem::path directory = std::filesystem::temp_directory_path();
    std::string platform;
    bool help = false;
};

options parse(int argc, char** argv) {
    const option names[] = {{"size-mib", required_argument, nullptr, 's'},
                            {"input", required_argument, nullptr, 'i'},
                            {"directory", required_argument, nullptr, 'o'},
                            {"chunk-mib", required_argument, nullptr, 'c'},
                            {"rounds", required_argument, nullptr, 'r'},
                            {"platform", required_argument, nullptr, 'p'},
                            {"device", required_argument, nullptr, 'd'},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
        case 's': parsed.size_mib = apps::number<std::size_t>(optarg, 1); break;
        case 'i': parsed.input = optarg; break;
        case 'o': parsed.directory = optarg; break;
        case 'c': parsed.chunk_mib = apps::number<std::size_t>(optarg, 1); break;
        case 'r': parsed.rounds = apps::number<std::size_t>(optarg, 1); break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = apps::number<std::size_t>(optarg, 0); break;
        case 'h': parsed.help = true; break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    if (optind != argc) throw std::invalid_argument(std::string("unexpected argument: ") + argv[optind]);
    return parsed;
}

struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, close_file>;

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

file open_file(const std::filesystem::path& path, const char* mode) {
    file opened(std::fopen(path.c_str(), mode));
    if (!opened) throw_errno("opening " + path.string());
    return opened;
}

/// Closes a file that was written, so that a late failure is not lost.
void close_written(file written, const std::filesystem::path& path) {
    if (std::fclose(written.release()) != 0) throw_errno("writing " + path.string());
}

/// A file of this process that is gone when this object is.
class temporary_file {
  public:
    temporary_file(const std::filesystem::path& directory, const std::string& name)
        : m_path(directory / ("causeway-stream-" + std::to_string(getpid()) + "-" + name)) {}
    ~temporary_file() {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

/// Every word differs from its neighbours, and each block of the file from the others.
std::uint32_t pattern(std::uint64_t word) {
    word = (word ^ (word >> 31)) * 0x9E3779B97F4A7C15U;
    return std::uint32_t(word >> 32);
}

constexpr std::uint32_t transformed(std::uint32_t word) { return word * 3 + 1; }

void make_input(const std::filesystem::path& path, std::size_t size_bytes) {
    file input = open_file(path, "wb");
    std::vector<std::uint32_t> words(1U << 18U);
    for (std::size_t written = 0; written < size_bytes; written += words.size() * sizeof(words[0])) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = pattern(written / sizeof(words[0]) + i);
        if (std::fwrite(words.data(), sizeof(words[0]), words.size(), input.get()) != words.size())
            throw_errno("writing " + path.string());
    }
    close_written(std::move(input), path);
}

// What is left after the last whole word of a file stays as it is.
constexpr const char* kernel_source = R"(
__kernel void transform(__global uint *words, uint count)
{
    const size_t i = get_global_id(0);
    if (i < count)
        words[i] = words[i] * 3 + 1;
}
)";

constexpr std::size_t buffers = 3;

/// A device with buffers, each with a queue and a kernel object of its own.
class stage {
  public:
    struct slot {
        apps::buffer buffer;
        apps::kernel kernel;
    };

    stage(cl_device_id device, std::size_t chunk_bytes) : m_chunk_bytes(chunk_bytes) {
        m_context = apps::create_context(device);
        for (auto& queue : m_queues) queue = apps::create_in_order_queue(m_context.get(), device);
        m_program = apps::build_program(m_context.get(), device, kernel_source, "");
        for (auto& slot : m_slots) {
            slot.buffer = apps::create_buffer(m_context.get(), chunk_bytes);
            slot.kernel = apps::create_kernel(m_program.get(), "transform");
            // The runtime allocates memory and compiles the kernel now, not within a timed run.
            const cl_uint zero = 0;
            apps::check(clEnqueueFillBuffer(queue(0), slot.buffer.get(), &zero, sizeof(zero), 0, chunk_bytes, 0,
                                            nullptr, nullptr),
                        "clEnqueueFillBuffer");
            enqueue_transform(queue(0), slot, chunk_bytes);
        }
        apps::check(clFinish(queue(0)), "clFinish");
    }

    void enqueue_transform(cl_command_queue queue, const slot& slot, std::size_t size_bytes) {
        constexpr std::size_t group = 64;
        const auto words = cl_uint(size_bytes / sizeof(cl_uint));
        const std::size_t global = std::max<std::size_t>((words + group - 1) / group * group, group);
        apps::set_arguments(slot.kernel.get(), slot.buffer.get(), words);
        apps::check(clEnqueueNDRangeKernel(queue, slot.kernel.get(), 1, nullptr, &global, &group, 0, nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    }

    [[nodiscard]] std::size_t chunk_bytes() const { return m_chunk_bytes; }
    [[nodiscard]] cl_command_queue queue(std::size_t index) const { return m_queues[index].get(); }
    [[nodiscard]] const std::array<slot, buffers>& slots() const { return m_slots; }

  private:
    std::size_t m_chunk_bytes;
    apps::context m_context;
    std::array<apps::queue, buffers> m_queues;
    apps::program m_program;
    std::array<slot, buffers> m_slots;
};

/// Throws what a failed transfer has to say. A null event counts as complete.
void wait_for_transfer(cl_event transfer) {
    if (transfer == nullptr || clWaitForEvents(1, &transfer) == CL_SUCCESS) return;
    std::array<char, 1024> message{};
    clGetTransferInfo(transfer, CL_TRANSFER_ERROR_MESSAGE, message.size() - 1, message.data(), nullptr);
    throw std::runtime_error(std::string("a transfer failed: ") + message.data());
}

/// No command of `stage` is left when this object goes, so that what the commands use may go.
struct drained {
    stage& on;
    ~drained() {
        for (std::size_t index = 0; index < buffers; ++index) clFinish(on.queue(index));
    }
};

/// Three buffers take turns, each with an in-order queue that loads it, computes on it and stores it. The host only
/// bounds how many chunks are enqueued ahead. Transfers name the one before them: none follows one that failed.
void stream_by_commands(stage& stage, std::FILE* input, std::FILE* output, std::size_t size_bytes) {
    struct transfers {
        apps::event loaded, stored;
    };
    std::array<transfers, 2 * buffers> latest; // chunks take turns here too
    const auto transfers_of = [&](std::size_t chunk) -> transfers& { return latest[chunk % latest.size()]; };
    const auto wait_for_chunk = [&](std::size_t chunk) {
        wait_for_transfer(transfers_of(chunk).loaded.get());
        wait_for_transfer(transfers_of(chunk).stored.get());
    };
    const drained at_the_end{stage};

    std::size_t chunk = 0;
    for (std::size_t offset = 0; offset < size_bytes; offset += stage.chunk_bytes(), ++chunk) {
        const std::size_t size = std::min(stage.chunk_bytes(), size_bytes - offset);
        const auto& slot = stage.slots()[chunk % buffers];
        const cl_command_queue queue = stage.queue(chunk % buffers);
        wait_for_chunk(chunk); // the one before it in this buffer
        const cl_event free = chunk < buffers ? nullptr : transfers_of(chunk - buffers).stored.get();

        cl_event loaded = nullptr;
        apps::check(clEnqueueWriteBufferFromStdioFile(queue, slot.buffer.get(), CL_FALSE, 0, size, input, free ? 1 : 0,
                                                      free ? &free : nullptr, &loaded),
                    "clEnqueueWriteBufferFromStdioFile");
        transfers_of(chunk).loaded.reset(loaded);
        stage.enqueue_transform(queue, slot, size);
        cl_event stored = nullptr;
        apps::check(
            clEnqueueReadBufferToStdioFile(queue, slot.buffer.get(), CL_FALSE, 0, size, output, 1, &loaded, &stored),
            "clEnqueueReadBufferToStdioFile");
        transfers_of(chunk).stored.reset(stored);
        apps::check(clFlush(queue), "clFlush");
    }
    for (std::size_t left = 0; left < latest.size(); ++left) wait_for_chunk(chunk + left);
}

void stream_naively(stage& stage, std::FILE* input, std::FILE* output, std::size_t size_bytes) {
    std::vector<std::byte> host(stage.chunk_bytes());
    const auto& slot = stage.slots()[0];
    const cl_command_queue queue = stage.queue(0);
    for (std::size_t offset = 0; offset < size_bytes; offset += host.size()) {
        const std::size_t size = std::min(host.size(), size_bytes - offset);
        if (std::fread(host.data(), 1, size, input) != size) throw std::runtime_error("the input ended early");
        apps::check(clEnqueueWriteBuffer(queue, slot.buffer.get(), CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr),
                    "clEnqueueWriteBuffer");
        stage.enqueue_transform(queue, slot, size);
        apps::check(clEnqueueReadBuffer(queue, slot.buffer.get(), CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
        if (std::fwrite(host.data(), 1, size, output) != size) throw_errno("writing the output");
    }
}

using way = void (*)(stage&, std::FILE*, std::FILE*, std::size_t);

double seconds_of(way way, stage& stage, const std::filesystem::path& input_path,
                  const std::filesystem::path& output_path, std::size_t size_bytes) {
    const auto start = std::chrono::steady_clock::now();
    const file input = open_file(input_path, "rb");
    file output = open_file(output_path, "wb");
    way(stage, input.get(), output.get(), size_bytes);
    close_written(std::move(output), output_path);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Compares every byte of the output with what the host makes of the input. Throws at the first difference.
void verify(const std::filesystem::path& input_path, const std::filesystem::path& output_path, std::size_t size_bytes) {
    if (std::filesystem::file_size(output_path) != size_bytes)
        throw std::runtime_error(output_path.string() + " has the wrong size");
    const file input = open_file(input_path, "rb");
    const file output = open_file(output_path, "rb");
    std::vector<char> expected(1U << 20U), found(expected.size());
    for (std::size_t offset = 0; offset < size_bytes; offset += expected.size()) {
        const std::size_t size = std::min(expected.size(), size_bytes - offset);
        if (std::fread(expected.data(), 1, size, input.get()) != size ||
            std::fread(found.data(), 1, size, output.get()) != size)
            throw std::runtime_error("reading the files back failed");
        for (std::size_t at = 0; at + sizeof(std::uint32_t) <= size; at += sizeof(std::uint32_t)) {
            std::uint32_t word = 0;
            std::memcpy(&word, &expected[at], sizeof(word));
            word = transformed(word);
            std::memcpy(&expected[at], &word, sizeof(word));
        }
        const auto end = found.begin() + std::ptrdiff_t(size);
        const auto wrong = std::mismatch(found.begin(), end, expected.begin()).first;
        if (wrong != end)
            throw std::runtime_error("wrong byte at offset " + std::to_string(offset + (wrong - found.begin())));
    }
}

struct contender {
    const char* name;
    way run;
    std::vector<double> seconds{};
};

void benchmark(const options& options) {
    cl_device_id device = apps::device_of(options.platform, options.device);
    constexpr std::size_t mib = 1U << 20U;
    stage stage(device, options.chunk_mib * mib);

    const temporary_file made(options.directory, "input");
    const temporary_file output(options.directory, "output");
    if (!options.input) make_input(made.path(), options.size_mib * mib);
    const auto input = options.input.value_or(made.path());
    const std::size_t size_bytes = std::filesystem::file_size(input);
    if (size_bytes == 0) throw std::runtime_error(input.string() + " is empty");
    std::printf("stream: %.1f MiB in chunks of %zu MiB, %zu round%s, %s\n", double(size_bytes) / mib, options.chunk_mib,
                options.rounds, options.rounds == 1 ? "" : "s", apps::device_name(device).c_str());
    std::fflush(stdout);

    std::array<contender, 2> contenders{{{"naive", stream_naively}, {"causeway", stream_by_commands}}};
    for (std::size_t round = 0; round < options.rounds; ++round)
        for (contender& contender : contenders) {
            // A fresh file each time: neither way finds the other's pages.
            std::filesystem::remove(output.path());
            contender.seconds.push_back(seconds_of(contender.run, stage, input, output.path(), size_bytes));
            verify(input, output.path(), size_bytes);
        }

    std::printf("\n%-9s %6s  %s\n", "way", "GB/s", "(quartiles)");
    for (const contender& contender : contenders) {
        const auto seconds = apps::quartiles_of(contender.seconds);
        const double gigabytes = double(size_bytes) / 1e9;
        std::printf("%-9s %6.2f  (%.2f - %.2f)\n", contender.name, gigabytes / seconds.median,
                    gigabytes / seconds.upper, gigabytes / seconds.lower);
    }
    std::printf("\nevery byte of %zu output files is right; causeway is %.2f times as fast as naive\n",
                options.rounds * contenders.size(),
                apps::quartiles_of(contenders[0].seconds).median / apps::quartiles_of(contenders[1].seconds).median);
}

} // namespace

int main(int argc, char** argv) {
    try {
        const options options = parse(argc, argv);
        if (options.help)
            std::printf("%s", usage);
        else
            benchmark(options);
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "stream: %s\n%s", error.what(), usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stream: %s\n", error.what());
        return 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
// File to device and device to file, beside the pinned copy and the raw parallel access of the same bytes.
#include "setup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <thread>

namespace benchmarks {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A file that is gone when this object is, open as a stream and, apart from it, as a descriptor.
class temporary_file {
  public:
    temporary_file(const std::filesystem::path& directory, const char* name)
        : m_path(directory / ("causeway-benchmark-" + std::to_string(getpid()) + "-" + name)),
          m_stream(std::fopen(m_path.c_str(), "w+b")) {
        if (m_stream == nullptr) throw_errno("opening " + m_path.string());
        m_descriptor = open(m_path.c_str(), O_RDWR | O_CLOEXEC);
        if (m_descriptor < 0) throw_errno("opening " + m_path.string());
    }

    ~temporary_file() {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
        close(m_descriptor);
        std::fclose(m_stream);
    }

    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    /// Leaves the bytes in the page cache, and the disk idle.
    void fill(const std::byte* bytes, std::size_t size) {
        if (std::fwrite(bytes, 1, size, m_stream) != size || std::fflush(m_stream) != 0)
            throw_errno("writing " + m_path.string());
        if (fsync(m_descriptor) != 0) throw_errno("writing " + m_path.string());
    }

    void seek(std::size_t offset) {
        if (fseeko(m_stream, off_t(offset), SEEK_SET) != 0) throw_errno("seeking in " + m_path.string());
    }

    [[nodiscard]] std::FILE* stream() const { return m_stream; }
    [[nodiscard]] int descriptor() const { return m_descriptor; }

  private:
    std::filesystem::path m_path;
    std::FILE* m_stream;
    int m_descriptor = -1;
};

/// Reads or writes blocks of a file with several threads, which stay: starting them is not part of the limit.
class parallel_access {
  public:
    enum class direction { read, write };

    parallel_access(unsigned threads, std::size_t block_bytes) : m_block(block_bytes), m_turn(threads + 1) {
        for (unsigned i = 0; i < threads; ++i) m_threads.emplace_back([this] { work(); });
    }

    ~parallel_access() {
        m_ended = true;
        m_turn.arrive_and_wait();
        for (auto& each : m_threads) each.join();
    }

    double run(direction way, int file, std::size_t offset, std::byte* memory, std::size_t bytes) {
        m_way = way;
        m_file = file;
        m_offset = offset;
        m_memory = memory;
        m_bytes = bytes;
        m_next = 0;
        m_error = 0;
        const double seconds = seconds_of([this] {
            m_turn.arrive_and_wait();
            m_turn.arrive_and_wait();
        });
        if (m_error != 0) throw std::system_error(m_error, std::generic_category(), "raw access to the file");
        return seconds;
    }

  private:
    void work() {
        for (;;) {
            m_turn.arrive_and_wait();
            if (m_ended) return;
            for (std::size_t at = m_next++ * m_block; at < m_bytes; at = m_next++ * m_block)
                move(at, std::min(m_block, m_bytes - at));
            m_turn.arrive_and_wait();
        }
    }

    void move(std::size_t at, std::size_t left) {
        while (left > 0) {
            const auto place = off_t(m_offset + at);
            const auto moved = m_way == direction::read ? pread(m_file, m_memory + at, left, place)
                                                        : pwrite(m_file, m_memory + at, left, place);
            if (moved <= 0) {
                m_error = moved < 0 ? errno : EIO;
                return;
            }
            at += std::size_t(moved);
            left -= std::size_t(moved);
        }
    }

    std::size_t m_block;
    std::barrier<> m_turn; // twice for each run; orders all below
    direction m_way = direction::read;
    int m_file = -1;
    std::size_t m_offset = 0, m_bytes = 0;
    std::byte* m_memory = nullptr;
    bool m_ended = false;
    std::atomic<std::size_t> m_next = 0;
    std::atomic<int> m_error = 0;
    std::vector<std::thread> m_threads;
};

/// Data, files and memory of one size; the ways of both directions.
class file_bench {
  public:
    file_bench(const place& where, const settings& wanted, std::size_t bytes)
        : m_place(where), m_settings(wanted), m_bytes(bytes), m_data(where, bytes), m_source(m_data.on_device(where)),
          m_target(apps::create_buffer(where.context.get(), bytes)),
          m_pinned(where.context.get(), where.in_order.get(), bytes), m_pageable(bytes),
          m_input(wanted.directory, "input"), m_output(wanted.directory, "output") {
        m_input.fill(m_data.whole(), m_data.whole_bytes());
        m_output.fill(m_data.whole(), bytes);
        const auto first = load();
        m_lanes = lanes_of(first.get());
        m_raw = std::make_unique<parallel_access>(m_lanes, block_of(first.get()));
    }

    comparison to_device() {
        comparison made{"file -> device", m_bytes, limit_rule::slowest, {}};
        const auto check = [this] { verify_target(); };
        made.ways.push_back({"naive: fread, write", role::naive, [this] { return fread_and_write(); }, check});
        for (const auto block : m_settings.blocks)
            made.ways.push_back(ours(
                name_with_block("causeway", block), [this] { return load(); }, check, block));
        made.ways.push_back(ours(
            "causeway, FILE*", [this] { return load_stream(); }, check));
        made.ways.push_back({"pinned copy", m_place.host_memory ? role::shown : role::limit, [this] {
                                 const auto* const bytes = m_data.whole() + next_offset();
                                 return seconds_of([&] {
                                     write_device(queue(), m_target.get(), 0, m_bytes, bytes);
                                 });
                             },
                             check});
        made.ways.push_back({raw_name("pread"), role::limit, [this] {
                                 return m_raw->run(parallel_access::direction::read, m_input.descriptor(),
                                                   next_offset(), pinned(), m_bytes);
                             },
                             [this] { m_data.verify(pinned(), m_window); }});
        return made;
    }

    comparison to_file() {
        comparison made{"device -> file", m_bytes, limit_rule::slowest, {}};
        const auto check = [this] { verify_output(); };
        made.ways.push_back({"naive: read, fwrite", role::naive, [this] { return read_and_fwrite(); }, check});
        for (const auto block : m_settings.blocks)
            made.ways.push_back(ours(
                name_with_block("causeway", block), [this] { return store(); }, check, block));
        made.ways.push_back(ours(
            "causeway, FILE*", [this] { return store_stream(); }, check));
        made.ways.push_back({"pinned copy", m_place.host_memory ? role::shown : role::limit, [this] {
                                 const auto offset = next_offset();
                                 return seconds_of([&] {
                                     read_device(queue(), m_source.get(), offset, m_bytes, pinned());
                                 });
                             },
                             [this] { m_data.verify(pinned(), m_window); }});
        made.ways.push_back({raw_name("pwrite"), role::limit, [this] {
                                 // The threads only read the memory.
                                 auto* const bytes = const_cast<std::byte*>(m_data.whole()) + next_offset();
                                 return m_raw->run(parallel_access::direction::write, m_output.descriptor(), 0, bytes,
                                                   m_bytes);
                             },
                             check});
        return made;
    }

  private:
    [[nodiscard]] cl_command_queue queue() const { return m_place.in_order.get(); }
    std::size_t next_offset() { return test_data::offset_of(++m_window); }
    [[nodiscard]] std::size_t offset() const { return test_data::offset_of(m_window); }

    [[nodiscard]] std::byte* pinned() const { return static_cast<std::byte*>(m_pinned.data()); }

    [[nodiscard]] std::string raw_name(const char* call) const {
        return std::string("raw ") + call + ", " + std::to_string(m_lanes) + (m_lanes == 1 ? " thread" : " threads");
    }

    double fread_and_write() {
        m_input.seek(next_offset());
        return seconds_of([this] {
            if (std::fread(m_pageable.data(), 1, m_bytes, m_input.stream()) != m_bytes) throw_errno("fread");
            write_device(queue(), m_target.get(), 0, m_bytes, m_pageable.data());
        });
    }

    double read_and_fwrite() {
        const auto offset = next_offset();
        m_output.seek(0);
        return seconds_of([&] {
            read_device(queue(), m_source.get(), offset, m_bytes, m_pageable.data());
            if (std::fwrite(m_pageable.data(), 1, m_bytes, m_output.stream()) != m_bytes ||
                std::fflush(m_output.stream()) != 0)
                throw_errno("fwrite");
        });
    }

    /// A blocking transfer of ours, which remembers its plan.
    way ours(std::string name, std::function<apps::event()> transfer, std::function<void()> check,
             std::size_t block = 0) {
        const auto plan = std::make_shared<std::string>();
        return {std::move(name), role::ours,
                [this, transfer = std::move(transfer), block, plan] {
                    const forced_block forced(block);
                    m_input.seek(next_offset());
                    m_output.seek(0);
                    apps::event moved;
                    const double seconds = seconds_of([&] { moved = transfer(); });
                    *plan = plan_of(moved.get());
                    return seconds;
                },
                std::move(check), [plan] { return *plan; }};
    }

    apps::event load() {
        cl_event moved = nullptr;
        const auto code =
            clEnqueueWriteBufferFromFile(queue(), m_target.get(), CL_TRUE, 0, m_bytes, m_input.descriptor(),
                                         int64_t(offset()), 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "clEnqueueWriteBufferFromFile");
        return event;
    }

    apps::event load_stream() {
        cl_event moved = nullptr;
        const auto code = clEnqueueWriteBufferFromStdioFile(queue(), m_target.get(), CL_TRUE, 0, m_bytes,
                                                            m_input.stream(), 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "clEnqueueWriteBufferFromStdioFile");
        return event;
    }

    apps::event store() {
        cl_event moved = nullptr;
        const auto code = clEnqueueReadBufferToFile(queue(), m_source.get(), CL_TRUE, offset(), m_bytes,
                                                    m_output.descriptor(), 0, 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "clEnqueueReadBufferToFile");
        return event;
    }

    apps::event store_stream() {
        cl_event moved = nullptr;
        const auto code = clEnqueueReadBufferToStdioFile(queue(), m_source.get(), CL_TRUE, offset(), m_bytes,
                                                         m_output.stream(), 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "clEnqueueReadBufferToStdioFile");
        return event;
    }

    void verify_target() {
        read_device(queue(), m_target.get(), 0, m_bytes, pinned());
        m_data.verify(pinned(), m_window);
    }

    void verify_output() {
        m_raw->run(parallel_access::direction::read, m_output.descriptor(), 0, pinned(), m_bytes);
        m_data.verify(pinned(), m_window);
    }

    const place& m_place;
    const settings& m_settings;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_source, m_target;
    apps::pinned_memory m_pinned;
    pageable_memory m_pageable;
    temporary_file m_input, m_output;
    std::unique_ptr<parallel_access> m_raw;
    unsigned m_lanes = 1; // of our transfers, and so of the raw access
    std::size_t m_window = 0; // of the last transfer
};

} // namespace

std::vector<line> file_routes(const place& where, const settings& wanted) {
    auto sizes = wanted.sizes;
    if (sizes.empty()) sizes = {mib, 16 * mib, 256 * mib};
    std::vector<line> all;
    for (const auto bytes : sizes) {
        file_bench bench(where, wanted, bytes);
        for (const auto& compared : {bench.to_device(), bench.to_file()}) {
            const auto lines = measure(compared, wanted.rounds_for(bytes));
            print(lines, all.empty() ? heading::yes : heading::no);
            all.insert(all.end(), lines.begin(), lines.end());
        }
    }
    return all;
}

} // namespace benchmarks

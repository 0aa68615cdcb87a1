// SPDX-License-Identifier: Apache-2.0
// Two page-locked blocks in each thread: the file fills or empties one while the device copies the other.
#include "file_problem.hpp"
#include "team.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace alternatives {

namespace {

/// What one thread works with.
class double_buffer {
  public:
    double_buffer(file_problem& problem, std::size_t block)
        : m_problem(problem), m_block(block),
          m_queue(apps::create_in_order_queue(problem.context.get(), problem.device)),
          m_halves{half(problem, m_queue.get(), block), half(problem, m_queue.get(), block)} {}

    /// Blocks of which `next` is the first that nobody has taken.
    void load(std::size_t offset, std::atomic<std::size_t>& next) {
        for (std::size_t at = next.fetch_add(m_block), turn = 0; at < m_problem.bytes;
             at = next.fetch_add(m_block), ++turn) {
            auto& into = m_halves[turn % 2];
            into.wait();
            const auto bytes = std::min(m_block, m_problem.bytes - at);
            read_all(fileno(m_problem.input.get()), into.data(), bytes, offset + at);
            cl_event copied = nullptr;
            apps::check(clEnqueueWriteBuffer(m_queue.get(), m_problem.target.get(), CL_FALSE, at, bytes, into.data(), 0,
                                             nullptr, &copied),
                        "clEnqueueWriteBuffer");
            into.copied.reset(copied);
            apps::check(clFlush(m_queue.get()), "clFlush");
        }
        for (auto& each : m_halves) each.wait();
    }

    void store(std::size_t offset, std::atomic<std::size_t>& next) {
        for (std::size_t at = next.fetch_add(m_block), turn = 0; at < m_problem.bytes;
             at = next.fetch_add(m_block), ++turn) {
            auto& into = m_halves[turn % 2];
            into.at = at;
            into.bytes = std::min(m_block, m_problem.bytes - at);
            cl_event copied = nullptr;
            apps::check(clEnqueueReadBuffer(m_queue.get(), m_problem.source.get(), CL_FALSE, offset + at, into.bytes,
                                            into.data(), 0, nullptr, &copied),
                        "clEnqueueReadBuffer");
            into.copied.reset(copied);
            apps::check(clFlush(m_queue.get()), "clFlush");
            write_out(m_halves[(turn + 1) % 2]);
        }
        for (auto& each : m_halves) write_out(each);
    }

  private:
    struct half {
        half(file_problem& problem, cl_command_queue queue, std::size_t bytes)
            : memory(std::make_unique<apps::pinned_memory>(problem.context.get(), queue, bytes)) {}
        [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory->data()); }
        /// True if there was something to wait for.
        bool wait() {
            const auto pending = std::exchange(copied, nullptr);
            apps::wait_for({pending.get()}, "copying a block");
            return pending != nullptr;
        }
        std::unique_ptr<apps::pinned_memory> memory;
        apps::event copied;
        std::size_t at = 0, bytes = 0;
    };

    void write_out(half& filled) {
        if (filled.wait()) write_all(fileno(m_problem.output.get()), filled.data(), filled.bytes, filled.at);
    }

    file_problem& m_problem;
    std::size_t m_block;
    apps::queue m_queue;
    half m_halves[2];
};

/// One buffer for each thread; a single one works in the caller's.
class buffer_team {
  public:
    buffer_team(file_problem& problem, unsigned threads, std::size_t block) {
        for (unsigned i = 0; i < threads; ++i) m_buffers.push_back(std::make_unique<double_buffer>(problem, block));
        if (threads > 1) m_team = std::make_unique<team>(threads);
    }

    void run(void (double_buffer::*move)(std::size_t, std::atomic<std::size_t>&), std::size_t offset) {
        std::atomic<std::size_t> next = 0;
        if (m_team) {
            m_team->run([&](unsigned i) { (m_buffers[i].get()->*move)(offset, next); });
        } else {
            (m_buffers.front().get()->*move)(offset, next);
        }
    }

  private:
    std::vector<std::unique_ptr<double_buffer>> m_buffers;
    std::unique_ptr<team> m_team;
};

} // namespace

file_way double_buffered_files(file_problem& problem, unsigned threads, std::size_t block) {
    const auto buffers = std::make_shared<buffer_team>(problem, threads, block);
    return {.name = "double buffering by hand, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            .variant = block_text(block),
            .load = [buffers](std::size_t offset) { buffers->run(&double_buffer::load, offset); },
            .store = [buffers](std::size_t offset) { buffers->run(&double_buffer::store, offset); }};
}

} // namespace alternatives

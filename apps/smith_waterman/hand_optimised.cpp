// SPDX-License-Identifier: Apache-2.0
// The search overlapped by hand: a thread that reads, page-locked memory for each slot, copies and kernels in two
// queues.
#include "smith_waterman/problem.hpp"

#include "common/program.hpp"

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace smith_waterman {

namespace {

// communication begin
/// Reads chunks into the slots' memory, ahead of whoever takes them.
class reader {
  public:
    reader(const database& database, const std::array<void*, problem::slots>& memory)
        : m_database(database), m_memory(memory), m_thread([this] { run(); }) {}

    ~reader() {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

    /// Waits until `chunk` is in its slot's memory. Throws what reading threw.
    void wait_for(std::size_t chunk) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_read > chunk || m_failure; });
        if (m_failure) std::rethrow_exception(m_failure);
    }

    /// The memory of `chunk` may be overwritten.
    void release(std::size_t chunk) {
        {
            const std::lock_guard lock(m_mutex);
            m_released = chunk + 1;
        }
        m_changed.notify_all();
    }

  private:
    void run() {
        try {
            const apps::file file = apps::open_file(m_database.path(), "rb");
            for (std::size_t chunk = 0; chunk < m_database.chunks().size(); ++chunk) {
                {
                    std::unique_lock lock(m_mutex);
                    m_changed.wait(lock, [&] { return m_ended || chunk < m_released + problem::slots; });
                    if (m_ended) return;
                }
                if (std::fread(m_memory[chunk % problem::slots], m_database.chunk_size(), 1, file.get()) != 1)
                    throw std::runtime_error("reading " + m_database.path() + " failed");
                {
                    const std::lock_guard lock(m_mutex);
                    m_read = chunk + 1;
                }
                m_changed.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            m_failure = std::current_exception();
            m_changed.notify_all();
        }
    }

    const database& m_database;
    std::array<void*, problem::slots> m_memory;
    std::mutex m_mutex; // guards what follows
    std::condition_variable m_changed;
    std::size_t m_read = 0, m_released = 0;
    bool m_ended = false;
    std::exception_ptr m_failure;
    std::thread m_thread; // last: it uses the others
};
// communication end

class hand_optimised : public searcher {
  public:
    explicit hand_optimised(problem& problem) : m_problem(problem) {
        // communication begin
        for (auto& memory : m_memory)
            memory = std::make_unique<apps::pinned_memory>(problem.context(), problem.transfer_queue(),
                                                           problem.database().chunk_size());
        // communication end
    }

    void run() override {
        const std::size_t chunks = m_problem.database().chunks().size();
        std::array<apps::event, problem::slots> searched;
        // communication begin
        std::array<apps::event, problem::slots> written;
        std::array<void*, problem::slots> memory{};
        for (int slot = 0; slot < problem::slots; ++slot)
            memory[std::size_t(slot)] = m_memory[std::size_t(slot)]->data();
        reader reader(m_problem.database(), memory);
        // communication end
        for (std::size_t chunk = 0; chunk < chunks + problem::slots; ++chunk) {
            const int slot = int(chunk % problem::slots);
            if (chunk >= problem::slots && chunk - problem::slots < chunks) {
                apps::wait_for({searched[std::size_t(slot)].get()}, "searching a chunk");
                m_problem.collect(chunk - problem::slots, slot);
                // communication begin
                reader.release(chunk - problem::slots);
                // communication end
            }
            if (chunk >= chunks) continue;
            // communication begin
            reader.wait_for(chunk);
            cl_event event = nullptr;
            apps::check(clEnqueueWriteBuffer(m_problem.transfer_queue(), m_problem.chunk_in(slot), CL_FALSE, 0,
                                             m_problem.database().chunk_size(), memory[std::size_t(slot)], 0, nullptr,
                                             &event),
                        "writing a chunk");
            written[std::size_t(slot)].reset(event);
            apps::check(clFlush(m_problem.transfer_queue()), "clFlush");
            // communication end
            searched[std::size_t(slot)] = m_problem.enqueue_search(chunk, slot, {written[std::size_t(slot)].get()});
        }
    }

  private:
    problem& m_problem;
    // communication begin
    std::array<std::unique_ptr<apps::pinned_memory>, problem::slots> m_memory;
    // communication end
};

} // namespace

std::unique_ptr<searcher> make_hand_optimised(problem& problem) { return std::make_unique<hand_optimised>(problem); }

} // namespace smith_waterman

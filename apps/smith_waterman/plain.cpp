// SPDX-License-Identifier: Apache-2.0
// The search with every read, copy and kernel one after the other; and its two parts by themselves.
#include "smith_waterman/problem.hpp"

#include "common/program.hpp"

#include <chrono>
#include <stdexcept>

namespace smith_waterman {

namespace {

class plain : public searcher {
  public:
    explicit plain(problem& problem) : m_problem(problem), m_memory(problem.database().chunk_size()) {}

    void run() override {
        const database& database = m_problem.database();
        // communication begin
        const apps::file file = apps::open_file(database.path(), "rb");
        // communication end
        m_uncounted = {};
        for (std::size_t chunk = 0; chunk < database.chunks().size(); ++chunk) {
            const auto begin = std::chrono::steady_clock::now();
            // communication begin
            if (std::fread(m_memory.data(), 1, m_memory.size(), file.get()) != m_memory.size())
                throw std::runtime_error("reading " + database.path() + " failed");
            apps::check(clEnqueueWriteBuffer(m_problem.transfer_queue(), m_problem.chunk_in(0), CL_TRUE, 0,
                                             m_memory.size(), m_memory.data(), 0, nullptr, nullptr),
                        "writing a chunk");
            // communication end
            if (m_problem.wanted() == parts::computation) m_uncounted += std::chrono::steady_clock::now() - begin;
            const apps::event searched = m_problem.enqueue_search(chunk, 0);
            apps::wait_for({searched.get()}, "searching a chunk");
            m_problem.collect(chunk, 0);
        }
    }

    [[nodiscard]] double uncounted() const override { return m_uncounted.count(); }

  private:
    problem& m_problem;
    std::chrono::duration<double> m_uncounted{};
    // communication begin
    std::vector<char> m_memory;
    // communication end
};

} // namespace

std::unique_ptr<searcher> make_plain(problem& problem) { return std::make_unique<plain>(problem); }

} // namespace smith_waterman

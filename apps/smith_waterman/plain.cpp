// SPDX-License-Identifier: Apache-2.0
// The search with every read, copy and kernel one after the other; and its two parts by themselves.
#include "smith_waterman/problem.hpp"

#include "common/program.hpp"

#include <stdexcept>

namespace smith_waterman {

namespace {

class plain : public searcher {
public:
    explicit plain(problem &problem) : m_problem(problem), m_memory(problem.database().chunk_size()) {}

    void run() override
    {
        const database &database = m_problem.database();
        // communication begin
        const apps::file file = apps::open_file(database.path(), "rb");
        // communication end
        for (std::size_t chunk = 0; chunk < database.chunks().size(); ++chunk) {
            // The computation alone finds the first chunk again and again.
            const bool alone = m_problem.wanted() == parts::computation;
            if (!alone || chunk == 0) {
                // communication begin
                if (std::fread(m_memory.data(), 1, m_memory.size(), file.get()) != m_memory.size())
                    throw std::runtime_error("reading " + database.path() + " failed");
                apps::check(clEnqueueWriteBuffer(m_problem.transfer_queue(), m_problem.chunk_in(0), CL_TRUE, 0,
                                                 m_memory.size(), m_memory.data(), 0, nullptr, nullptr),
                            "writing a chunk");
                // communication end
            }
            const apps::event searched = m_problem.enqueue_search(alone ? 0 : chunk, 0);
            apps::wait_for({searched.get()}, "searching a chunk");
            m_problem.collect(chunk, 0);
        }
    }

private:
    problem &m_problem;
    // communication begin
    std::vector<char> m_memory;
    // communication end
};

} // namespace

std::unique_ptr<searcher> make_plain(problem &problem) { return std::make_unique<plain>(problem); }

} // namespace smith_waterman

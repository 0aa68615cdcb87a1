// SPDX-License-Identifier: Apache-2.0
// A search as every version sees it: chunks of the database, slots on the device for them, kernels, best hits.
#pragma once

#include "smith_waterman/database.hpp"

#include "common/opencl.hpp"

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace smith_waterman {

/// `automatic` is `vectors` on a processor, `registers` on a graphics processor.
enum class kernel_form { automatic, vectors, registers };

/// What a run consists of. The two parts alone give no hits, and the times to compare others with.
enum class parts { both, computation, transfers };

struct hit {
    int score;
    std::uint64_t sequence;
    bool operator==(const hit&) const = default;
};

/// Queries against a database, on one device. Not thread-safe.
class problem {
  public:
    /// Chunks of the database that are on the device at once.
    static constexpr int slots = 3;

    /// `hits` is how many are kept of each query. Throws std::invalid_argument for a query that is empty or too long
    /// for scores of 16 bits.
    problem(const database& database, const std::vector<sequence>& queries, gaps gaps, std::size_t hits,
            kernel_form form, cl_device_id device);

    /// Forgets all hits.
    void reset(parts wanted);

    /// All queries against the chunk `chunk`, which is in `slot`; its event is complete when the scores are on the
    /// host.
    apps::event enqueue_search(std::size_t chunk, int slot, std::initializer_list<cl_event> wait_list = {});
    /// Takes the hits from the scores in `slot`, after that event.
    void collect(std::size_t chunk, int slot);

    /// The best first, among equals the first in the database.
    [[nodiscard]] std::vector<hit> hits(std::size_t query) const;

    [[nodiscard]] const smith_waterman::database& database() const { return m_database; }
    [[nodiscard]] parts wanted() const { return m_parts; }
    [[nodiscard]] cl_mem chunk_in(int slot) const { return m_slots[std::size_t(slot)].chunk.get(); }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    /// In-order queue of the kernels.
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    /// In-order queue for copying chunks to the device.
    [[nodiscard]] cl_command_queue transfer_queue() const { return m_transfer_queue.get(); }
    /// Cells of the whole search.
    [[nodiscard]] double cells() const;
    /// Chunks whose hits are collected. Any thread.
    [[nodiscard]] std::size_t collected() const { return m_collected; }

  private:
    struct slot {
        apps::buffer chunk, scores;
        std::unique_ptr<apps::pinned_memory> scores_on_host;
        std::vector<apps::kernel> kernels; // one for each query, arguments bound once
    };

    [[nodiscard]] apps::buffer make_constant(const void* data, std::size_t size) const;
    void bind(const sequence& query, std::size_t number);

    const smith_waterman::database& m_database;
    std::size_t m_queries, m_kept_hits;
    std::uint64_t m_query_residues = 0;
    parts m_parts = parts::both;
    bool m_vectors;
    std::size_t m_items; // of search_lanes
    std::size_t m_score_bytes; // of one query and chunk
    apps::context m_context;
    apps::queue m_queue, m_transfer_queue;
    apps::program m_program;
    std::vector<apps::buffer> m_constants; // queries or their profiles
    apps::buffer m_matrix, m_scratch;
    std::vector<slot> m_slots;
    std::vector<std::vector<hit>> m_hits; // heaps, the worst on top
    std::atomic<std::size_t> m_collected{0};
};

/// A way to search; each lies in a file of its own.
class searcher {
  public:
    virtual ~searcher() = default;
    /// Searches the whole database.
    virtual void run() = 0;
    /// Seconds of the last run that do not count: where computation alone is wanted, its data had to come first.
    [[nodiscard]] virtual double uncounted() const { return 0; }
};

std::unique_ptr<searcher> make_plain(problem& problem);
std::unique_ptr<searcher> make_hand_optimised(problem& problem);
std::unique_ptr<searcher> make_causeway(problem& problem);

} // namespace smith_waterman

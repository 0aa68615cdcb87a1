// SPDX-License-Identifier: Apache-2.0
// Finds loops (Tarjan), checks that they go on for ever, and counts stages by longest path.
#include "graph/stages.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <numeric>

namespace causeway::graph {

namespace {

std::size_t divided_up(std::size_t bytes, std::size_t by) { return (bytes + by - 1) / by; }

/// Kernels are bound to every combination of the buffers that they meet, so counts with small common multiples.
std::size_t handy_count(std::size_t buffers) {
    for (const std::size_t count : {1, 2, 3, 4, 6, 12})
        if (buffers <= count) return count;
    return divided_up(buffers, 12) * 12;
}

class stage_counter {
  public:
    stage_counter(const description& described, pipeline& compiled)
        : m_described(described), m_pipeline(compiled), m_loop(compiled.actors.size()) {}

    void run(std::size_t slack) {
        find_loops();
        for (auto& loop : m_loops)
            if (loop.size() > 1 || reads_itself(loop.front())) check_loop(loop);
        count_stages();
        count_buffers(slack);
        sort_actors();
    }

  private:
    [[nodiscard]] bool reads_itself(std::size_t actor) const {
        for (const auto& in : m_pipeline.actors[actor].inputs)
            if (m_pipeline.channels[in.channel].writer == actor) return true;
        return false;
    }

    /// Strongly connected components, sources before targets. Without recursion: a chain may be long.
    void find_loops() {
        const auto count = m_pipeline.actors.size();
        constexpr auto unseen = static_cast<std::size_t>(-1);
        std::vector<std::size_t> index(count, unseen), low(count, 0), open;
        std::vector<bool> is_open(count, false);
        struct visit {
            std::size_t actor, next;
        };
        std::vector<visit> path;
        std::size_t counter = 0;
        // Against the direction of the edges, so that components come out in the order in which bytes flow.
        const auto enter = [&](std::size_t actor) {
            index[actor] = low[actor] = counter++;
            open.push_back(actor);
            is_open[actor] = true;
            path.push_back({actor, 0});
        };
        for (std::size_t root = 0; root < count; ++root) {
            if (index[root] != unseen) continue;
            enter(root);
            while (!path.empty()) {
                const auto actor = path.back().actor;
                const auto& inputs = m_pipeline.actors[actor].inputs;
                if (path.back().next < inputs.size()) {
                    const auto other = m_pipeline.channels[inputs[path.back().next++].channel].writer;
                    if (index[other] == unseen) {
                        enter(other);
                    } else if (is_open[other]) {
                        low[actor] = std::min(low[actor], index[other]);
                    }
                    continue;
                }
                path.pop_back();
                if (!path.empty()) low[path.back().actor] = std::min(low[path.back().actor], low[actor]);
                if (low[actor] != index[actor]) continue;
                auto& members = m_loops.emplace_back();
                std::size_t member;
                do {
                    member = open.back();
                    open.pop_back();
                    is_open[member] = false;
                    m_loop[member] = m_loops.size() - 1;
                    members.push_back(member);
                } while (member != actor);
            }
        }
    }

    /// A loop goes on for ever if it can complete one period by itself, because then all is as it was before (Lee and
    /// Messerschmitt 1987, section III).
    void check_loop(std::vector<std::size_t>& loop) {
        for (const auto member : loop)
            for (const auto& in : m_pipeline.actors[member].inputs) check_window(member, in);
        std::vector<std::uint64_t> fired(m_pipeline.actors.size(), 0);
        std::vector<std::size_t> order;
        for (bool moved = true; moved;) {
            moved = false;
            for (const auto member : loop) {
                const auto before = fired[member];
                while (fired[member] < m_pipeline.actors[member].repetitions && !waits_for(member, fired))
                    ++fired[member];
                if (fired[member] == before) continue;
                moved = true;
                if (before == 0) order.push_back(member);
            }
        }
        for (const auto member : loop)
            if (fired[member] < m_pipeline.actors[member].repetitions) refuse_loop(member, fired);
        loop = order;
    }

    void check_window(std::size_t member, const actor::input& in) const {
        const auto& ring = m_pipeline.channels[in.channel];
        const auto& reader = ring.readers[in.reader];
        if (m_loop[ring.writer] != m_loop[member] || reader.after_bytes <= reader.delay_bytes) return;
        const auto& edge = m_described.edges()[reader.edges.front()];
        throw transfer_error(status::invalid_operation, m_described.text_of(edge) + " is part of a loop and looks " +
                                                            bytes_text(reader.after_bytes) +
                                                            " ahead: it needs a delay of as many bytes, and has " +
                                                            bytes_text(reader.delay_bytes));
    }

    /// The input of `member` on which it waits for another of its loop, if any.
    [[nodiscard]] const actor::input* waits_for(std::size_t member, const std::vector<std::uint64_t>& fired) const {
        for (const auto& in : m_pipeline.actors[member].inputs) {
            const auto& ring = m_pipeline.channels[in.channel];
            if (m_loop[ring.writer] != m_loop[member]) continue;
            const auto& reader = ring.readers[in.reader];
            if (missing(ring, reader, fired[member], fired[ring.writer]) > 0) return &in;
        }
        return nullptr;
    }

    [[nodiscard]] static std::int64_t missing(const channel& ring, const channel::reader& reader, std::uint64_t reads,
                                              std::uint64_t writes) {
        return reader.begin(reads) + static_cast<std::int64_t>(reader.window_bytes()) -
               static_cast<std::int64_t>(writes * ring.produced_bytes);
    }

    [[noreturn]] void refuse_loop(std::size_t member, const std::vector<std::uint64_t>& fired) const {
        // Whoever waits, waits for somebody who waits: walk until somebody comes again.
        std::vector<std::size_t> path;
        std::vector<std::string> reasons;
        while (std::find(path.begin(), path.end(), member) == path.end()) {
            path.push_back(member);
            const auto& in = *waits_for(member, fired);
            const auto& ring = m_pipeline.channels[in.channel];
            const auto& reader = ring.readers[in.reader];
            reasons.push_back(
                name_of(m_described, m_pipeline.actors[member]) + " waits for " +
                bytes_text(static_cast<unsigned long long>(missing(ring, reader, fired[member], fired[ring.writer]))) +
                " more from " + name_of(m_described, m_pipeline.actors[ring.writer]) + " (delay " +
                bytes_text(reader.delay_bytes) + ")");
            member = ring.writer;
        }
        const auto first = static_cast<std::size_t>(std::find(path.begin(), path.end(), member) - path.begin());
        std::string text = "the graph would stop for ever: ";
        for (auto i = first; i < reasons.size(); ++i) text += (i == first ? "" : ", ") + reasons[i];
        throw transfer_error(status::invalid_operation, text + "; the loop needs a larger delay");
    }

    void count_stages() {
        std::vector<std::size_t> stage(m_loops.size(), 0);
        for (std::size_t loop = 0; loop < m_loops.size(); ++loop) {
            for (const auto member : m_loops[loop]) {
                for (const auto& in : m_pipeline.actors[member].inputs) {
                    const auto& ring = m_pipeline.channels[in.channel];
                    if (m_loop[ring.writer] == loop) continue;
                    stage[loop] = std::max(stage[loop], stage[m_loop[ring.writer]] + distance(ring, in.reader));
                }
            }
            for (const auto member : m_loops[loop]) m_pipeline.actors[member].stage = stage[loop];
            m_pipeline.stages = std::max(m_pipeline.stages, stage[loop] + 1);
        }
    }

    /// Periods by which the reader comes after the writer: those that its window looks ahead, and one so that both can
    /// work at once, unless one lane does the work of both anyway.
    [[nodiscard]] std::size_t distance(const channel& ring, std::size_t number) const {
        const auto& reader = ring.readers[number];
        const auto ahead = reader.after_bytes - std::min(reader.after_bytes, reader.delay_bytes);
        const bool one_lane = m_pipeline.actors[ring.writer].lane == m_pipeline.actors[reader.actor].lane;
        return divided_up(ahead, ring.period_bytes) + (one_lane ? 0 : 1);
    }

    void count_buffers(std::size_t slack) {
        for (auto& ring : m_pipeline.channels) {
            const auto& writer = m_pipeline.actors[ring.writer];
            std::size_t buffers = 1;
            for (const auto& reader : ring.readers) {
                const auto& other = m_pipeline.actors[reader.actor];
                const auto kept = divided_up(reader.delay_bytes + reader.before_bytes, ring.period_bytes);
                const bool looped = m_loop[ring.writer] == m_loop[reader.actor];
                const auto spare = looped || writer.lane == other.lane ? 0 : slack;
                buffers = std::max(buffers, (looped ? 0 : other.stage - writer.stage) + 1 + kept + spare);
            }
            ring.buffers = handy_count(buffers);
        }
    }

    void sort_actors() {
        std::vector<std::size_t> order, new_number(m_pipeline.actors.size());
        for (const auto& loop : m_loops) order.insert(order.end(), loop.begin(), loop.end());
        std::vector<actor> sorted;
        for (const auto old : order) {
            new_number[old] = sorted.size();
            sorted.push_back(std::move(m_pipeline.actors[old]));
        }
        m_pipeline.actors = std::move(sorted);
        for (auto& ring : m_pipeline.channels) {
            ring.writer = new_number[ring.writer];
            for (auto& reader : ring.readers) reader.actor = new_number[reader.actor];
        }
    }

    const description& m_described;
    pipeline& m_pipeline;
    std::vector<std::size_t> m_loop; // of each actor; alone if it is in none
    std::vector<std::vector<std::size_t>> m_loops; // sources before targets
};

} // namespace

void assign_stages(const description& described, pipeline& compiled, std::size_t slack) {
    stage_counter(described, compiled).run(slack);
}

} // namespace causeway::graph

// SPDX-License-Identifier: Apache-2.0
// Turns a description into actors and channels: finds what crosses from one memory to another, and copies it once.
#include "graph/balance.hpp"
#include "graph/pipeline.hpp"
#include "graph/stages.hpp"

#include "base/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace causeway::graph {

namespace {

class compiler {
  public:
    compiler(const description& described, const std::vector<device_limits>& devices)
        : m_described(described), m_devices(devices) {}

    pipeline compile(std::size_t slack) {
        m_described.check_complete();
        m_balance = balance_of(m_described);
        m_result.periods = m_balance.periods;
        make_actors();
        for (std::size_t i = 0; i < m_described.edges().size(); ++i) add_edge(i);
        assign_stages(m_described, m_result, slack);
        cut_cells();
        check_memory();
        return std::move(m_result);
    }

  private:
    std::size_t lane_of(lane_kind kind, memory_space where) {
        if (where != host && !m_devices.at(where).overlap) kind = lane_kind::compute;
        const auto [found, added] = m_lanes.try_emplace({kind, where}, m_result.lanes.size());
        if (added) m_result.lanes.push_back({kind, where});
        return found->second;
    }

    std::size_t make_actor(actor_kind kind, std::size_t node, std::size_t lane) {
        m_result.actors.push_back({.kind = kind,
                                   .node = node,
                                   .lane = lane,
                                   .island = m_balance.island[node],
                                   .repetitions = m_balance.repetitions[node]});
        return m_result.actors.size() - 1;
    }

    void make_actors() {
        const auto& nodes = m_described.nodes();
        m_actor_of.resize(nodes.size());
        std::vector<memory_space> feeds(nodes.size(), host); // of a direct output: where its bytes are made
        for (const auto& each : m_described.edges()) feeds[each.target] = memory_space_of(each.source);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            switch (nodes[i].kind) {
            case node_kind::kernel:
                m_actor_of[i] = make_actor(actor_kind::kernel, i, lane_of(lane_kind::compute, nodes[i].where));
                break;
            case node_kind::function:
                m_actor_of[i] = make_actor(actor_kind::function, i, lane_of(lane_kind::host, host));
                break;
            case node_kind::input:
                // A direct one has an actor for each device that reads it; the host's own is made when it is needed.
                m_actor_of[i] = none;
                break;
            case node_kind::output:
                m_actor_of[i] = nodes[i].direct && feeds[i] != host
                                    ? make_actor(actor_kind::output, i, lane_of(lane_kind::copy_out, feeds[i]))
                                    : make_actor(actor_kind::output, i, lane_of(lane_kind::host, host));
                break;
            }
        }
    }

    [[nodiscard]] memory_space memory_space_of(std::size_t node) const {
        return m_described.nodes()[node].kind == node_kind::kernel ? m_described.nodes()[node].where : host;
    }

    /// Where the target's actor finds its bytes.
    [[nodiscard]] memory_space reading_space(const edge& each) const {
        const auto& target = m_described.nodes()[each.target];
        if (target.kind == node_kind::output && target.direct) return memory_space_of(each.source);
        return memory_space_of(each.target);
    }

    void add_edge(std::size_t number) {
        const auto& each = m_described.edges()[number];
        const auto index = channel_at(each, reading_space(each));
        auto& ring = m_result.channels[index];
        const auto target = m_actor_of[each.target];
        const auto kept = each.delay_bytes + each.before_bytes;
        take_initial(ring, each);
        ring.initial_bytes = std::max(ring.initial_bytes, kept);
        ring.readers.push_back({.actor = target,
                                .position = each.target_position,
                                .consumed_bytes = each.consumed_bytes,
                                .delay_bytes = each.delay_bytes,
                                .before_bytes = each.before_bytes,
                                .after_bytes = each.after_bytes,
                                .edges = {number}});
        set_input(target, each.target_position, {index, ring.readers.size() - 1});
    }

    /// Edges that share a ring find the same bytes before its beginning.
    void take_initial(channel& ring, const edge& each) const {
        std::vector<std::byte> mine = each.initial;
        const auto not_zero = [](std::byte value) { return value != std::byte{0}; };
        mine.erase(mine.begin(), std::find_if(mine.begin(), mine.end(), not_zero));
        if (ring.initial_bytes == 0) {
            ring.initial = std::move(mine);
            return;
        }
        const auto& other = ring.initial;
        const auto shared = std::min(ring.initial_bytes, each.delay_bytes + each.before_bytes);
        const auto value = [](const std::vector<std::byte>& values, std::size_t from_end) {
            return from_end < values.size() ? values[values.size() - 1 - from_end] : std::byte{0};
        };
        for (std::size_t i = 0; i < shared; ++i)
            if (value(mine, i) != value(other, i))
                throw transfer_error(status::invalid_value,
                                     m_described.text_of(each) + " and " +
                                         m_described.text_of(m_described.edges()[ring.readers.front().edges.front()]) +
                                         " leave one output with different initial values");
        if (mine.size() > other.size()) ring.initial = std::move(mine);
    }

    void set_input(std::size_t target, std::size_t position, actor::input in) {
        auto& inputs = m_result.actors[target].inputs;
        if (inputs.size() <= position) inputs.resize(position + 1);
        inputs[position] = in;
    }

    /// The ring that holds the bytes of an output in a memory space: made once, so that an output that several targets
    /// of one memory space read is copied there once.
    std::size_t channel_at(const edge& each, memory_space where) {
        const auto key = std::tuple(each.source, each.source_position, where);
        if (const auto found = m_channels.find(key); found != m_channels.end()) return found->second;
        const auto& source = m_described.nodes()[each.source];
        const auto home = memory_space_of(each.source);
        std::size_t index;
        if (source.kind == node_kind::input && (where == host || source.direct)) {
            const auto lane = where == host ? lane_of(lane_kind::host, host) : lane_of(lane_kind::copy_in, where);
            index = make_channel(each, where, make_actor(actor_kind::input, each.source, lane), 0);
        } else if (where == home) {
            index = make_channel(each, where, m_actor_of[each.source], each.source_position);
        } else {
            index = make_copy(each, home, where);
        }
        m_channels.emplace(key, index);
        return index;
    }

    /// From the host to a device or back; between two devices both, one after the other.
    std::size_t make_copy(const edge& each, memory_space home, memory_space where) {
        const auto from = channel_at(each, home == host || where == host ? home : host);
        const auto copier = where == host
                                ? make_actor(actor_kind::copy_out, each.source, lane_of(lane_kind::copy_out, home))
                                : make_actor(actor_kind::copy_in, each.source, lane_of(lane_kind::copy_in, where));
        auto& readers = m_result.channels[from].readers;
        readers.push_back({.actor = copier, .position = 0, .consumed_bytes = each.produced_bytes, .edges = {}});
        for (std::size_t i = 0; i < m_described.edges().size(); ++i) {
            const auto& other = m_described.edges()[i];
            if (other.source == each.source && other.source_position == each.source_position)
                readers.back().edges.push_back(i);
        }
        set_input(copier, 0, {from, readers.size() - 1});
        return make_channel(each, where, copier, 0);
    }

    std::size_t make_channel(const edge& each, memory_space where, std::size_t writer, std::size_t position) {
        const auto index = m_result.channels.size();
        std::size_t period = 0;
        if (__builtin_mul_overflow(m_balance.repetitions[each.source], each.produced_bytes, &period) ||
            period > most_bytes)
            throw transfer_error(status::invalid_value, m_described.text_of(each) + ": one period of " +
                                                            std::to_string(m_balance.repetitions[each.source]) +
                                                            " tokens of " + bytes_text(each.produced_bytes) +
                                                            " is more than any memory holds");
        m_result.channels.push_back({.where = where,
                                     .writer = writer,
                                     .position = position,
                                     .produced_bytes = each.produced_bytes,
                                     .period_bytes = period});
        auto& outputs = m_result.actors[writer].outputs;
        if (outputs.size() <= position) outputs.resize(position + 1);
        outputs[position] = index;
        return index;
    }

    void cut_cells() {
        for (auto& ring : m_result.channels) {
            std::size_t cell = ring.produced_bytes;
            for (const auto& reader : ring.readers) cell = std::max(cell, reader.consumed_bytes);
            bool fits = cell % ring.produced_bytes == 0;
            for (const auto& reader : ring.readers)
                fits = fits && cell % reader.consumed_bytes == 0 && reader.before_bytes + reader.after_bytes == 0 &&
                       reader.delay_bytes % reader.consumed_bytes == 0;
            ring.cell_bytes = fits ? cell : ring.ring_bytes();
        }
    }

    void check_memory() const {
        for (memory_space where = 0; where < m_devices.size(); ++where) {
            const auto& device = m_devices[where];
            const channel* largest = nullptr;
            for (const auto& ring : m_result.channels) {
                if (ring.where != where) continue;
                if (largest == nullptr || ring.ring_bytes() > largest->ring_bytes()) largest = &ring;
                if (ring.cell_bytes > device.buffer_bytes)
                    refuse_memory("a buffer of " + bytes_text(ring.cell_bytes) + " for " + text_of(ring) +
                                  " is larger than device '" + device.name + "' allows, " +
                                  bytes_text(device.buffer_bytes));
            }
            const auto needed = memory_bytes(m_result, where);
            if (needed > device.memory_bytes)
                refuse_memory("the graph needs " + bytes_text(needed) + " on device '" + device.name + "', which has " +
                              bytes_text(device.memory_bytes) + "; most of it, " + std::to_string(largest->buffers) +
                              " x " + bytes_text(largest->period_bytes) + ", for " + text_of(*largest));
        }
        check_host_memory();
    }

    void check_host_memory() const {
        const channel* largest = nullptr;
        for (const auto& ring : m_result.channels)
            if (ring.where == host && (largest == nullptr || ring.ring_bytes() > largest->ring_bytes()))
                largest = &ring;
        const auto needed = memory_bytes(m_result, host);
        const auto there = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        if (needed > there)
            refuse_memory("the graph needs " + bytes_text(needed) + " of the host's memory, which has " +
                          bytes_text(there) + "; most of it, " + std::to_string(largest->buffers) + " x " +
                          bytes_text(largest->period_bytes) + ", for " + text_of(*largest));
    }

    [[noreturn]] static void refuse_memory(const std::string& text) {
        throw transfer_error(status::mem_object_allocation_failure, text);
    }

    [[nodiscard]] std::string text_of(const channel& ring) const {
        return m_described.text_of(m_described.edges()[ring.readers.front().edges.front()]);
    }

    static constexpr auto none = static_cast<std::size_t>(-1);
    static constexpr std::size_t most_bytes = std::size_t{1} << 46;

    const description& m_described;
    const std::vector<device_limits>& m_devices;
    balance m_balance;
    pipeline m_result;
    std::map<std::pair<lane_kind, memory_space>, std::size_t> m_lanes;
    std::vector<std::size_t> m_actor_of; // by node
    std::map<std::tuple<std::size_t, std::size_t, memory_space>, std::size_t> m_channels; // by node, position, memory
                                                                                          // space
};

} // namespace

pipeline compile(const description& described, const std::vector<device_limits>& devices, std::size_t slack) {
    return compiler(described, devices).compile(slack);
}

std::uint64_t memory_bytes(const pipeline& compiled, memory_space where) {
    std::uint64_t bytes = 0;
    for (const auto& ring : compiled.channels)
        if (ring.where == where) bytes += ring.ring_bytes();
    return bytes;
}

} // namespace causeway::graph

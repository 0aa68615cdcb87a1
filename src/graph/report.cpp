// SPDX-License-Identifier: Apache-2.0
// Shows a compiled graph to people.
#include "graph/pipeline.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace causeway::graph {

namespace {

std::string memory_space_text(memory_space where, const std::vector<device_limits>& devices) {
    return where == host ? "the host" : std::string("device '").append(devices[where].name).append("'");
}

std::string lane_text(const lane& named, const std::vector<device_limits>& devices) {
    auto where = memory_space_text(named.where, devices);
    switch (named.kind) {
    case lane_kind::host: return where;
    case lane_kind::copy_in: return "copies to " + where;
    case lane_kind::copy_out: return "copies from " + where;
    case lane_kind::compute: break;
    }
    return where;
}

std::string time_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
    return text;
}

std::string edge_text(const description& described, const channel& ring, const pipeline& compiled) {
    std::string text = name_of(described, compiled.actors[ring.writer]) + " -> ";
    for (std::size_t i = 0; i < ring.readers.size(); ++i)
        text += (i == 0 ? "" : ", ") + name_of(described, compiled.actors[ring.readers[i].actor]);
    return text;
}

/// Each lane does its firings of one period one after another, and lanes work side by side: the slowest sets the pace.
std::string prediction(const pipeline& compiled, const std::vector<device_limits>& devices,
                       const std::vector<double>& seconds) {
    std::vector<double> load(compiled.lanes.size(), 0);
    for (std::size_t i = 0; i < compiled.actors.size(); ++i)
        load[compiled.actors[i].lane] += seconds[i] * static_cast<double>(compiled.actors[i].repetitions);
    const auto slowest = static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
    return "predicted time of a period: " + time_text(load[slowest]) + ", set by " +
           lane_text(compiled.lanes[slowest], devices);
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter;
    }
    return result;
}

} // namespace

std::string name_of(const description& described, const actor& named) {
    auto name = std::string("'").append(described.nodes()[named.node].name).append("'");
    if (named.kind == actor_kind::copy_in) return "copy in of " + name;
    if (named.kind == actor_kind::copy_out) return "copy out of " + name;
    return name;
}

std::string explain(const description& described, const pipeline& compiled, const std::vector<device_limits>& devices,
                    const std::vector<double>& measured, const std::vector<double>& estimated) {
    std::string text = std::to_string(compiled.stages) + (compiled.stages == 1 ? " stage\n" : " stages\n");
    for (std::size_t stage = 0; stage < compiled.stages; ++stage) {
        for (std::size_t i = 0; i < compiled.actors.size(); ++i) {
            const auto& each = compiled.actors[i];
            if (each.stage != stage) continue;
            text += "  stage " + std::to_string(stage) + ": " + name_of(described, each) + ", " +
                    std::to_string(each.repetitions) + " x per period, " +
                    lane_text(compiled.lanes[each.lane], devices);
            if (!measured.empty()) text += ", " + time_text(measured[i]);
            text += '\n';
        }
    }
    std::map<memory_space, std::uint64_t> sums;
    text += "buffers\n";
    for (const auto& ring : compiled.channels) {
        text += "  " + edge_text(described, ring, compiled) + ": " + std::to_string(ring.buffers) + " x " +
                bytes_text(ring.period_bytes) + " on " + memory_space_text(ring.where, devices) + '\n';
        sums[ring.where] += ring.ring_bytes();
    }
    for (const auto& [where, bytes] : sums)
        text += "  together " + bytes_text(bytes) + " on " + memory_space_text(where, devices) + '\n';
    if (!measured.empty()) {
        text += prediction(compiled, devices, measured) + '\n';
    } else if (!estimated.empty()) {
        text += prediction(compiled, devices, estimated) +
                ", by the bytes it takes and gives alone; the option graph_times measures\n";
    }
    return text;
}

std::string to_dot(const description& described, const pipeline& compiled, const std::vector<device_limits>& devices) {
    std::string text = "digraph stream_graph {\n  rankdir=LR;\n";
    for (std::size_t i = 0; i < compiled.actors.size(); ++i) {
        const auto& each = compiled.actors[i];
        const bool copy = each.kind == actor_kind::copy_in || each.kind == actor_kind::copy_out;
        const bool stream = each.kind == actor_kind::input || each.kind == actor_kind::output;
        text += "  a" + std::to_string(i) + " [label=\"" + escaped(name_of(described, each)) + "\\nstage " +
                std::to_string(each.stage) + ", " + escaped(lane_text(compiled.lanes[each.lane], devices)) +
                "\", shape=" +
                (copy     ? "cds"
                 : stream ? "ellipse"
                          : "box") +
                "];\n";
    }
    for (const auto& ring : compiled.channels) {
        for (const auto& reader : ring.readers) {
            text += "  a" + std::to_string(ring.writer) + " -> a" + std::to_string(reader.actor) + " [label=\"" +
                    std::to_string(ring.buffers) + " x " + bytes_text(ring.period_bytes);
            if (reader.delay_bytes != 0) text += "\\ndelay " + bytes_text(reader.delay_bytes);
            text += "\"];\n";
        }
    }
    return text + "}\n";
}

} // namespace causeway::graph

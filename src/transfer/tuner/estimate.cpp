// SPDX-License-Identifier: Apache-2.0
// Which stages a plan makes blocks pass.
#include "transfer/tuner/estimate.hpp"

#include "transfer/tuner/cost_model.hpp"

#include <algorithm>

namespace causeway::transfer {

estimate::estimate(const tuner& known, const route& way) : m_way(way) {
    const auto at = [&](const endpoint_traits& end, operation what) {
        return end.resource.empty() ? figure() : known.find(end.resource, what);
    };
    const auto &source = way.source, &target = way.target;
    // Of the device of the other rank nothing is known: it is taken for one like ours.
    const auto& out = source.kind == medium::rank ? target : source;
    const auto& in = target.kind == medium::rank ? source : target;
    if (out.kind == medium::device) {
        m_copy_out = at(out, operation::copy_out);
        m_map_out = at(out, operation::map_out);
    }
    if (in.kind == medium::device) {
        m_copy_in = at(in, operation::copy_in);
        m_map_in = at(in, operation::map_in);
    }
    if (source.kind == medium::file) m_read = at(source, operation::read);
    if (target.kind == medium::file) m_write = at(target, operation::write);
    if (source.kind == medium::rank) m_receive = at(source, operation::receive);
    if (target.kind == medium::rank) m_send = at(target, operation::send);
    if (way.touches(medium::rank)) m_window = at(source.kind == medium::rank ? source : target, operation::window);
    // What lies in a window from the start takes fewer steps.
    if (source.in_window || target.in_window) return;
    m_link = at(target.kind == medium::rank ? target : source, operation::link);
    m_link_in = at(in, operation::link_in);
}

std::optional<double> estimate::seconds(const plan& chosen, std::size_t bytes) const {
    if (chosen.direct) return {};
    pipeline blocks;
    bool is_known = true;
    // A device or a rank does what it is given one after the other; I/O threads read and write side by side.
    const auto pass = [&](const figure& stage, unsigned at_once, bool in_turn = true) {
        is_known = is_known && stage.has_value();
        if (is_known) blocks.add(*stage, at_once, in_turn);
    };
    const auto set_up = [&](const figure& stage) {
        is_known = is_known && stage.has_value();
        if (is_known) blocks.set_up += stage->seconds(static_cast<double>(bytes));
    };
    const auto lanes_of = [&](const endpoint_traits& end) {
        return static_cast<unsigned>(std::min<std::size_t>(end.in_flight, chosen.io_threads));
    };
    // A copy is submitted while the one before it is under way.
    const unsigned ahead = std::min(chosen.depth, 2u);
    blocks.one_memory = m_way.source.can_map || m_way.target.can_map;
    const bool maps = chosen.map_source || chosen.map_target;
    const bool has_rank = m_way.touches(medium::rank);

    if (has_rank && maps) {
        // The other rank does as this one.
        if (!m_way.source.maps_at_once && !m_way.target.maps_at_once) {
            set_up(m_map_out);
            set_up(m_map_in);
        }
        pass(m_way.source.kind == medium::rank ? m_receive : m_send, ahead);
    } else if (chosen.device_window) {
        pass(m_link, chosen.depth);
        pass(m_link_in, ahead);
    } else if (chosen.window) {
        pass(m_window, chosen.depth);
        pass(m_copy_in, ahead);
    } else {
        switch (m_way.source.kind) {
        case medium::device:
            if (!chosen.map_source)
                pass(m_copy_out, ahead);
            else if (!m_way.source.maps_at_once)
                set_up(m_map_out);
            break;
        case medium::file: pass(m_read, lanes_of(m_way.source), false); break;
        case medium::rank:
            pass(m_copy_out, ahead);
            pass(m_receive, ahead);
            break;
        default: return {};
        }
        switch (m_way.target.kind) {
        case medium::device:
            if (!chosen.map_target)
                pass(m_copy_in, ahead);
            else if (!m_way.target.maps_at_once)
                set_up(m_map_in);
            break;
        case medium::file:
            // One writer with the next block at hand, which is what its figures are corrected by.
            pass(m_write, m_way.has_one_writer() ? chosen.handed : lanes_of(m_way.target), false);
            break;
        case medium::rank:
            pass(m_send, ahead);
            pass(m_copy_in, ahead);
            break;
        default: return {};
        }
    }
    if (!is_known) return {};
    return predicted_seconds(blocks, bytes, chosen.block_bytes, chosen.depth);
}

std::optional<double> estimate::limit(const plan& chosen, std::size_t bytes) const {
    const auto size = static_cast<double>(bytes);
    double slowest = 0;
    bool is_known = true;
    // The quicker of several ways to do the same, alone or by several operations at once.
    const auto pass = [&](std::initializer_list<const figure*> ways) {
        std::optional<double> quickest;
        for (const auto* const way : ways) {
            if (!way->has_value()) continue;
            const double takes = std::min((*way)->seconds(size), (*way)->share(size));
            quickest = quickest ? std::min(*quickest, takes) : takes;
        }
        is_known = is_known && quickest.has_value();
        if (quickest) slowest = std::max(slowest, *quickest);
    };
    if (chosen.device_window) {
        pass({&m_link});
        pass({&m_link_in});
    } else {
        switch (m_way.source.kind) {
        case medium::device: pass({&m_copy_out, &m_map_out}); break;
        case medium::file: pass({&m_read}); break;
        case medium::rank: pass({&m_receive, &m_window}); break;
        default: break;
        }
        switch (m_way.target.kind) {
        case medium::device: pass({&m_copy_in, &m_map_in}); break;
        case medium::file: pass({&m_write}); break;
        case medium::rank: pass({&m_send, &m_window}); break;
        default: break;
        }
    }
    if (!is_known || slowest <= 0) return {};
    return slowest;
}

} // namespace causeway::transfer

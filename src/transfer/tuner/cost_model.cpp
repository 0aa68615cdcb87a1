// SPDX-License-Identifier: Apache-2.0
// The time of a pipeline in closed form.
#include "transfer/tuner/cost_model.hpp"

#include <algorithm>

namespace causeway::transfer {

double predicted_seconds(const pipeline& way, std::size_t bytes, std::size_t block_bytes, unsigned depth) {
    if (bytes == 0) return way.set_up;
    const std::size_t whole = std::clamp<std::size_t>(block_bytes, 1, bytes);
    const std::size_t full = bytes / whole, rest = bytes % whole;
    const auto size = static_cast<double>(whole), last = static_cast<double>(rest), all = static_cast<double>(bytes);
    const unsigned in_flight = std::max(depth, 1u);

    // All blocks by `at_once` operations at a time, one of which takes `each`, and one with the rest of the bytes
    // `of_rest`.
    const auto rounds = [&](unsigned at_once, double each, double of_rest) {
        const std::size_t whole_rounds = (full + at_once - 1) / at_once;
        return static_cast<double>(whole_rounds) * each + (rest > 0 && full % at_once == 0 ? of_rest : 0);
    };
    // A block has to pass all stages before its slot in the pipeline is free again.
    double pass = 0, pass_of_rest = 0;
    for (std::size_t i = 0; i < way.count; ++i) {
        pass += way.stages[i].model.seconds(size);
        pass_of_rest += way.stages[i].model.seconds(last);
    }
    double slowest = rounds(in_flight, pass, pass_of_rest);

    double before = 0, after = pass, of_memory = 0;
    for (std::size_t i = 0; i < way.count; ++i) {
        const auto& model = way.stages[i].model;
        const unsigned at_once = std::clamp(way.stages[i].at_once, 1u, in_flight);
        after -= model.seconds(size);
        auto own = rounds(at_once, model.seconds(size), model.seconds(last));
        auto first = model.seconds(size);
        if (at_once > 1) {
            const auto count = static_cast<double>(full + (rest > 0 ? 1 : 0));
            own = std::max(own, count * model.gap + all / model.ceiling);
            // Neighbours in turn arrive together.
            const double neighbours = way.stages[i].in_turn ? 1 : std::min<double>(at_once, count);
            first = std::max(first, neighbours * model.gap + std::min(size * neighbours, all) / model.ceiling);
        }
        of_memory += all / model.ceiling;
        slowest = std::max(slowest, before + own + after);
        before += first;
    }
    return way.set_up + (way.one_memory ? std::max(slowest, of_memory) : slowest);
}

} // namespace causeway::transfer

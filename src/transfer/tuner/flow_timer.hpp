// SPDX-License-Identifier: Apache-2.0
// Times what the endpoints of one flow do, for the tuner.
#pragma once

#include "base/clock.hpp"
#include "transfer/tuner/stage_model.hpp"

#include <array>
#include <cstddef>

namespace causeway::transfer {

enum class side : std::size_t { source, target };

/// Engine's thread only. Does nothing until use() gives it a clock.
class flow_timer {
  public:
    /// Of one operation that is under way.
    struct mark {
        time_point begun;
        unsigned company = 0; ///< operations of its side under way at its begin, itself included; 0: not timed
    };

    void use(const monotonic_clock& clock) { m_clock = &clock; }

    void begin(side where, mark& one);
    /// `bytes` is 0 for an operation that failed.
    void end(side where, mark& one, std::size_t bytes);

    /// A map, then its unmap.
    void begin_map(side where);
    void end_map(side where);

    /// The times of a side's operations; and of its map and unmap of `map_bytes`, counted as one operation.
    [[nodiscard]] sample_pair samples(side where) const;
    [[nodiscard]] sample_pair map_sample(side where, std::size_t map_bytes) const;

  private:
    /// Sums. Counts an operation only if as many others were under way at its end as at its begin.
    struct group {
        double operations = 0, bytes = 0, seconds = 0, company = 0;
    };
    struct half {
        unsigned in_flight = 0;
        group alone, together;
        time_point map_begun;
        double map_seconds = 0;
        unsigned maps = 0;
    };
    [[nodiscard]] half& at(side where) { return m_sides[static_cast<std::size_t>(where)]; }
    [[nodiscard]] const half& at(side where) const { return m_sides[static_cast<std::size_t>(where)]; }

    const monotonic_clock* m_clock = nullptr;
    std::array<half, 2> m_sides;
};

} // namespace causeway::transfer

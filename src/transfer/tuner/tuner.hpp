// SPDX-License-Identifier: Apache-2.0
// What is known of the stages of this machine: measured, corrected by the transfers that run, remembered.
#pragma once

#include "base/clock.hpp"
#include "base/options.hpp"
#include "transfer/tuner/stage_model.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::transfer {

/// One stage, as it is kept.
struct known_stage {
    std::string resource;
    operation what{};
    stage_model model;
    std::int64_t seen = 0; ///< when it was measured or corrected last, seconds since 1970
    std::int64_t measured = 0; ///< when it was measured last; 0 if all that is known is from transfers
};

/// Whether `one` was measured later than `other`; after measurements at the same time, whether it was seen later.
[[nodiscard]] bool is_younger(const known_stage& one, const known_stage& other);

/// The values of the option `tuner`.
enum class tuner_mode : std::uint64_t { automatic, fixed, off };

[[nodiscard]] std::int64_t seconds_since_1970();

/// Any thread.
class tuner {
  public:
    /// `clock` says how long operations take; `calendar` is the time in seconds since 1970.
    explicit tuner(const options& settings, const monotonic_clock& clock,
                   std::int64_t (*calendar)() = seconds_since_1970)
        : m_options(settings), m_clock(clock), m_calendar(calendar) {}

    [[nodiscard]] tuner_mode mode() const { return static_cast<tuner_mode>(m_options[option::tuner]); }
    /// Whether transfers have to be timed.
    [[nodiscard]] bool listens() const { return mode() == tuner_mode::automatic; }
    [[nodiscard]] const monotonic_clock& clock() const { return m_clock; }
    [[nodiscard]] std::int64_t today() const { return m_calendar(); }

    /// The model to choose plans by; none if unknown. Follows corrections once they add up to 8 %.
    [[nodiscard]] std::optional<stage_model> find(std::string_view resource, operation what) const;
    /// Changes when find() does.
    [[nodiscard]] std::uint64_t version() const { return m_version.load(std::memory_order_acquire); }

    /// Replaces what was known.
    void measured(std::string_view resource, operation what, const stage_model& model);
    /// Corrects what is known; a stage that was never measured stays unknown until enough was seen of it.
    void learn(std::string_view resource, operation what, const stage_sample& seen);

    /// Takes over each stage of `kept` that is younger than what is known of it.
    void restore(const std::vector<known_stage>& kept);
    [[nodiscard]] std::vector<known_stage> all() const;
    void clear();
    /// Whether anything has changed since the last call.
    [[nodiscard]] bool take_changed();

  private:
    struct entry {
        stage_model model, published;
        std::int64_t seen = 0, measured = 0;
        bool is_published = false;
        std::vector<stage_sample> first; // until there is a model
    };
    using key = std::pair<std::string, operation>;
    struct key_order {
        using is_transparent = void;
        template <class A, class B> bool operator()(const A& a, const B& b) const {
            if (const int order = std::string_view(a.first).compare(b.first); order != 0) return order < 0;
            return a.second < b.second;
        }
    };
    void publish(entry& which);

    const options& m_options;
    const monotonic_clock& m_clock;
    std::int64_t (*m_calendar)();
    mutable std::mutex m_mutex; // guards m_stages, m_changed
    std::map<key, entry, key_order> m_stages;
    bool m_changed = false;
    std::atomic<std::uint64_t> m_version{1};
};

} // namespace causeway::transfer

// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of one source into one target, block by block, by its plan.
#pragma once

#include "base/reused_list.hpp"
#include "transfer/carrier/staged.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/flow_trace.hpp"
#include "transfer/plan.hpp"
#include "transfer/staging.hpp"
#include "transfer/step.hpp"
#include "transfer/tuner/flow_timer.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>

namespace causeway::transfer {

/// Told on the engine's thread when to call a flow's advance().
class flow_owner {
  public:
    virtual void flow_ready() = 0;
    /// As flow_ready(), but lets other flows advance first.
    virtual void flow_yields() { flow_ready(); }

  protected:
    ~flow_owner() = default;
};

/// The plan of a flow that is run to be timed; then, filled in by the flow, the times of its ends.
struct flow_probe {
    plan chosen;
    sample_pair source, target;
    bool was_alone = false;
    bool shared = false; ///< the blocks were in memory that two processes share
    bool linked = false; ///< the blocks were in windows of the target's device
};

/// A state machine. Engine's thread only, except moved(). Its life: enqueued(), perhaps read_ahead(), then abandon() or
/// start(). After that advance() whenever a step may have finished, until finished().
class flow final : private step_owner {
  public:
    flow(std::unique_ptr<endpoint> source, std::unique_ptr<endpoint> target, std::size_t bytes);
    ~flow();

    /// Call before enqueued(): times the flow by the plan of `probe`, whose result may be read when the command is
    /// complete.
    void use(std::shared_ptr<flow_probe> probe) { m_probe = std::move(probe); }

    /// Call before enqueued(), if the command has a second flow in the other direction.
    void goes_both_ways() { m_both_ways = true; }

    /// Call before enqueued(): records its blocks in `to`.
    void record(recorder* to, std::uint64_t transfer, unsigned number) { m_trace.use(to, transfer, number); }

    void enqueued();
    /// While the command is gated: begins to read the first block if the source can and there is memory to spare. Small
    /// transfers make their plan now.
    void read_ahead(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads);
    void abandon();
    /// After abandon(): true once no step is pending; only then may the flow be destroyed.
    [[nodiscard]] bool quiet() const;
    void start(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads);
    /// Takes up finished steps and begins what can begin.
    void advance();
    /// Stops after the blocks in flight, with `reason` unless something failed before.
    void cancel(const failure& reason);

    [[nodiscard]] bool finished() const { return m_stage == stage::finished; }
    [[nodiscard]] const failure& error() const { return m_failure; }
    [[nodiscard]] const std::optional<plan>& chosen_plan() const { return m_plan; }
    /// Bytes from the start that are in the target. Any thread.
    [[nodiscard]] std::size_t moved() const { return m_moved.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    /// Who else has to act for one of its ends; empty: nobody.
    [[nodiscard]] std::string partner() const;
    /// Whether its blocks are in memory that two processes share. Valid once it has a carrier.
    [[nodiscard]] bool shares_memory() const;

  private:
    friend class flow_review;
    enum class stage { waiting, opening, securing, running, closing, finished };
    enum class block_state { reading, ready, writing };
    struct block {
        explicit block(step_owner& owner) : work(owner) {}
        block_state state = block_state::reading;
        std::size_t offset = 0, bytes = 0;
        carrier* carried_by = nullptr;
        block_memory memory; // of the carrier
        block_memory first; // where its bytes begin
        bool ahead = false; // begun before the gates were open
        bool keeps_memory = false; // see outcome
        [[nodiscard]] block_reference contents() const { return {first, bytes}; }
        flow_timer::mark timed;
        time_point begun; // if it is recorded
        step work;
    };
    using blocks = reused_list<block>;

    void step_finished() override;
    void advance_gated();
    void source_opened();
    void advance_opening();
    [[nodiscard]] bool may_begin_early() const;
    [[nodiscard]] bool begins_early_when_open() const;
    void begin_early(staging_share::early how);
    void advance_securing();
    void advance_running();
    void advance_closing();
    void open_target();
    void begin_closing();
    void take_block(block& done);
    void plan_for(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads);
    [[nodiscard]] carrier_request request();
    [[nodiscard]] route way() const;
    void choose_window();
    void choose_carrier();
    void begin_read(carrier& by, block_memory memory, bool ahead);
    [[nodiscard]] std::optional<block_memory> next_memory();
    [[nodiscard]] std::size_t agreed_block_bytes() const;
    void prepare_source();
    void drop_blocks(); // to read them again
    bool begin_reads();
    bool begin_writes();
    blocks::iterator drop(blocks::iterator which);
    void written(std::size_t offset, std::size_t bytes);
    void fail(const failure& error, std::size_t at);

    std::unique_ptr<endpoint> m_source, m_target;
    abilities m_source_can, m_target_can;
    std::size_t m_bytes;
    std::size_t m_asked_bytes = 0; // the size before read_ahead() opened the source
    std::size_t m_end; // no block beyond: the size, or where the first failure is
    stage m_stage = stage::waiting;
    flow_owner* m_owner = nullptr;
    staging_pool* m_pool = nullptr;
    const planner* m_planner = nullptr;
    unsigned m_io_threads = 1;
    std::optional<plan> m_plan;
    flow_timer m_timer;
    flow_trace m_trace;
    message_identity m_message;
    std::shared_ptr<flow_probe> m_probe;
    endpoint_traits m_source_traits, m_target_traits;
    std::size_t m_block_bytes = 0;
    step m_source_step, m_target_step;
    bool m_source_opened = false, m_target_opened = false, m_target_asked = false;
    bool m_cancelled = false;
    bool m_both_ways = false;
    bool m_ahead = false; // read_ahead() has asked the source to open
    bool m_early = false; // begin_early() has run
    bool m_source_prepared = false;
    bool m_read_at_once = false; // the engine's thread has read some block itself
    std::size_t m_moved_at_once = 0; // bytes that the engine's thread has copied in this turn
    bool m_advancing = false;
    std::size_t m_first_block_bytes = 0; // that aligns the later blocks, by prepare()
    std::optional<staged_carrier> m_staged; // also has the block that was read ahead
    carrier_box m_box;
    carrier* m_carrier = nullptr; // one of the two above, chosen once both ends are open
    carrier_traits m_carried; // of m_carrier
    blocks m_blocks; // in order of offset
    std::size_t m_next_offset = 0;
    std::map<std::size_t, std::size_t> m_islands; // written beyond the prefix: offset, bytes
    std::atomic<std::size_t> m_moved{0};
    failure m_failure;
    std::size_t m_failed_at = 0;
};

} // namespace causeway::transfer

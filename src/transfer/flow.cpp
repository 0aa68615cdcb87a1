// SPDX-License-Identifier: Apache-2.0
// The pipeline of one flow: open both ends, secure memory, move blocks, drain, close.
#include "transfer/flow.hpp"

#include "transfer/tuner/tuner.hpp"

#include <algorithm>
#include <utility>

namespace causeway::transfer {

namespace {

/// What the engine's thread moves of one transfer before it looks after the others.
constexpr std::size_t most_at_once = std::size_t{1} << 20;

void interrupt(const abilities& end) {
    if (end.waits != nullptr) end.waits->cancel();
}

} // namespace

flow::flow(std::unique_ptr<endpoint> source, std::unique_ptr<endpoint> target, std::size_t bytes)
    : m_source(std::move(source)), m_target(std::move(target)), m_source_can(m_source->offers()),
      m_target_can(m_target->offers()), m_bytes(bytes), m_end(bytes), m_source_step(*this), m_target_step(*this) {}

flow::~flow() {
    // A block that was read ahead of a transfer that never started.
    while (!m_blocks.empty()) drop(m_blocks.begin());
}

void flow::step_finished() {
    // A step that finishes inside advance() is seen by the loop there.
    if (!m_advancing && m_owner != nullptr) m_owner->flow_ready();
}

void flow::enqueued() {
    for (auto* const end : {m_source_can.waits, m_target_can.waits})
        if (end != nullptr) end->enqueued();
}

void flow::abandon() {
    for (auto* const end : {m_source_can.waits, m_target_can.waits})
        if (end != nullptr) end->abandoned();
    m_stage = stage::finished;
}

bool flow::quiet() const {
    return std::none_of(m_blocks.begin(), m_blocks.end(), [](const auto& each) { return each.work.pending(); });
}

void flow::plan_for(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads) {
    m_owner = &owner;
    m_pool = &pool;
    m_source_traits = m_source->traits();
    m_target_traits = m_target->traits();
    if (m_target_can.arrives != nullptr) m_target_traits.device = m_target_can.arrives->device_for(*m_source);
    m_planner = &choices;
    m_io_threads = io_threads;
    auto possible = way();
    possible.device_window = m_target_traits.device.is_known && m_source_can.leaves != nullptr &&
                             m_source_can.leaves->reaches(m_target_traits.device);
    m_plan = m_probe ? m_probe->chosen : choices.choose(possible);
    if (m_plan->device_window && possible.device_window &&
        !m_source_can.leaves->can_leave_for(m_target_traits.device)) {
        possible.device_window = false;
        if (!m_probe) m_plan = choices.choose(possible);
    }
    // Who receives cannot know whether the sender's device reaches its windows.
    if (m_probe && m_target_traits.kind == medium::rank) m_plan->device_window &= possible.device_window;
    m_block_bytes = m_plan->block_bytes;
    m_trace.planned(m_source_traits, m_target_traits, *m_plan);
    if (choices.known() != nullptr && (m_probe || choices.known()->listens())) m_timer.use(choices.known()->clock());
    for (auto* const end : {&m_source_traits, &m_target_traits})
        if (end->kind == medium::file) end->in_flight = std::min<std::size_t>(end->in_flight, m_plan->handed);
}

route flow::way() const {
    return {.source = m_source_traits,
            .target = m_target_traits,
            .bytes = m_bytes,
            .io_threads = std::min({m_io_threads, m_source_traits.most_io_threads, m_target_traits.most_io_threads}),
            .largest_block = m_pool->largest_block(),
            .direct = m_target_can.copies != nullptr && m_target_can.copies->takes_from(*m_source),
            .both_ways = m_both_ways};
}

/// The ends are open: they tell whether blocks can go to a window of the target's device after all.
void flow::choose_window() {
    if (m_carrier != nullptr || !m_plan->device_window || m_bytes == 0) return;
    const auto* const lender = m_target_can.lends;
    if (lender != nullptr && lender->lends() && lender->lends_device_memory()) return;
    make_device_window_carrier(request(), m_box);
    m_carrier = m_box.get();
    if (m_carrier != nullptr) {
        m_block_bytes = std::min(m_block_bytes, m_carrier->largest_block());
        return;
    }
    m_plan = m_planner->choose(way());
    // A rank that receives has answered with blocks that it takes, of at most the size it was told.
    if (m_target_traits.kind == medium::device) m_block_bytes = m_plan->block_bytes;
}

void flow::choose_carrier() {
    const auto wanted = request();
    for (auto* const make : m_planner->carriers()) {
        if (m_carrier != nullptr) break;
        make(wanted, m_box);
        m_carrier = m_box.get();
    }
    if (m_carrier == nullptr) {
        if (!m_staged) m_staged.emplace(wanted);
        m_carrier = &*m_staged;
    }
    m_carried = m_carrier->traits();
    m_block_bytes = m_plan->block_bytes = std::min(m_block_bytes, m_carrier->largest_block());
}

carrier_request flow::request() {
    return {.source = *m_source,
            .target = *m_target,
            .source_traits = m_source_traits,
            .target_traits = m_target_traits,
            .chosen = *m_plan,
            .bytes = m_bytes,
            .block_bytes = m_block_bytes,
            .pool = *m_pool,
            .more = [this] { m_owner->flow_ready(); }};
}

void flow::read_ahead(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads) {
    if (m_bytes == 0 || m_source_can.early == nullptr || !m_source_can.early->reads_ahead()) return;
    plan_for(owner, pool, choices, io_threads);
    if (!may_begin_early()) return;
    m_ahead = true;
    m_advancing = true;
    m_source_step.begin();
    m_asked_bytes = m_bytes;
    m_source->open(
        {.bytes = m_bytes,
         .block_bytes = m_block_bytes,
         .is_source = true,
         .ahead = true,
         .window = m_plan->window,
         .other = {.is_device = m_target_traits.kind == medium::device, .maps_at_once = m_target_traits.maps_at_once}},
        m_source_step);
    m_advancing = false;
    advance();
}

void flow::advance_gated() {
    if (!m_source_step.finished()) return;
    source_opened();
    if (m_failure || m_bytes == 0) return;
    begin_early(staging_share::early::at_once);
    if (m_blocks.empty() && m_source_traits.sets_size) {
        m_source_opened = false;
        m_bytes = m_end = m_asked_bytes;
        m_source_step.begin();
        m_source_can.early->open_later(m_source_step);
    }
}

/// Its blocks go through staging memory, as far as is known.
bool flow::may_begin_early() const {
    return !m_plan->direct && !m_plan->device_window && !m_plan->map_source && !m_plan->map_target &&
           !m_target_traits.has_memory;
}

/// The source is open, and the target not, perhaps as others are before it: a device's small block is read meanwhile,
/// together with theirs.
bool flow::begins_early_when_open() const {
    const bool may_be_lent = m_plan->window && m_bytes > m_target_traits.largest_piece;
    return may_begin_early() && !may_be_lent && m_source_traits.kind == medium::device && !m_early && !m_ahead &&
           !m_cancelled && m_bytes > 0 && m_bytes <= agreed_block_bytes();
}

/// Reads the first block before its turn, if there is memory, which it may have to wait for in turn.
void flow::begin_early(staging_share::early how) {
    if (!m_staged) {
        const auto planned = std::exchange(m_block_bytes, agreed_block_bytes());
        // What a source gave must fit into one block, if it has to take all of it back.
        if (m_bytes <= m_block_bytes || !m_source_traits.sets_size) m_staged.emplace(request());
        m_block_bytes = planned;
    }
    const auto memory = m_staged ? m_staged->acquire_early(how) : block_memory{};
    if (!memory && m_staged && m_staged->waits_to_be_early()) return;
    m_early = true;
    if (!memory) {
        m_staged.reset();
        return;
    }
    m_block_bytes = m_staged->block_bytes();
    prepare_source();
    begin_read(*m_staged, memory, m_stage == stage::waiting && !m_source_traits.sets_size);
}

void flow::start(flow_owner& owner, staging_pool& pool, const planner& choices, unsigned io_threads) {
    m_advancing = true;
    m_trace.started();
    if (!m_ahead) {
        plan_for(owner, pool, choices, io_threads);
        m_source_step.begin();
        const bool staged = !m_plan->map_source && !m_plan->map_target && m_target_traits.kind == medium::device;
        if (m_plan->map_source) m_timer.begin_map(side::source);
        m_source->open({.bytes = m_bytes,
                        .block_bytes = m_block_bytes,
                        .map = m_plan->map_source,
                        .is_source = true,
                        .io_threads = m_plan->io_threads,
                        .piece_bytes = m_plan->piece_bytes,
                        .for_device = staged,
                        .window = m_plan->window,
                        .device_window = m_plan->device_window,
                        .other = {.device = m_target_traits.device,
                                  .is_device = m_target_traits.kind == medium::device,
                                  .maps_at_once = m_target_traits.maps_at_once}},
                       m_source_step);
    }
    m_stage = stage::opening;
    if (m_staged) m_staged->started();
    if (m_ahead) m_source_can.early->gates_opened();
    if (!m_source_traits.sets_size) open_target();
    m_advancing = false;
    advance();
}

void flow::open_target() {
    m_target_asked = true;
    m_target_step.begin();
    if (m_plan->device_window && !m_source_traits.sets_size)
        m_block_bytes = std::min(m_block_bytes, m_source->block_limit());
    if (m_plan->map_target) m_timer.begin_map(side::target);
    m_target->open({.bytes = m_bytes,
                    .block_bytes = m_block_bytes,
                    .map = m_plan->map_target,
                    .io_threads = m_plan->io_threads,
                    .window = m_plan->window,
                    .device_window = m_plan->device_window,
                    .other = {.device = m_source_traits.device,
                              .is_device = m_source_traits.kind == medium::device,
                              .maps_at_once = m_source_traits.maps_at_once}},
                   m_target_step);
}

void flow::fail(const failure& error, std::size_t at) {
    // Of several blocks that fail, the one nearest to the start is the one a sequential program would have met.
    if (!m_failure || at < m_failed_at) {
        m_failure = error;
        m_failed_at = at;
    }
    m_end = std::min(m_end, at);
}

void flow::cancel(const failure& reason) {
    if (m_stage == stage::closing || m_stage == stage::finished || m_cancelled) return;
    m_cancelled = true;
    if (!m_failure) {
        m_failure = reason;
        m_failed_at = 0; // what fails from now on only tells that it was interrupted
    }
    m_end = std::min(m_end, m_next_offset);
    if (m_stage == stage::waiting) return;
    interrupt(m_source_can);
    interrupt(m_target_can);
    m_owner->flow_ready();
}

void flow::advance() {
    if (m_advancing) return;
    m_advancing = true;
    // Each stage may finish at once and hand over to the next.
    for (;;) {
        const auto before = m_stage;
        switch (m_stage) {
        case stage::opening: advance_opening(); break;
        case stage::securing: advance_securing(); break;
        case stage::running: advance_running(); break;
        case stage::closing: advance_closing(); break;
        case stage::waiting:
            if (m_ahead) advance_gated();
            break;
        case stage::finished: break;
        }
        if (m_stage == before) break;
    }
    m_advancing = false;
}

void flow::source_opened() {
    const auto result = m_source_step.take();
    m_trace.opened(side::source, m_bytes, static_cast<bool>(result.error));
    if (result.error) {
        fail(result.error, 0);
        if (m_target_step.pending()) interrupt(m_target_can);
    } else {
        m_source_opened = true;
        if (m_plan->map_source) m_timer.end_map(side::source);
        m_bytes = std::min(m_bytes, result.bytes);
        m_end = std::min(m_end, m_bytes);
    }
}

std::size_t flow::agreed_block_bytes() const {
    return std::max<std::size_t>(1, std::min({m_block_bytes, m_source->block_limit(), m_target->block_limit()}));
}

void flow::advance_opening() {
    if (m_source_step.finished()) source_opened();
    if (m_source_opened && !m_target_asked && !m_failure) open_target();
    if (m_target_step.finished()) {
        const auto result = m_target_step.take();
        m_trace.opened(side::target, m_bytes, static_cast<bool>(result.error));
        if (result.error) {
            fail(result.error, 0);
            if (m_source_step.pending()) interrupt(m_source_can);
        } else {
            m_target_opened = true;
            if (m_plan->map_target) m_timer.end_map(side::target);
        }
    }
    if (m_source_step.pending() || m_target_step.pending()) {
        if (m_source_opened && !m_failure && begins_early_when_open()) {
            begin_early(staging_share::early::in_turn);
        } else if (m_staged && m_staged->waits_to_be_early()) {
            m_staged.reset();
        }
        return;
    }
    if (m_failure) {
        // A block that is being read ahead still uses its memory.
        if (quiet()) begin_closing();
        return;
    }
    choose_window();
    m_block_bytes = agreed_block_bytes();
    if (!m_blocks.empty() && m_blocks.front().bytes > m_block_bytes) {
        // The other side takes smaller blocks than the one that was read ahead: read it again.
        if (!quiet()) return;
        drop_blocks();
    }
    if (m_blocks.empty()) m_staged.reset(); // it waited for memory to begin early, of another size perhaps
    m_plan->block_bytes = m_block_bytes;
    choose_carrier();
    if (m_carried.kind == memory_kind::window && !m_blocks.empty()) {
        // What was read early lies in memory of the host, from which nobody would bring it there.
        if (!quiet()) return;
        drop_blocks();
    }
    m_stage = stage::securing;
}

void flow::advance_securing() {
    if (m_staged) m_staged->started();
    try {
        if (!m_failure && !m_carrier->secure(m_block_bytes)) return;
    } catch (...) {
        fail(current_failure(), 0);
    }
    if (m_failure) {
        if (quiet()) begin_closing();
        return;
    }
    if (m_plan->window && !shares_memory()) {
        m_plan->window = false;
        m_plan->strategy = m_plan->without_window;
    }
    prepare_source();
    m_first_block_bytes = std::min(m_first_block_bytes, m_target->prepare(m_block_bytes));
    // Blocks of a message have offsets that both ranks know, and those of memory that is there need no help.
    const bool has_fixed_blocks = m_carried.has_fixed_blocks || way().touches(medium::rank);
    if (has_fixed_blocks || m_bytes <= m_block_bytes || m_first_block_bytes > m_block_bytes)
        m_first_block_bytes = m_block_bytes;
    m_stage = stage::running;
}

bool flow::shares_memory() const {
    return m_carried.is_shared || (m_source_can.message != nullptr && m_source_can.message->shares_memory());
}

std::string flow::partner() const {
    for (const auto* const end : {m_source_can.waits, m_target_can.waits})
        if (auto who = end != nullptr ? end->partner() : std::string(); !who.empty()) return who;
    return {};
}

void flow::prepare_source() {
    if (std::exchange(m_source_prepared, true)) return;
    m_first_block_bytes = m_source->prepare(m_block_bytes);
}

void flow::advance_running() {
    m_moved_at_once = 0;
    for (bool again = true; again;) {
        if (m_moved_at_once >= most_at_once) {
            m_owner->flow_yields();
            return;
        }
        again = false;
        for (auto each = m_blocks.begin(); each != m_blocks.end();) {
            auto& candidate = *each;
            if (candidate.state != block_state::ready && candidate.work.finished()) {
                const bool was_writing = candidate.state == block_state::writing;
                take_block(candidate);
                again = true;
                if (was_writing) {
                    each = drop(each);
                    continue;
                }
            }
            if (candidate.state == block_state::ready && candidate.offset >= m_end) {
                each = drop(each);
                continue;
            }
            ++each;
        }
        again |= begin_writes();
        again |= begin_reads();
    }
    if (m_blocks.empty() && m_next_offset >= m_end) begin_closing();
}

void flow::take_block(block& done) {
    auto result = done.work.take();
    done.keeps_memory |= result.keeps_memory;
    const auto where = done.state == block_state::reading ? side::source : side::target;
    m_timer.end(where, done.timed, result.error ? 0 : done.bytes);
    m_trace.block_over(where, done.begun, done.offset, done.bytes, static_cast<bool>(result.error));
    if (done.state == block_state::reading) {
        if (result.error && std::exchange(done.ahead, false)) {
            // What the device put it behind may have failed without meaning anything to the transfer: read again.
            done.work.begin();
            done.carried_by->read(done.offset, done.contents(), done.work);
            return;
        }
        done.state = block_state::ready;
        if (result.error) {
            fail(result.error, done.offset + result.bytes);
            done.bytes = result.bytes;
        }
        return;
    }
    written(done.offset, result.error ? result.bytes : done.bytes);
    if (result.error) fail(result.error, done.offset + result.bytes);
}

void flow::written(std::size_t offset, std::size_t bytes) {
    auto moved = m_moved.load(std::memory_order_relaxed);
    if (offset != moved) {
        if (bytes > 0) m_islands[offset] = bytes;
        return;
    }
    moved += bytes;
    while (!m_islands.empty() && m_islands.begin()->first == moved) {
        moved += m_islands.begin()->second;
        m_islands.erase(m_islands.begin());
    }
    m_moved.store(moved, std::memory_order_relaxed);
}

flow::blocks::iterator flow::drop(blocks::iterator which) {
    const auto next = m_blocks.put_away(which);
    // Of a transfer that never started nobody has taken the outcome.
    if (which->work.finished()) which->keeps_memory |= which->work.take().keeps_memory;
    if (which->memory && which->keeps_memory) {
        which->carried_by->lose(which->memory);
    } else if (which->memory) {
        which->carried_by->release(which->memory);
    }
    return next;
}

bool flow::begin_reads() {
    bool progress = false;
    while (m_next_offset < m_end && m_blocks.size() < m_plan->depth) {
        const auto reading = static_cast<std::size_t>(std::count_if(
            m_blocks.begin(), m_blocks.end(), [](const auto& each) { return each.state == block_state::reading; }));
        if (reading >= m_source_traits.in_flight) break;
        const auto memory = next_memory();
        if (!memory) break;
        begin_read(*m_carrier, *memory, false);
        progress = true;
        // The engine's thread has read it itself: the other end goes on with it before the next one.
        if (m_blocks.back().work.finished()) break;
    }
    return progress;
}

std::optional<block_memory> flow::next_memory() {
    try {
        return m_carrier->acquire(m_next_offset);
    } catch (...) {
        // Without memory for one more block the ones in flight still do the work, unless the other side broke off.
        if (m_carried.has_fixed_blocks || m_blocks.empty()) fail(current_failure(), m_next_offset);
        return std::nullopt;
    }
}

void flow::begin_read(carrier& by, block_memory memory, bool ahead) {
    auto& next = m_blocks.add(static_cast<step_owner&>(*this));
    next.offset = m_next_offset;
    const auto most = m_next_offset == 0 && m_first_block_bytes != 0 ? m_first_block_bytes : m_block_bytes;
    next.bytes = std::min(most, m_bytes - m_next_offset);
    next.carried_by = &by;
    next.memory = memory;
    // A first block that is shorter leaves out the start of its memory, too: memory and file are aligned alike.
    if (m_next_offset == 0 && most < m_block_bytes) memory.first += m_block_bytes - most;
    next.first = memory;
    next.ahead = ahead;
    next.keeps_memory = false;
    m_next_offset += next.bytes;
    if (!by.traits().reads) {
        next.state = block_state::ready;
        return;
    }
    next.state = block_state::reading;
    next.begun = m_trace.now();
    next.work.begin();
    if (ahead) {
        m_source_can.early->read_ahead(next.offset, next.contents(), next.work);
    } else {
        m_timer.begin(side::source, next.timed);
        by.read(next.offset, next.contents(), next.work);
        if (!next.work.finished()) return;
        m_read_at_once = true;
        m_moved_at_once += next.bytes;
    }
}

void flow::drop_blocks() {
    while (!m_blocks.empty()) drop(m_blocks.begin());
    m_next_offset = 0;
    m_staged.reset();
}

bool flow::begin_writes() {
    bool progress = false;
    auto writing = static_cast<std::size_t>(std::count_if(
        m_blocks.begin(), m_blocks.end(), [](const auto& each) { return each.state == block_state::writing; }));
    for (auto& each : m_blocks) {
        if (each.state == block_state::writing) continue;
        if (each.state == block_state::reading) {
            if (m_target_traits.ordered) break;
            continue;
        }
        if (each.offset >= m_end || writing >= m_target_traits.in_flight) break;
        each.state = block_state::writing;
        each.begun = m_trace.now();
        each.work.begin();
        progress = true;
        ++writing;
        const auto carried = each.carried_by->traits();
        if (!carried.writes) {
            each.work.finish({each.bytes, {}});
        } else {
            m_timer.begin(side::target, each.timed);
            each.carried_by->write(each.offset, each.contents(), each.work);
            if (each.work.finished() && carried.works_at_once) m_moved_at_once += each.bytes;
        }
    }
    return progress;
}

void flow::begin_closing() {
    // A block that was read ahead for a target that cannot open.
    while (!m_blocks.empty()) drop(m_blocks.begin());
    m_carrier = nullptr;
    m_box.reset();
    m_staged.reset();
    m_stage = stage::closing;
    m_trace.begin_close();
    if (m_source_opened && m_source_can.message != nullptr) m_message = m_source_can.message->message_moved();
    if (m_target_opened && m_target_can.message != nullptr && m_message.number == 0)
        m_message = m_target_can.message->message_moved();
    // Only what has been opened is closed; a failed open() has cleaned up after itself.
    if (m_target_opened) {
        m_target_step.begin();
        if (m_plan->map_target) m_timer.begin_map(side::target);
        m_target->close(moved(), m_failure, m_target_step);
    } else if (!m_target_asked && m_target_can.waits != nullptr) {
        m_target_can.waits->abandoned();
    }
    if (m_source_opened) {
        m_source_step.begin();
        if (m_plan->map_source) m_timer.begin_map(side::source);
        m_source->close(moved(), m_failure, m_source_step);
    }
}

void flow::advance_closing() {
    for (auto* const end : {&m_target_step, &m_source_step}) {
        if (!end->finished()) continue;
        const auto result = end->take();
        const bool is_source = end == &m_source_step;
        const auto where = is_source ? side::source : side::target;
        if (is_source ? m_plan->map_source : m_plan->map_target) m_timer.end_map(where);
        m_trace.closed(where, m_bytes);
        if (result.error && !m_failure) m_failure = result.error;
    }
    if (!m_source_step.pending() && !m_target_step.pending()) m_stage = stage::finished;
}

} // namespace causeway::transfer

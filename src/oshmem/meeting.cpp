// SPDX-License-Identifier: Apache-2.0
// How PEs meet, wait for one another, and leave: lines of memory that others of the node have mapped, or messages set.
#include "base/give_way.hpp"
#include "oshmem/control_lines.hpp"
#include "oshmem/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace causeway::oshmem {

namespace {
std::atomic<int> others = 0; // that may end waits in MPI
} // namespace

void* job::control(int pe, std::size_t line) const {
    auto* const first = m_control.peers[static_cast<std::size_t>(pe)];
    return first == nullptr ? nullptr : reinterpret_cast<control_line*>(first) + line;
}

void job::read_control(const char* call, int pe, std::size_t line, void* into, std::size_t bytes) const {
    if (const auto* const there = control(pe, line)) {
        std::memcpy(into, there, bytes);
    } else {
        or_end(call, [&] { messages(call).read({pe, control_part, line * sizeof(control_line)}, into, bytes); });
    }
}

std::uint32_t job::number_of(const team_slot& slot, int pe) const {
    const auto& all = m_numbers[slot.number];
    return all.empty() ? slot.number : all[static_cast<std::size_t>(pe)];
}

std::size_t job::first_line(std::uint32_t number) const {
    return first_token + static_cast<std::size_t>(m_pes) + number * lines_of_slot;
}

std::size_t job::line_of(const team_slot& slot, int pe, std::size_t line) const {
    return first_line(number_of(slot, pe)) + line;
}

void job::tell_token(const char* call, int pe, std::size_t line, std::uint64_t value, std::size_t word) const {
    if (auto* const there = control(pe, line)) {
        __atomic_store_n(word_of(there, word), value, __ATOMIC_RELEASE);
    } else {
        or_end(call, [&] {
            messages(call).tell({pe, control_part, line * sizeof(control_line) + word * sizeof value},
                                word_operation::set, sizeof value, value);
        });
    }
}

void job::wait_for_token(const char* call, int from, std::size_t line, std::uint64_t value) {
    const auto* const seen = word_of(control(m_pe, line), token_word);
    wait(call, [&] { return __atomic_load_n(seen, __ATOMIC_ACQUIRE) >= value; }, from);
}

/// Behind all that this PE has told the others.
void job::tell_leaving(leaving how) const {
    quiet();
    for (int pe = 0; pe < m_pes; ++pe)
        tell_token("shmem_finalize", pe, first_token + static_cast<std::size_t>(m_pe), static_cast<std::uint64_t>(how),
                   leaves_word);
}

int job::first_left() const {
    for (int pe = 0; pe < m_pes; ++pe)
        if (has_left(pe)) return pe;
    return nobody;
}

job::leaving job::leaving_of(int pe) const {
    return leaving{__atomic_load_n(word_of(control(m_pe, first_token + static_cast<std::size_t>(pe)), leaves_word),
                                   __ATOMIC_ACQUIRE)};
}

/// Whether all others come to their ends while this PE, which ends with an error, waits for them a little.
bool job::all_end_soon() const {
    using namespace std::chrono_literals;
    tell_leaving(leaving::with_an_error);
    for (const auto until = std::chrono::steady_clock::now() + 5s; std::chrono::steady_clock::now() < until;) {
        int ending = 0;
        for (int pe = 0; pe < m_pes; ++pe) ending += leaving_of(pe) != leaving::not_yet ? 1 : 0;
        if (ending == m_pes) return true;
        ::usleep(1000);
    }
    return false;
}

std::uint64_t job::waiting_of(const char* call, int pe) const {
    if (auto* const state = control(pe, state_line))
        return __atomic_load_n(word_of(state, waits_word), __ATOMIC_SEQ_CST);
    std::array<std::uint64_t, waits_word + 1> state{};
    read_control(call, pe, state_line, state.data(), sizeof state);
    return state[waits_word];
}

/// Empty if it waits for OpenSHMEM.
std::string job::mpi_call_of(int pe) const {
    control_line state;
    read_control("shmem_finalize", pe, state_line, &state, sizeof state);
    const auto* const name = reinterpret_cast<const char*>(state.bytes) + call_offset;
    return {name, ::strnlen(name, longest_call)};
}

void job::expect_others(int change) { others += change; }

/// Commands of libcauseway may end such a wait, too.
job::mpi_wait::mpi_wait(const char* call) {
    auto* const all = running();
    if (all == nullptr || all->m_starter != std::this_thread::get_id() || others != 0 || all->m_device) return;
    auto* const state = all->control(all->m_pe, state_line);
    if (__atomic_load_n(word_of(state, waits_word), __ATOMIC_RELAXED) != 0) return; // MPI called by MPI
    m_job = all;
    std::strncpy(static_cast<char*>(state) + call_offset, call, longest_call - 1);
    m_job->say_waiting(std::uint64_t{++all->m_long_waits} << wait_number_shift);
}

job::mpi_wait::~mpi_wait() {
    if (m_job == nullptr) return;
    m_job->say_waiting(0);
    *(static_cast<char*>(m_job->control(m_job->m_pe, state_line)) + call_offset) = '\0';
}

void job::say_waiting(std::uint64_t what) const {
    __atomic_store_n(word_of(control(m_pe, state_line), waits_word), what, __ATOMIC_SEQ_CST);
}

/// A dissemination barrier: in each round one PE sends this one a token, the number of meetings that it has begun in
/// this slot. A PE sends all tokens of a meeting before it leaves OpenSHMEM. So a wait for a token of a PE that has
/// left never ends, and is reported. If the missing token comes from another PE, that one notices by itself.
void job::meet(const char* call, const members& who, team_slot& slot) {
    quiet();
    const int own = who.index_of(m_pe);
    const auto now = ++slot.meetings;
    auto round = first_round_line;
    for (int distance = 1; distance < who.size; distance *= 2, ++round) {
        const int to = who.world((own + distance) % who.size), from = who.world((own + who.size - distance) % who.size);
        tell_token(call, to, line_of(slot, to, round), now);
        wait_for_token(call, &slot == &m_end_slot ? all_come : from, line_of(slot, m_pe, round), now);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// The same without a slot: PEs count what they have sent to each other one, as any two of them meet in the same order
/// on both sides.
void job::meet_set(const char* call, const members& who) {
    quiet();
    const int own = who.index_of(m_pe);
    for (int distance = 1; distance < who.size; distance *= 2) {
        const int to = who.world((own + distance) % who.size), from = who.world((own + who.size - distance) % who.size);
        tell_token(call, to, first_token + static_cast<std::size_t>(m_pe), ++m_sent[static_cast<std::size_t>(to)]);
        wait_for_token(call, from, first_token + static_cast<std::size_t>(from),
                       ++m_expected[static_cast<std::size_t>(from)]);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// `slots` if all are taken.
std::uint32_t job::take_number() {
    for (std::uint32_t number = 0; number < slots; ++number) {
        const auto bit = std::uint64_t{1} << number % 64;
        if ((m_taken_slots[number / 64].fetch_or(bit) & bit) == 0) return number;
    }
    return slots;
}

/// Each PE takes any number that it has free and tells the others.
bool job::make_slot(const char* call, const members& parent, team_slot& at, const members& of, team_slot& made) {
    const auto own = of.index_of(m_pe) >= 0 ? take_number() : slots;
    *static_cast<std::uint32_t*>(control(m_pe, line_of(at, m_pe, offer_line))) = own;
    // Nobody of the team that was here before tells anything more, and nobody of the new one tells anything yet.
    made = {.number = own};
    for (std::size_t round = first_round_line; own != slots && round < lines_of_slot; ++round)
        std::memset(control(m_pe, first_line(own) + round), 0, line);
    meet(call, parent, at);
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(m_pes), slots);
    bool have_all = true;
    for (int i = 0; i < of.size; ++i) {
        auto& theirs = numbers[static_cast<std::size_t>(of.world(i))];
        read_control(call, of.world(i), line_of(at, of.world(i), offer_line), &theirs, sizeof theirs);
        have_all = have_all && theirs != slots;
    }
    // All have read before one of them makes the next slot.
    meet(call, parent, at);
    if (own != slots) {
        m_numbers[own] = std::move(numbers);
        if (!have_all) free_slot(made);
    }
    return have_all;
}

void job::free_slot(team_slot& slot) {
    for (auto& lent : m_lent[slot.number]) lent.reset();
    m_numbers[slot.number].clear();
    m_taken_slots[slot.number / 64].fetch_and(~(std::uint64_t{1} << slot.number % 64));
}

void job::note(const team_slot& slot, std::uint64_t value) {
    *static_cast<std::uint64_t*>(control(m_pe, line_of(slot, m_pe, note_line))) = value;
}

std::uint64_t job::note_of(const char* call, const team_slot& slot, int pe) const {
    std::uint64_t value = 0;
    read_control(call, pe, line_of(slot, pe, note_line), &value, sizeof value);
    return value;
}

void job::lend(const char* call, team_slot& slot, loan what, const void* source, std::size_t bytes) {
    const auto which = static_cast<std::size_t>(what);
    auto& shown = *static_cast<comm::segment_address*>(control(m_pe, line_of(slot, m_pe, first_loan_line + which)));
    shown.bytes = 0;
    if (bytes == 0 || find(source, m_pe) != nullptr) return;
    auto& lent = m_lent[slot.number][which];
    if (!lent || lent->address().bytes < bytes) lent = comm::shared_segment::create(bytes);
    if (is_distant(source)) {
        m_device->get(call, lent->memory(), source, bytes, m_pe);
    } else {
        std::memcpy(lent->memory(), source, bytes);
    }
    shown = lent->address();
}

const std::byte* job::borrow(team_slot& slot, loan what, const void* source, std::size_t offset, std::size_t bytes,
                             int pe, const char* call) {
    if (pe < 0 || pe >= m_pes) refuse(source, pe, call);
    const auto which = static_cast<std::size_t>(what);
    const auto* const first = static_cast<const std::byte*>(source) + offset;
    comm::segment_address shown;
    read_control(call, pe, line_of(slot, pe, first_loan_line + which), &shown, sizeof shown);
    if (is_remote(pe)) {
        thread_local std::vector<std::byte> fetched;
        fetched.resize(bytes);
        const auto lent = first_lent_part + number_of(slot, pe) * static_cast<std::uint32_t>(loans) +
                          static_cast<std::uint32_t>(which);
        const auto where = shown.bytes != 0 ? comm::remote_location{pe, lent, offset} : remote(first, pe, call);
        or_end(call, [&] { messages(call).read(where, fetched.data(), bytes); });
        return fetched.data();
    }
    if (shown.bytes == 0) return static_cast<const std::byte*>(at(first, pe, call));
    if (pe == m_pe) return is_distant(source) ? m_lent[slot.number][which]->memory() + offset : first;
    auto& all = slot.borrowed[which];
    all.resize(static_cast<std::size_t>(m_pes));
    auto& known = all[static_cast<std::size_t>(pe)];
    if (!known || known->address().key != shown.key) {
        known = comm::shared_segment::open(shown);
        if (!known) give_up(call, "the memory of PE " + std::to_string(pe) + " cannot be reached");
    }
    return known->memory() + offset;
}

void job::long_wait::pause() {
    using namespace std::chrono_literals;
    // Who waits for a message frees the processor for the kernel and the thread that serves.
    const bool by_message = m_all.m_remote && (m_needed < 0 || m_all.is_remote(m_needed));
    if (by_message && m_times > 1000) {
        ::usleep(50);
    } else {
        give_way();
    }
    ++m_times;
    // A look may be a message, and many of them slow.
    const auto now = std::chrono::steady_clock::now();
    if (m_times % 256 != 0 && now < m_last_look + 100ms) return;
    m_last_look = now;
    look_for_dead();
    look_for_left();
    if (m_times > 4096) ::usleep(50); // who waits for long leaves the processor to the others
}

void job::long_wait::look_for_dead() const {
    for (int pe = 0; pe < m_all.m_pes; ++pe) {
        if (pe != m_all.m_pe && m_all.m_processes[static_cast<std::size_t>(pe)].is_gone() && m_all.has_died(pe))
            give_up(m_call, "PE " + std::to_string(pe) + " is gone: its process ended without shmem_finalize");
    }
}

/// What has been seen of a PE that leaves counts if the looks of a whole pause behind it found nothing new.
void job::long_wait::look_for_left() {
    if (m_needed == all_come) {
        look_for_standstill();
        return;
    }
    const int left = m_all.first_left();
    if (left == nobody) return;
    const auto text = [](int pe) {
        return "PE " + std::to_string(pe) + " has ended (shmem_finalize, exit or return from main)";
    };
    if (m_needed_has_left) give_up(m_call, text(m_needed) + " and takes no part in this call");
    m_needed_has_left = m_needed != nobody && m_all.has_left(m_needed);
    if (!m_needed_has_left && all_wait())
        give_up(m_call, text(left) + ", and nobody is left to end this wait: all others wait, too");
}

/// Called by a PE that ends, for PEs that wait in MPI and cannot look themselves. What they wait for may be under way,
/// but not for longer than m_patience. Only the first PE that has left looks. A long gap between two of its looks
/// counts as one second, because the whole job may have been stopped.
void job::long_wait::look_for_standstill() {
    using namespace std::chrono_literals;
    const auto since_last = m_last_look - m_last_look_at_all;
    if (since_last < 200ms || m_all.first_left() != m_all.m_pe) return;
    m_last_look_at_all = m_last_look;
    std::vector<std::uint64_t> said(static_cast<std::size_t>(m_all.m_pes));
    int waiting = nobody;
    for (int pe = 0; pe < m_all.m_pes; ++pe) {
        if (m_all.has_left(pe)) continue;
        auto& theirs = said[static_cast<std::size_t>(pe)];
        theirs = m_all.waiting_of(m_call, pe) >> wait_number_shift;
        if (theirs == 0) {
            m_said.clear();
            return;
        }
        if (waiting == nobody || m_all.mpi_call_of(waiting).empty()) waiting = pe;
    }
    m_stood_still = said == m_said ? m_stood_still + std::min<decltype(m_stood_still)>(since_last, 1s) : 0s;
    m_said = std::move(said);
    if (waiting == nobody || m_stood_still < m_all.m_patience) return;
    const auto in = m_all.mpi_call_of(waiting);
    give_up(m_call,
            "PE " + std::to_string(m_all.m_pe) +
                " has ended (shmem_finalize, exit or return from main), and nobody is left to end the wait of PE " +
                std::to_string(waiting) + (in.empty() ? "" : " in " + in) + ": all others wait, too");
}

/// True if nothing can change any more: every PE that has not left stayed in one wait between two looks at it, and has
/// itself looked in vain meanwhile. A PE that says that it waits has no messages under way. A PE with several calling
/// threads, or with a heap in device memory, which libcauseway's commands change, never says that it waits.
bool job::long_wait::all_wait() {
    if (m_all.m_has_threads || m_all.m_device) return false;
    if (!m_says_so) {
        m_all.quiet();
        m_says_so = true;
        m_now = std::uint64_t{++m_all.m_long_waits} << wait_number_shift;
    }
    m_all.say_waiting(++m_now);
    std::vector<std::uint64_t> said(static_cast<std::size_t>(m_all.m_pes));
    for (int pe = 0; pe < m_all.m_pes; ++pe) {
        if (pe == m_all.m_pe || m_all.has_left(pe)) continue;
        auto& theirs = said[static_cast<std::size_t>(pe)];
        theirs = m_all.waiting_of(m_call, pe);
        if (theirs == 0) {
            m_said.clear();
            return false;
        }
    }
    const auto same_wait = [](std::uint64_t before, std::uint64_t now) {
        return before >> wait_number_shift == now >> wait_number_shift;
    };
    if (!std::equal(m_said.begin(), m_said.end(), said.begin(), said.end(), same_wait)) {
        m_said = std::move(said);
        return false;
    }
    // Between its last two looks it looked behind the first one at it.
    return std::equal(m_said.begin(), m_said.end(), said.begin(),
                      [](std::uint64_t before, std::uint64_t now) { return before == 0 || now >= before + 2; });
}

} // namespace causeway::oshmem

// SPDX-License-Identifier: Apache-2.0
// Starts by MPI; then shared memory is all that PEs of one node need of one another.
#include "oshmem/job.hpp"

#include "base/error.hpp"
#include "base/give_way.hpp"
#include "endpoints/file/page_cache.hpp"
#include "oshmem/globals.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace causeway::oshmem {

namespace {

job* the_job = nullptr; // lives as long as the process
job* running_job = nullptr; // the same until it ends
pid_t process_of_pe = 0;
std::once_flag start_once;
std::atomic<bool> threads_call = false;

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64; // of a cache: what one PE writes and another one reads

struct control_line {
    alignas(line) std::byte bytes[line];
};
/// Of each PE: how it goes; by PE, a line that the other one tells; and for each slot, lines_of_slot lines.
constexpr std::size_t state_line = 0, first_token = 1, lines_of_slot = 24;
/// Words of these lines: whether all have met at the end, and whether the PE waits; tokens of an active set, and
/// whether the other PE has begun to end, and tells nothing more.
constexpr std::size_t has_met_word = 0, waits_word = 1, token_word = 0, leaves_word = 1;
/// Behind them, the call of MPI in which the PE waits, if it does.
constexpr std::size_t call_offset = 2 * sizeof(std::uint64_t), longest_call = line - call_offset;
/// Whether the PE waits: 0, or the number of a wait and below it that of its looks at the other PEs.
constexpr unsigned wait_number_shift = 32;
/// Of a slot: its note, what is lent, the number of a slot that is made, and a token for each round of a meeting.
constexpr std::size_t note_line = 0, first_loan_line = 1, offer_line = 3, first_round_line = 4;
static_assert(sizeof(comm::segment_address) <= line);

std::uint64_t* word_of(void* line, std::size_t word) { return static_cast<std::uint64_t*>(line) + word; }

/// By which messages name the parts of a PE's memory.
constexpr std::uint32_t heap_part = 0, globals_part = 1, control_part = 2, first_lent_part = 16;

std::size_t size_of(const char* name, std::size_t otherwise) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    const double count = std::strtod(text, &end);
    std::size_t unit = 1;
    switch (*end) {
    case 'k':
    case 'K': unit = std::size_t{1} << 10; break;
    case 'm':
    case 'M': unit = std::size_t{1} << 20; break;
    case 'g':
    case 'G': unit = std::size_t{1} << 30; break;
    case 't':
    case 'T': unit = std::size_t{1} << 40; break;
    default: break;
    }
    if (end == text || count <= 0) give_up("shmem_init", std::string(name) + "=" + text + " is no size, such as 512M");
    return static_cast<std::size_t>(count * static_cast<double>(unit));
}

/// SHMEM_`name`, or by its name before version 1.4.
bool is_set(const std::string& name) {
    for (const char* const prefix : {"SHMEM_", "SMA_"})
        if (const char* const text = std::getenv((prefix + name).c_str()))
            return *text != '\0' && std::strcmp(text, "0") != 0;
    return false;
}

/// How long PEs may stand still in calls of MPI beside one that has ended: none of them computes, so that only messages
/// that take as long would come to an end.
std::chrono::seconds patience() {
    const char* const text = std::getenv("SHMEM_PATIENCE");
    if (text == nullptr || *text == '\0') return std::chrono::seconds(60);
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (*end != '\0' || count <= 0)
        give_up("shmem_init", std::string("SHMEM_PATIENCE=") + text + " is no time in seconds");
    return std::chrono::seconds(count);
}

/// By its names of version 1.5, of Open MPI, and before version 1.4.
std::size_t heap_bytes() {
    auto asked = std::size_t{64} << 20;
    for (const char* const name : {"SMA_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"})
        asked = size_of(name, asked);
    return (asked + page - 1) / page * page;
}

} // namespace

void give_up(const char* call, const std::string& why) {
    const auto who = the_job != nullptr ? "PE " + std::to_string(the_job->pe()) + ": " : std::string();
    std::fprintf(stderr, "causeway: %s%s: %s\n", who.c_str(), call, why.c_str());
    std::fflush(stderr);
    comm::end_all_processes(1);
}

bool job::shares_mpi() {
    if (the_job == nullptr || !the_job->m_has_started_mpi) return false;
    the_job->m_program_ends_mpi = true;
    return true;
}

bool job::mpi_may_end() {
    if (the_job == nullptr) return true;
    the_job->m_program_ends_mpi = true;
    the_job->end_device();
    if (the_job->m_remote) {
        the_job->m_ends_mpi_late = true;
        return false;
    }
    the_job->m_group.reset();
    return true;
}

void job::exit_all(int status) {
    // Others end with this status, not because they miss this PE.
    if (the_job != nullptr && the_job->m_remote) the_job->m_remote->leave();
    comm::end_all_processes(status);
}

void job::start() {
    if (the_job != nullptr && the_job->m_has_ended) (void)required("shmem_init");
    std::call_once(start_once, [] {
        try {
            process_of_pe = ::getpid();
            running_job = the_job = new job; // NOLINT: stays, as threads may still use it at exit
        } catch (const std::exception& error) {
            give_up("shmem_init", error.what());
        }
        ::on_exit(finish_at_exit, nullptr);
    });
}

bool job::has_started() { return the_job != nullptr; }
job& job::instance() { return *the_job; }
job* job::running() { return running_job; }
job& job::required(const char* call) {
    if (running_job == nullptr)
        give_up(call, the_job == nullptr ? "shmem_init comes first" : "shmem_finalize has been called");
    return *running_job;
}
job& job::known(const char* call) { return the_job != nullptr ? *the_job : required(call); }

job::job() : m_patience(patience()), m_allocator(heap_bytes()) {
    m_has_started_mpi = comm::start_mpi_if_nobody_has();
    m_group = comm::process_group::of_all_processes();
    m_pe = m_group->rank();
    m_pes = m_group->size();
    const auto count = static_cast<std::size_t>(m_pes);
    m_sent.assign(count, 0);
    m_expected.assign(count, 0);
    m_taken_slots[0] = 0b1111;
    // Own memory stays mapped as long as the process.
    share(
        m_control,
        *comm::shared_segment::create((first_token + count + slots * lines_of_slot) * sizeof(control_line)).release());
    m_own_heap = comm::shared_segment::reserve(m_allocator.bytes()).release();
    share(m_heap, *m_own_heap);
    if (auto& globals = share_globals(); globals.bytes != 0) {
        m_globals.first = globals.first;
        m_globals.bytes = globals.bytes;
        share(m_globals, *globals.memory);
    }
    reach_others();
    report();
    meet_all("shmem_init");
    m_alarm = std::make_unique<death_alarm>(m_processes, [this](std::size_t pe) {
        auto* const state = control(static_cast<int>(pe), state_line);
        return state != nullptr && __atomic_load_n(word_of(state, has_met_word), __ATOMIC_ACQUIRE) == 0;
    });
}

/// By messages, where memory cannot be shared.
void job::reach_others() {
    std::vector<bool> far(static_cast<std::size_t>(m_pes));
    for (std::size_t pe = 0; pe < static_cast<std::size_t>(m_pes); ++pe) {
        const auto lacks = [pe](const part& what) { return what.bytes != 0 && what.peers[pe] == nullptr; };
        if (!lacks(m_control) && !lacks(m_heap) && !lacks(m_globals)) continue;
        far[pe] = true;
        for (auto* const what : {&m_control, &m_heap, &m_globals})
            if (what->bytes != 0) what->peers[pe] = nullptr;
    }
    const bool has_remote = std::find(far.begin(), far.end(), true) != far.end();
    const auto all = m_group->all_gather(has_remote ? 1 : 0);
    if (std::find(all.begin(), all.end(), 1) == all.end()) return;
    m_remote = std::make_unique<comm::remote_memory>(
        *m_group, far,
        [this](std::uint32_t in, std::uint64_t offset, std::size_t bytes) { return reached(in, offset, bytes); },
        [](const std::string& why) { give_up("messages between nodes", why); });
}

std::byte* job::reached(std::uint32_t in, std::uint64_t offset, std::size_t bytes) const {
    const auto own = [&](const part& what) {
        return offset <= what.bytes && bytes <= what.bytes - offset
                   ? what.peers[static_cast<std::size_t>(m_pe)] + offset
                   : nullptr;
    };
    if (in == heap_part) return own(m_heap);
    if (in == globals_part) return own(m_globals);
    if (in == control_part) return own(m_control);
    const auto lent = in - first_lent_part;
    if (in < first_lent_part || lent >= slots * loans) return nullptr;
    const auto& memory = m_lent[lent / loans][lent % loans];
    const auto has = memory ? memory->address().bytes : 0;
    return offset <= has && bytes <= has - offset ? memory->memory() + offset : nullptr;
}

comm::remote_memory& job::messages(const char* call) const {
    if (!m_remote) give_up(call, "shmem_finalize has been called, and a PE on another node is out of reach since then");
    return *m_remote;
}

namespace {
template <class Call> auto or_end(const char* name, Call call) {
    try {
        return call();
    } catch (const std::exception& error) {
        give_up(name, error.what());
    }
}
} // namespace

comm::remote_location job::remote(const void* address, int pe, const char* call) const {
    const auto where = reinterpret_cast<std::uintptr_t>(address);
    if (where - m_heap.first < m_heap.bytes) return {pe, heap_part, where - m_heap.first};
    if (where - m_globals.first < m_globals.bytes) return {pe, globals_part, where - m_globals.first};
    refuse(address, pe, call);
}

std::uint64_t job::change_remote(const char* call, word_operation what, std::size_t word_bytes, const void* address,
                                 std::uint64_t operand, std::uint64_t compared, int pe) const {
    const auto where = remote(address, pe, call);
    return or_end(call, [&] { return messages(call).change(where, what, word_bytes, operand, compared); });
}

void job::tell_remote(const char* call, word_operation what, std::size_t word_bytes, const void* address,
                      std::uint64_t operand, int pe) const {
    const auto where = remote(address, pe, call);
    or_end(call, [&] { messages(call).tell(where, what, word_bytes, operand); });
}

void job::quiet() const {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (m_remote) or_end("shmem_quiet", [&] { m_remote->quiet(); });
}

members job::neighbours() const {
    std::vector<int> near;
    for (int pe = 0; pe < m_pes; ++pe)
        if (!is_remote(pe)) near.push_back(pe);
    const members found{near[0], near.size() > 1 ? near[1] - near[0] : 1, static_cast<int>(near.size())};
    for (std::size_t i = 0; i < near.size(); ++i)
        if (found.world(static_cast<int>(i)) != near[i]) return {m_pe, 1, 1};
    return found;
}

/// What the variables of OpenSHMEM 1.5, section 8, ask for.
void job::report() const {
    if (m_pe == 0 && is_set("VERSION")) std::printf("Causeway: OpenSHMEM 1.5\n");
    if (m_pe == 0 && is_set("INFO"))
        std::printf("Causeway: OpenSHMEM 1.5 reads\n"
                    "  SHMEM_VERSION         prints the version at the start\n"
                    "  SHMEM_INFO            prints this\n"
                    "  SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap, with K, M, G or T: %zu here\n"
                    "  SHMEM_PATIENCE        seconds that all PEs may wait in MPI beside one that has ended: %ld here\n"
                    "  SHMEM_DEBUG           has each PE say where its symmetric memory is\n",
                    m_heap.bytes, static_cast<long>(m_patience.count()));
    std::fflush(stdout);
    if (is_set("DEBUG"))
        std::fprintf(stderr, "causeway: PE %d of %d: process %d, heap of %zu bytes at %#zx, variables of %zu at %#zx\n",
                     m_pe, m_pes, static_cast<int>(::getpid()), m_heap.bytes, static_cast<std::size_t>(m_heap.first),
                     m_globals.bytes, static_cast<std::size_t>(m_globals.first));
}

void job::share(part& what, const comm::shared_segment& own) {
    const auto all = m_group->all_gather(own.address());
    if (what.first == 0) {
        what.first = reinterpret_cast<std::uintptr_t>(own.memory());
        what.bytes = own.address().bytes;
    }
    what.peers.resize(all.size());
    for (std::size_t pe = 0; pe < all.size(); ++pe) {
        if (all[pe].bytes != all[0].bytes)
            throw transfer_error(status::invalid_value,
                                 "PEs have symmetric memory of different sizes, " + bytes_text(all[0].bytes) +
                                     " on PE 0 and " + bytes_text(all[pe].bytes) + " on PE " + std::to_string(pe) +
                                     ": all have to run the same program with the same SHMEM_SYMMETRIC_SIZE");
        if (static_cast<int>(pe) == m_pe) {
            what.peers[pe] = reinterpret_cast<std::byte*>(what.first);
            if (m_processes.size() <= pe) m_processes.emplace_back();
            continue;
        }
        auto found = comm::shared_segment::open(all[pe]);
        if (m_processes.size() <= pe)
            m_processes.push_back(found ? comm::process_watch(all[pe].process) : comm::process_watch());
        if (!found) continue; // on another node
        what.peers[pe] = found->memory();
        m_segments.push_back(std::move(found));
    }
    // The others have found it.
    (void)m_group->all_gather(0);
}

device_heap& job::need_device() {
    if (m_device) return *m_device;
    if (!m_group) throw transfer_error(status::invalid_operation, "MPI has been finalised");
    const auto agree = [this](bool mine) {
        const auto all = m_group->all_gather(mine ? 1 : 0);
        return std::find(all.begin(), all.end(), 0) == all.end();
    };
    auto made = std::make_unique<device_heap>(m_pe, m_pes,
                                              size_of("SHMEM_DEVICE_SYMMETRIC_SIZE", std::size_t{64} << 20), agree);
    // In whole if all reach all of it; else libcauseway is asked.
    part near{made->first(), made->bytes(), {}};
    if (auto* const inside = made->allocate(1, 1)) {
        const auto offset = reinterpret_cast<std::uintptr_t>(inside) - made->first();
        for (int pe = 0; pe < m_pes; ++pe) {
            auto* const found = static_cast<std::byte*>(made->pointer(inside, pe));
            near.peers.push_back(found != nullptr ? found - offset : nullptr);
        }
        made->free("shmemg_malloc", inside);
    }
    const bool reaches = static_cast<int>(near.peers.size()) == m_pes &&
                         std::find(near.peers.begin(), near.peers.end(), nullptr) == near.peers.end();
    if (agree(reaches)) {
        m_device_part = std::move(near);
    } else {
        m_distant_first = made->first();
        m_distant_bytes = made->bytes();
    }
    m_device = std::move(made);
    // Before what libcauseway does at exit.
    ::on_exit(finish_at_exit, nullptr);
    return *m_device;
}

void job::end_device() {
    if (!m_device) return;
    m_device->finish();
    m_device_part = {};
    m_distant_bytes = 0;
    m_device.reset();
}

void job::put(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    if (bytes == 0) return;
    if (is_distant(target)) {
        m_device->put(call, target, source, bytes, pe);
        return;
    }
    std::vector<std::byte> fetched;
    if (is_distant(source)) {
        fetched.resize(bytes);
        m_device->get(call, fetched.data(), source, bytes, m_pe);
        source = fetched.data();
    }
    if (auto* const there = find(target, pe)) {
        std::memmove(there, source, bytes);
    } else if (is_remote(pe)) {
        const auto where = remote(target, pe, call);
        or_end(call, [&] { messages(call).write(where, source, bytes); });
    } else {
        refuse(target, pe, call);
    }
}

void job::get(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    if (bytes == 0) return;
    if (const auto* const there = find(source, pe)) {
        store(call, target, there, bytes);
    } else if (!is_distant(source)) {
        if (!is_remote(pe)) refuse(source, pe, call);
        const auto where = remote(source, pe, call);
        std::vector<std::byte> fetched(is_distant(target) ? bytes : 0);
        or_end(call, [&] { messages(call).read(where, fetched.empty() ? target : fetched.data(), bytes); });
        if (!fetched.empty()) store(call, target, fetched.data(), bytes);
    } else {
        m_device->get(call, target, source, bytes, pe);
    }
}

/// A PE that ends by itself with an error ends the others, unless all end: programs return from main what they like.
void job::finish_at_exit(int status, void*) {
    if (::getpid() != process_of_pe) return; // a child of the PE that ends by exit()
    if (status != 0 && the_job != nullptr && !the_job->m_has_ended) {
        std::fflush(nullptr);
        if (!the_job->all_end_soon()) exit_all(status);
    }
    finish();
}

void job::finish() {
    if (the_job == nullptr || std::exchange(the_job->m_has_ended, true)) return;
    auto& ending = *the_job;
    running_job = nullptr;
    ending.tell_leaving(leaving::for_good);
    ending.meet("shmem_finalize", ending.world(), ending.m_end_slot);
    ending.m_alarm.reset();
    ending.end_messages();
    __atomic_store_n(word_of(ending.control(ending.m_pe, state_line), has_met_word), 1, __ATOMIC_RELEASE);
    ending.end_device();
    ending.m_group.reset();
    if (ending.m_ends_mpi_late) (void)end_mpi_of_program();
    if (ending.m_has_started_mpi && !ending.m_program_ends_mpi) comm::end_mpi();
}

/// What all have sent has come when all are here.
void job::end_messages() {
    if (!m_remote) return;
    or_end("shmem_finalize", [&] { (void)m_group->all_gather(0); });
    m_remote.reset();
}

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

void job::allow_calls_of_threads() { threads_call = true; }

/// Commands of libcauseway may end such a wait, too.
job::mpi_wait::mpi_wait(const char* call) {
    auto* const all = running();
    if (all == nullptr || all->m_starter != std::this_thread::get_id() || threads_call || all->m_device) return;
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

/// A dissemination barrier: in each round one PE tells this one how many meetings in this slot it has begun. A PE
/// tells all of a meeting before it leaves; so who waits for one that has left waits in vain, and where a third one
/// still owes the token, that one finds out by itself.
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
    give_way();
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
        auto* const state = m_all.control(pe, state_line);
        if (pe != m_all.m_pe && state != nullptr && m_all.m_processes[static_cast<std::size_t>(pe)].is_gone() &&
            __atomic_load_n(word_of(state, has_met_word), __ATOMIC_ACQUIRE) == 0)
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

/// Who ends waits for those that wait in MPI for it, which cannot look themselves. What they wait for may be under way,
/// but not for longer than m_patience. One PE looks for all.
void job::long_wait::look_for_standstill() {
    using namespace std::chrono_literals;
    if (m_last_look < m_next_look_at_all || m_all.first_left() != m_all.m_pe) return;
    m_next_look_at_all = m_last_look + 200ms;
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
    if (said != m_said) {
        m_said = std::move(said);
        m_said_at = m_last_look;
    }
    if (waiting == nobody || m_last_look < m_said_at + m_all.m_patience) return;
    const auto in = m_all.mpi_call_of(waiting);
    give_up(m_call,
            "PE " + std::to_string(m_all.m_pe) +
                " has ended (shmem_finalize, exit or return from main), and nobody is left to end the wait of PE " +
                std::to_string(waiting) + (in.empty() ? "" : " in " + in) + ": all others wait, too");
}

/// True if nothing changes any more: all that have not left were in one wait between two looks at them, and each has
/// looked in vain meanwhile. Who says that it waits has no messages under way. A PE whose threads call at once, or
/// in whose memory commands of libcauseway end, says nothing.
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

/// What is allocated gets its pages at once: a node that has no memory left later ends a process without a word. Much
/// is asked for after a look at what there is, by all PEs before one of them takes it. Collective.
void job::commit_heap(const char* call, std::size_t end) {
    constexpr std::size_t step = std::size_t{2} << 20, much = std::size_t{64} << 20;
    if (end <= m_committed_bytes) return;
    end = std::min((end + step - 1) / step * step, m_heap.bytes);
    const auto bytes = end - m_committed_bytes;
    if (bytes >= much) {
        const auto near = m_heap.peers.size() -
                          static_cast<std::size_t>(std::count(m_heap.peers.begin(), m_heap.peers.end(), nullptr));
        struct sysinfo node{};
        const auto swap = ::sysinfo(&node) == 0 ? node.freeswap * node.mem_unit : 0;
        const auto there = endpoints::find_cache_room();
        if (bytes > (there + swap) / near)
            give_up(call, "PEs of this node ask for " + bytes_text(bytes) + " each and are " + std::to_string(near) +
                              ", but it has no more than " + bytes_text(there + swap) + " available");
        meet_all(call);
    }
    or_end(call, [&] { m_own_heap->commit(m_committed_bytes, bytes); });
    meet_all(call);
    // Else the first copy to each page meets a fault, which takes longer than the copy. Since Linux 5.14; before, it
    // does.
    constexpr int populate_write = 23;
    for (auto* const first : m_heap.peers)
        if (first != nullptr) (void)::madvise(first + m_committed_bytes, bytes, populate_write);
    m_committed_bytes = end;
}

void* job::allocate(const char* call, std::size_t bytes, std::size_t alignment) {
    if (bytes == 0) return nullptr;
    std::optional<std::size_t> offset;
    {
        const std::lock_guard lock(m_mutex);
        offset = m_allocator.take(bytes, alignment);
    }
    if (offset) commit_heap(call, *offset + bytes);
    meet_all(call);
    return offset ? reinterpret_cast<void*>(m_heap.first + *offset) : nullptr; // NOLINT
}

void job::free(const char* call, void* address) {
    if (address == nullptr) return;
    meet_all(call);
    const auto where = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard lock(m_mutex);
    const auto range = where - m_heap.first < m_heap.bytes ? m_allocator.find(where - m_heap.first) : std::nullopt;
    if (!range || range->offset != where - m_heap.first)
        give_up(call, "the address is none that shmem_malloc has given");
    m_allocator.give(range->offset);
}

void* job::reallocate(const char* call, void* address, std::size_t bytes) {
    if (address == nullptr) return allocate(call, bytes, 1);
    if (bytes == 0) {
        free(call, address);
        return nullptr;
    }
    meet_all(call);
    void* found = nullptr;
    std::size_t moved_bytes = 0;
    {
        const std::lock_guard lock(m_mutex);
        const auto where = reinterpret_cast<std::uintptr_t>(address) - m_heap.first;
        const auto range = where < m_heap.bytes ? m_allocator.find(where) : std::nullopt;
        if (range && range->offset == where && bytes <= range->bytes) {
            found = address;
        } else if (range && range->offset == where) {
            // The new range may overlap the old one, where the heap is nearly full.
            auto changed = m_allocator;
            changed.give(where);
            if (const auto offset = changed.take(bytes)) {
                m_allocator = std::move(changed);
                found = reinterpret_cast<void*>(m_heap.first + *offset); // NOLINT
                moved_bytes = range->bytes;
            }
        }
    }
    if (moved_bytes != 0) {
        commit_heap(call, reinterpret_cast<std::uintptr_t>(found) - m_heap.first + bytes);
        std::memmove(found, address, moved_bytes);
    }
    meet_all(call);
    return found;
}

void job::refuse(const void* address, int pe, const char* call) const {
    char text[64];
    std::snprintf(text, sizeof text, "%p", address);
    if (pe < 0 || pe >= m_pes)
        give_up(call, "there is no PE " + std::to_string(pe) + ": they are 0 to " + std::to_string(m_pes - 1));
    give_up(call, std::string("the address ") + text +
                      " is not symmetric: neither in the heap nor a global or static variable of the program");
}

} // namespace causeway::oshmem

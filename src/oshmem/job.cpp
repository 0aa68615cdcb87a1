// SPDX-License-Identifier: Apache-2.0
// Starts by MPI; then shared memory is all that PEs of one node need of one another.
#include "oshmem/job.hpp"

#include "base/error.hpp"
#include "base/store_once.hpp"
#include "endpoints/file/page_cache.hpp"
#include "oshmem/control_lines.hpp"
#include "oshmem/globals.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace causeway::oshmem {

namespace {

job* the_job = nullptr; // lives as long as the process
job* running_job = nullptr; // the same until it ends
pid_t process_of_pe = 0;
std::once_flag start_once;

constexpr std::size_t page = 4096;
std::size_t size_of(const char* name, std::size_t otherwise) {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    const double count = std::strtod(text, &end);
    std::size_t unit = 1; // what follows the letter does not count
    bool has_unit = true;
    switch (*end) {
    case 'k':
    case 'K': unit = std::size_t{1} << 10; break;
    case 'm':
    case 'M': unit = std::size_t{1} << 20; break;
    case 'g':
    case 'G': unit = std::size_t{1} << 30; break;
    case 't':
    case 'T': unit = std::size_t{1} << 40; break;
    default: has_unit = false; break;
    }
    constexpr double most = 0x1p62;
    const double bytes = std::ceil(count * static_cast<double>(unit));
    // NaN is no size either.
    if (end == text || (!has_unit && *end != '\0') || !(bytes >= 0 && bytes <= most))
        give_up("shmem_init", std::string(name) + "=" + text + " is no size, such as 512M");
    return std::max(static_cast<std::size_t>(bytes), page);
}

/// SHMEM_`name`, or by its name before version 1.4: any value counts (OpenSHMEM 1.5, chapter 8).
bool is_set(const std::string& name) {
    for (const char* const prefix : {"SHMEM_", "SMA_"})
        if (const char* const text = std::getenv((prefix + name).c_str())) return *text != '\0';
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
    the_job->m_is_in_finalize.store(true, std::memory_order_release);
    return true;
}

void job::mpi_has_ended() {
    if (the_job != nullptr) the_job->m_is_in_finalize.store(false, std::memory_order_release);
}

void job::exit_all(int status) {
    // Others end with this status, not because they miss this PE.
    if (the_job != nullptr) {
        if (the_job->m_remote) the_job->m_remote->leave();
        if (!comm::mpi_runs())
            __atomic_store_n(word_of(the_job->control(the_job->m_pe, state_line), ends_all_word),
                             ends_all | static_cast<std::uint32_t>(status), __ATOMIC_RELEASE);
    }
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
    if (is_started_by_program()) expect_others();
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
    m_alarm = std::make_unique<death_alarm>(
        m_processes, [this](std::size_t pe) { return has_died(static_cast<int>(pe)); },
        [](std::size_t pe) {
            give_up("watching PEs", "PE " + std::to_string(pe) + " is gone: its process ended without shmem_finalize");
        });
}

bool job::has_died(int pe) const {
    auto* const state = control(pe, state_line);
    if (state == nullptr) return false;
    const auto ended_by = __atomic_load_n(word_of(state, ends_all_word), __ATOMIC_ACQUIRE);
    if ((ended_by & ends_all) != 0) {
        // Launchers call it a failure if a process ends within MPI_Finalize.
        for (int looks = 0; looks < 5000 && m_is_in_finalize.load(std::memory_order_acquire); ++looks) ::usleep(1000);
        comm::end_all_processes(static_cast<int>(ended_by));
    }
    return __atomic_load_n(word_of(state, has_met_word), __ATOMIC_ACQUIRE) == 0;
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

void job::put(const char* call, void* target, const void* source, std::size_t bytes, int pe, returns when) {
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
        store_once(there, source, bytes);
    } else if (is_remote(pe)) {
        const auto where = remote(target, pe, call);
        or_end(call, [&] {
            if (when == returns::at_once && fetched.empty())
                messages(call).start_write(where, source, bytes);
            else
                messages(call).write(where, source, bytes);
        });
    } else {
        refuse(target, pe, call);
    }
}

void job::get(const char* call, void* target, const void* source, std::size_t bytes, int pe, returns when) {
    if (bytes == 0) return;
    if (const auto* const there = find(source, pe)) {
        store(call, target, there, bytes);
    } else if (!is_distant(source)) {
        if (!is_remote(pe)) refuse(source, pe, call);
        const auto where = remote(source, pe, call);
        std::vector<std::byte> fetched(is_distant(target) ? bytes : 0);
        or_end(call, [&] {
            if (when == returns::at_once && fetched.empty())
                messages(call).start_read(where, target, bytes);
            else
                messages(call).read(where, fetched.empty() ? target : fetched.data(), bytes);
        });
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
        const auto room = endpoints::find_cache_room(); // without limit if nobody says
        const auto there = room + std::min<std::uint64_t>(swap, std::numeric_limits<std::uint64_t>::max() - room);
        if (bytes > there / near)
            give_up(call, "PEs of this node ask for " + bytes_text(bytes) + " each and are " + std::to_string(near) +
                              ", but it has no more than " + bytes_text(there) + " available");
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

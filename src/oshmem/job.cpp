// SPDX-License-Identifier: Apache-2.0
// Starts by MPI; then shared memory is all that PEs need of one another.
#include "oshmem/job.hpp"

#include "base/error.hpp"

#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace causeway::oshmem {

namespace {

job* the_job = nullptr; // lives as long as the process
std::once_flag start_once;

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64; // of a cache: what one PE writes and another one reads

struct control_line {
    alignas(line) std::uint64_t value;
};
/// Of each PE: whether it has left, its note, its loans, and the tokens of all PEs.
constexpr std::size_t first_loan = 2, first_token = 4;

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

bool is_set(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

std::size_t heap_bytes() {
    const auto asked = size_of("SHMEM_SYMMETRIC_SIZE", size_of("SHMEM_SYMMETRIC_HEAP_SIZE", std::size_t{64} << 20));
    return (asked + page - 1) / page * page;
}

/// The program's own writable memory: initialised variables and those that are zero.
struct range {
    std::uintptr_t first = 0, end = 0;
};
range globals_of_program() {
    range found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* into) {
            auto& all = *static_cast<range*>(into);
            range read_only;
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto& part = object->dlpi_phdr[i];
                const auto first = object->dlpi_addr + part.p_vaddr;
                if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) all = {first, first + part.p_memsz};
                if (part.p_type == PT_GNU_RELRO) read_only = {first, first + part.p_memsz};
            }
            // What the loader has made read-only holds no variables. The rest begins at a page.
            if (read_only.first >= all.first && read_only.end <= all.end) all.first = read_only.end;
            all.first = all.first / page * page;
            if (all.first < read_only.end) all.first = (read_only.end + page - 1) / page * page;
            all.end = (all.end + page - 1) / page * page;
            return 1; // the first is the program
        },
        &found);
    return found;
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

void job::mpi_ends() {
    if (the_job == nullptr) return;
    the_job->m_program_ends_mpi = true;
    the_job->end_device();
    the_job->m_group.reset();
}

void job::exit_all(int status) { comm::end_all_processes(status); }

void job::start() {
    std::call_once(start_once, [] {
        try {
            the_job = new job; // NOLINT: stays, as threads may still use it at exit
        } catch (const std::exception& error) {
            give_up("shmem_init", error.what());
        }
        std::atexit([] { finish(); });
    });
}

bool job::has_started() { return the_job != nullptr; }
job& job::instance() { return *the_job; }
job& job::required(const char* call) {
    if (the_job == nullptr) give_up(call, "shmem_init comes first");
    return *the_job;
}

job::job() : m_allocator(heap_bytes()) {
    m_has_started_mpi = comm::start_mpi_if_nobody_has();
    m_group = comm::process_group::of_all_processes();
    m_pe = m_group->rank();
    m_pes = m_group->size();
    const auto count = static_cast<std::size_t>(m_pes);
    m_sent.assign(count, 0);
    m_expected.assign(count, 0);
    share(m_control, comm::shared_segment::create((first_token + count) * sizeof(control_line)));
    auto heap = comm::shared_segment::create(m_allocator.bytes());
    share(m_heap, std::move(heap));
    make_globals_shared();
    report();
    meet({0, 1, m_pes});
}

/// What the variables of OpenSHMEM 1.5, section 8, ask for.
void job::report() const {
    if (m_pe == 0 && is_set("SHMEM_VERSION")) std::printf("Causeway: OpenSHMEM 1.5\n");
    if (m_pe == 0 && is_set("SHMEM_INFO"))
        std::printf("Causeway: OpenSHMEM 1.5 reads\n"
                    "  SHMEM_VERSION         prints the version at the start\n"
                    "  SHMEM_INFO            prints this\n"
                    "  SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap, with K, M, G or T: %zu here\n"
                    "  SHMEM_DEBUG           has each PE say where its symmetric memory is\n",
                    m_heap.bytes);
    std::fflush(stdout);
    if (is_set("SHMEM_DEBUG"))
        std::fprintf(stderr, "causeway: PE %d of %d: process %d, heap of %zu bytes at %#zx, variables of %zu at %#zx\n",
                     m_pe, m_pes, static_cast<int>(::getpid()), m_heap.bytes, static_cast<std::size_t>(m_heap.first),
                     m_globals.bytes, static_cast<std::size_t>(m_globals.first));
}

void job::share(part& what, std::unique_ptr<comm::shared_segment> own) {
    const auto all = m_group->all_gather(own->address());
    if (what.first == 0) {
        what.first = reinterpret_cast<std::uintptr_t>(own->memory());
        what.bytes = own->address().bytes;
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
        if (m_processes.size() <= pe) m_processes.emplace_back(all[pe].process);
        auto found = comm::shared_segment::open(all[pe]);
        if (!found)
            throw transfer_error(status::invalid_operation,
                                 "the memory of PE " + std::to_string(pe) +
                                     " cannot be reached: PEs on several nodes are not offered");
        what.peers[pe] = found->memory();
        m_segments.push_back(std::move(found));
    }
    // Own memory stays mapped wherever it is.
    static_cast<void>(own.release());
    // The others have found it.
    (void)m_group->all_gather(0);
}

/// Variables move into memory that others can map, where they are: the same pages at the same addresses, with the same
/// contents.
void job::make_globals_shared() {
    const auto where = globals_of_program();
    if (where.end <= where.first) return;
    const auto bytes = static_cast<std::size_t>(where.end - where.first);
    auto own = comm::shared_segment::create(bytes);
    auto* const target = reinterpret_cast<void*>(where.first); // NOLINT(performance-no-int-to-ptr)
    std::memcpy(own->memory(), target, bytes);
    if (::mremap(own->memory(), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED)
        throw transfer_error(status::out_of_host_memory, "sharing the program's variables: " + errno_text(errno),
                             errno);
    m_globals.first = where.first;
    m_globals.bytes = bytes;
    share(m_globals, std::move(own));
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
    std::atexit([] { finish(); });
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
    std::vector<std::byte> fetched;
    if (is_distant(source)) {
        fetched.resize(bytes);
        m_device->get(call, fetched.data(), source, bytes, m_pe);
        source = fetched.data();
    }
    if (is_distant(target)) {
        m_device->put(call, target, source, bytes, pe);
    } else {
        std::memmove(at(target, pe, call), source, bytes);
    }
}

void job::get(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    if (bytes == 0) return;
    if (!is_distant(source)) {
        store(call, target, at(source, pe, call), bytes);
    } else if (is_distant(target)) {
        std::vector<std::byte> fetched(bytes);
        m_device->get(call, fetched.data(), source, bytes, pe);
        m_device->put(call, target, fetched.data(), bytes, m_pe);
    } else {
        m_device->get(call, target, source, bytes, pe);
    }
}

void job::finish() {
    if (the_job == nullptr || std::exchange(the_job->m_has_ended, true)) return;
    auto& ending = *the_job;
    ending.meet({0, 1, ending.m_pes});
    auto* const own = reinterpret_cast<control_line*>(ending.m_control.peers[static_cast<std::size_t>(ending.m_pe)]);
    __atomic_store_n(&own[0].value, 1, __ATOMIC_RELEASE);
    ending.end_device();
    ending.m_group.reset();
    if (ending.m_has_started_mpi && !ending.m_program_ends_mpi) comm::end_mpi();
}

std::uint64_t& job::note_of(int pe) const {
    return reinterpret_cast<control_line*>(m_control.peers[static_cast<std::size_t>(pe)])[1].value;
}

comm::segment_address& job::loan_of(loan what, int pe) const {
    static_assert(sizeof(comm::segment_address) <= sizeof(control_line));
    auto* const lines = reinterpret_cast<control_line*>(m_control.peers[static_cast<std::size_t>(pe)]);
    return *reinterpret_cast<comm::segment_address*>(lines + first_loan + static_cast<std::size_t>(what));
}

void job::lend(const char* call, loan what, const void* source, std::size_t bytes) {
    auto& shown = loan_of(what, m_pe);
    shown.bytes = 0;
    if (bytes == 0 || find(source, m_pe) != nullptr) return;
    auto& lent = m_lent[static_cast<std::size_t>(what)];
    if (!lent || lent->address().bytes < bytes) lent = comm::shared_segment::create(bytes);
    if (is_distant(source)) {
        m_device->get(call, lent->memory(), source, bytes, m_pe);
    } else {
        std::memcpy(lent->memory(), source, bytes);
    }
    shown = lent->address();
}

const void* job::borrow(loan what, const void* source, int pe, const char* call) {
    if (pe < 0 || pe >= m_pes) refuse(source, pe, call);
    const auto& shown = loan_of(what, pe);
    if (shown.bytes == 0) return at(source, pe, call);
    if (pe == m_pe) return is_distant(source) ? m_lent[static_cast<std::size_t>(what)]->memory() : source;
    auto& all = m_borrowed[static_cast<std::size_t>(what)];
    all.resize(static_cast<std::size_t>(m_pes));
    auto& known = all[static_cast<std::size_t>(pe)];
    if (!known || known->address().key != shown.key) {
        known = comm::shared_segment::open(shown);
        if (!known) give_up(call, "the memory of PE " + std::to_string(pe) + " cannot be reached");
    }
    return known->memory();
}

std::uint64_t& job::token(int at, int from) const {
    return reinterpret_cast<control_line*>(
               m_control.peers[static_cast<std::size_t>(at)])[first_token + static_cast<std::size_t>(from)]
        .value;
}

/// A dissemination barrier whose rounds need no memory of their own: PEs count what they have sent to each other one,
/// as any two of them meet in the same order on both sides.
void job::meet(const members& who) {
    const int own = who.index_of(m_pe);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int distance = 1; distance < who.size; distance *= 2) {
        const int to = who.world((own + distance) % who.size), from = who.world((own + who.size - distance) % who.size);
        __atomic_store_n(&token(to, m_pe), ++m_sent[static_cast<std::size_t>(to)], __ATOMIC_RELEASE);
        const auto expected = ++m_expected[static_cast<std::size_t>(from)];
        auto& seen = token(m_pe, from);
        wait([&] { return __atomic_load_n(&seen, __ATOMIC_ACQUIRE) >= expected; });
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void job::pause(unsigned times) {
    ::sched_yield();
    if (times % 256 != 0) return;
    for (int pe = 0; pe < m_pes; ++pe) {
        const auto* const other = reinterpret_cast<const control_line*>(m_control.peers[static_cast<std::size_t>(pe)]);
        if (pe != m_pe && m_processes[static_cast<std::size_t>(pe)].is_gone() &&
            __atomic_load_n(&other[0].value, __ATOMIC_ACQUIRE) == 0)
            give_up("waiting", "PE " + std::to_string(pe) + " is gone: its process ended without shmem_finalize");
    }
    if (times > 4096) ::usleep(50); // who waits for long leaves the processor to the others
}

void* job::allocate(std::size_t bytes, std::size_t alignment) {
    void* found = nullptr;
    if (bytes != 0) {
        const std::lock_guard lock(m_mutex);
        if (const auto offset = m_allocator.take(bytes, alignment))
            found = reinterpret_cast<void*>(m_heap.first + *offset); // NOLINT
    }
    if (bytes != 0) meet({0, 1, m_pes});
    return found;
}

void job::free(void* address) {
    if (address == nullptr) return;
    meet({0, 1, m_pes});
    const auto where = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard lock(m_mutex);
    const auto range = where - m_heap.first < m_heap.bytes ? m_allocator.find(where - m_heap.first) : std::nullopt;
    if (!range || range->offset != where - m_heap.first)
        give_up("shmem_free", "the address is none that shmem_malloc has given");
    m_allocator.give(range->offset);
}

std::size_t job::bytes_at(void* address) {
    const auto where = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard lock(m_mutex);
    const auto range = m_allocator.find(where - m_heap.first);
    return range ? range->bytes : 0;
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

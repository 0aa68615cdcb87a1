// SPDX-License-Identifier: Apache-2.0
// Sets the heap up by MPI, and answers for addresses.
#include "runtime/symmetric_heap.hpp"

#include "base/host.hpp"
#include "cl/calls.hpp"
#include "endpoints/file/page_cache.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "endpoints/symmetric/last_range.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/mpi_runtime.hpp"
#include "runtime/window_buffers.hpp"

#include <causeway/symmetric.h>

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <utility>

namespace causeway::core {

namespace {

std::mutex process_mutex; // guards process_heap
std::shared_ptr<symmetric_heap>& process_heap() {
    static auto* const slot = new std::shared_ptr<symmetric_heap>(); // outlives the engine's thread
    return *slot;
}

/// Counts heaps and frees: an allocation that a thread has found is there until this changes.
std::atomic<std::uint64_t> changes = 0;

/// What a PE tells the others of itself.
struct introduction {
    int code = 0; ///< why it refuses, if it does
    std::array<char, 240> reason{};
    std::uint64_t heap_bytes = 0;
    std::uint64_t machine = 0;
    bool needs_server = false; ///< its heap is in memory that others cannot map, or it cannot map all others
    comm::segment_address segment;
    heap_window window;
    comm::network_address network;
};

void refuse(introduction& own, const failure& why) {
    own.code = why.status;
    std::snprintf(own.reason.data(), own.reason.size(), "%s", why.message.c_str());
}

/// Why this process cannot begin a heap, whatever its device.
void check_process() {
    comm::require_mpi();
    if (symmetric_heap::of_process_if_any())
        throw transfer_error(status::invalid_operation, "this process is a PE already");
    mpi_runtime::instance().use_mpi();
}

/// Throws the first refusal, on every PE.
void require_all(const std::vector<introduction>& all) {
    for (std::size_t pe = 0; pe < all.size(); ++pe)
        if (all[pe].code != 0)
            throw transfer_error(all[pe].code, "PE " + std::to_string(pe) + ": " + all[pe].reason.data());
}

void check_device(cl_context context, cl_device_id device, std::size_t heap_bytes) {
    if (!cl::has_device(context, device))
        throw transfer_error(CL_INVALID_DEVICE, "the device is not one of the context");
    if (heap_bytes == 0) throw transfer_error(status::invalid_value, "a symmetric heap of 0 bytes");
    cl_ulong largest = 0;
    cl::check(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr),
              "asking for the largest buffer");
    if (heap_bytes > largest)
        throw transfer_error(CL_INVALID_BUFFER_SIZE, "a symmetric heap of " + bytes_text(heap_bytes) +
                                                         " is above the largest buffer of the device's driver, " +
                                                         bytes_text(largest));
}

/// Of this node, and of this process's cgroups.
std::uint64_t available_memory() {
    struct sysinfo node{};
    const std::uint64_t swap = ::sysinfo(&node) == 0 ? std::uint64_t{node.freeswap} * node.mem_unit : 0,
                        room = endpoints::find_cache_room();
    return room + std::min(swap, UINT64_MAX - room);
}

/// With a bridge of host memory, heaps lie in windows as those of cards do.
bool stands_in_for_cards() {
    constexpr std::uint64_t host = 2; // of the option's choices
    return process_options()[option::bridge] == host;
}

/// Commands of the program may use the buffer after the end of the heap. What a driver does not tell the end of is kept
/// for good.
void keep_until_destroyed(cl_mem buffer, const std::shared_ptr<endpoints::heap>& memory) {
    using kept = std::shared_ptr<endpoints::heap>;
    auto given = std::make_unique<kept>(memory);
    const auto let_go = [](cl_mem, void* data) { std::unique_ptr<kept>(static_cast<kept*>(data)).reset(); };
    (void)clSetMemObjectDestructorCallback(buffer, let_go, given.release());
}

} // namespace

void symmetric_heap::start(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes) {
    comm::require_communicator(comm);
    auto made = std::make_shared<symmetric_heap>(context, device, comm, heap_bytes);
    const std::lock_guard lock(process_mutex);
    process_heap() = std::move(made);
}

std::shared_ptr<symmetric_heap> symmetric_heap::of_process_if_any() {
    const std::lock_guard lock(process_mutex);
    return process_heap();
}

std::shared_ptr<symmetric_heap> symmetric_heap::of_process() {
    auto found = of_process_if_any();
    if (!found)
        throw transfer_error(status::invalid_operation, "this process is no PE: causeway_symmetric_init comes first");
    return found;
}

std::shared_ptr<symmetric_heap> symmetric_heap::in_use() {
    auto found = of_process();
    found->require_mpi();
    return found;
}

void symmetric_heap::require_mpi() const {
    if (!m_heap->takes_calls())
        throw transfer_error(status::invalid_operation, "the symmetric heap ended with MPI: MPI_Finalize was called");
}

void symmetric_heap::finish() {
    const auto ended = of_process();
    failure why;
    try {
        ended->require_mpi();
        ended->meet({.name = "causeway_symmetric_finalize", .number = 1});
    } catch (...) {
        why = current_failure();
    }
    // The others learn that there is nobody to wait for, whatever they do.
    ended->leave(!why);
    {
        const std::lock_guard lock(process_mutex);
        process_heap().reset();
    }
    if (why) throw transfer_error(why);
}

void symmetric_heap::give_up() {
    of_process()->leave(false, true);
    const std::lock_guard lock(process_mutex);
    process_heap().reset();
}

symmetric_heap::symmetric_heap(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes)
    : m_device(device), m_allocator(heap_bytes) {
    changes.fetch_add(1, std::memory_order_release);
    if (!comm::mpi_runs()) comm::require_mpi(); // there is nobody to tell
    // From here on, what one PE refuses it refuses in the next exchange, for which the others wait.
    m_group = comm::process_group::duplicate(comm);
    const int pes = m_group->size();
    const auto control = endpoints::heap_control::bytes(pes);

    introduction own{.heap_bytes = heap_bytes, .machine = host_number()};
    std::unique_ptr<comm::distant_watch> distant;
    std::unique_ptr<comm::shared_segment> segment;
    bool has_host_memory = false;
    try {
        check_process();
        check_device(context, device, heap_bytes);
        distant = std::make_unique<comm::distant_watch>();
        own.network = distant->address();
        has_host_memory = cl::facts_of(device).host_memory && !stands_in_for_cards();
        own.needs_server = !has_host_memory;
    } catch (...) {
        refuse(own, current_failure());
    }
    const auto requests = m_group->all_gather(endpoints::heap_request{
        .node = own.machine, .bytes = has_host_memory ? heap_bytes : 0, .available = available_memory()});
    try {
        if (const auto lack = endpoints::shortage(requests, own.machine)) throw transfer_error(lack);
        if (own.code == 0) {
            segment = comm::shared_segment::create(control + (has_host_memory ? heap_bytes : 0));
            own.segment = segment->address();
        }
    } catch (...) {
        refuse(own, current_failure());
    }
    const auto all = m_group->all_gather(own);
    require_all(all);
    for (std::size_t pe = 0; pe < all.size(); ++pe)
        if (all[pe].heap_bytes != all[0].heap_bytes)
            throw transfer_error(status::invalid_value,
                                 "the symmetric heap has one size on all PEs: " + bytes_text(all[0].heap_bytes) +
                                     " on PE 0, " + bytes_text(all[pe].heap_bytes) + " on PE " + std::to_string(pe));

    std::vector<endpoints::heap_member> members(all.size());
    const auto own_pe = static_cast<std::size_t>(m_group->rank());
    std::vector<bool> is_near(all.size());
    std::vector<comm::network_address> networks;
    for (const auto& each : all) networks.push_back(each.network);
    endpoints::buffer_location location;
    try {
        for (std::size_t pe = 0; pe < all.size(); ++pe) {
            auto& member = members[pe];
            member.number = all[pe].segment.process;
            const bool is_here = all[pe].machine == own.machine;
            // Watched before the segment is found, which says that it is still that process.
            comm::process_watch process(is_here && pe != own_pe ? member.number : -1);
            auto found = pe == own_pe ? std::move(segment)
                         : is_here    ? comm::shared_segment::open(all[pe].segment)
                                      : nullptr;
            own.needs_server = own.needs_server || !found;
            if (!found) continue;
            is_near[pe] = true;
            member.process = std::move(process);
            member.control = found->memory();
            if (!all[pe].needs_server) member.memory = found->memory() + control;
            member.segment = std::move(found);
        }
        std::vector<bool> is_far = is_near;
        is_far.flip();
        is_far[own_pe] = false;
        distant->connect(networks, m_group->rank(), is_far);
        m_context = cl::context::share(context);
        make_buffer(device, heap_bytes, members[own_pe].memory);
        location = {m_context, device, m_buffer, heap_bytes, CL_MEM_READ_WRITE};
        window_buffers::of_process().locate(location);
        if (location.window) {
            m_link = std::make_shared<heap_link>(runtime::instance(), location, m_group->rank(), pes);
            own.window = m_link->introduction();
        }
    } catch (...) {
        refuse(own, current_failure());
    }
    const auto ready = m_group->all_gather(own);
    require_all(ready);
    try {
        auto* const host_memory = members[own_pe].memory;
        m_heap = mpi_runtime::instance().make_heap(m_group->rank(), heap_bytes, std::move(members), std::move(distant));
        if (host_memory != nullptr) keep_until_destroyed(m_buffer.get(), m_heap);
        if (m_link) {
            std::vector<heap_window> windows;
            windows.reserve(ready.size());
            for (const auto& each : ready) windows.push_back(each.window);
            m_link->connect(windows, is_near);
        }
        if (std::any_of(ready.begin(), ready.end(), [](const auto& each) { return each.needs_server; }))
            serve(std::move(location), host_memory);
    } catch (...) {
        refuse(own, current_failure());
    }
    // Nobody asks one that does not listen yet.
    const auto begun = m_group->all_gather(own);
    try {
        require_all(begun);
    } catch (...) {
        if (m_server) (void)runtime::instance().call_and_wait([server = m_server] { server->stop(); });
        m_group->keep(); // what others may have sent already stays there
        throw;
    }
    if (m_link) m_link->connected();
}

void symmetric_heap::serve(endpoints::buffer_location location, std::byte* host_memory) {
    m_server = std::make_shared<heap_server>(runtime::instance(), m_heap,
                                             mpi_runtime::instance().space_of(m_group->communicator()),
                                             std::move(location), host_memory);
    m_heap->at_end_of_mpi([server = std::weak_ptr(m_server)] {
        if (const auto alive = server.lock()) alive->end();
    });
    (void)runtime::instance().require_answer("serving the symmetric heap", [server = m_server] {
        server->start();
        return true;
    });
}

/// On memory that the other PEs map the device works in place; else the buffer is one that a link reaches, where there
/// are links.
void symmetric_heap::make_buffer(cl_device_id device, std::size_t heap_bytes, std::byte* host_memory) {
    if (host_memory != nullptr) {
        cl_int code = CL_SUCCESS;
        m_buffer = cl::buffer::adopt(
            clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, heap_bytes, host_memory, &code));
        cl::check(code, "making the buffer of the symmetric heap, of " + bytes_text(heap_bytes));
        m_base = host_memory;
        return;
    }
    auto& windows = window_buffers::of_process();
    m_buffer = cl::buffer::adopt(windows.create(m_context.get(), device, CL_MEM_READ_WRITE, heap_bytes));
    endpoints::buffer_location location{m_context, device, m_buffer, heap_bytes, CL_MEM_READ_WRITE};
    windows.locate(location);
    cl_uint devices = 0;
    cl::check(clGetContextInfo(m_context.get(), CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, nullptr),
              "counting the context's devices");
    // Another device's command on it would end the process (decision 10).
    if (location.window && devices > 1)
        throw transfer_error(
            status::invalid_operation,
            "a symmetric heap in memory that a link between devices reaches needs a context of that device "
            "alone; this one has " +
                std::to_string(devices) + " devices");
    m_range.emplace(heap_bytes);
    m_base = m_range->first();
}

void symmetric_heap::leave(bool all_come, bool gives_up) const {
    auto& process = runtime::instance();
    if (m_server) (void)process.call_and_wait([server = m_server, gives_up] { server->leave(gives_up); });
    m_heap->leave(gives_up); // behind the messages that say so: who dies before them has not left
    if (!m_server) return;
    try {
        // Open MPI (4.1) and MPICH give what comes late to the next communicator that has the number of this one.
        if (all_come) {
            run("causeway_symmetric_finalize",
                one_flow(make_farewell(m_server), endpoints::make_empty_endpoint("farewell"), 0));
            return;
        }
    } catch (const transfer_error&) { // one has ended, and its farewell may yet come
    }
    (void)process.call_and_wait([server = m_server] { server->stop(); });
    m_group->keep();
}

static constexpr std::size_t largest_alignment = 4096;

static endpoints::heap_control::refusal_text text_of(const failure& why) {
    endpoints::heap_control::refusal_text text{};
    std::snprintf(text.data(), text.size(), "%s", why.message.c_str());
    return text;
}

/// The text of what `check` throws; empty if nothing.
template <class Check> static endpoints::heap_control::refusal_text refusal_of(Check check) {
    try {
        check();
        return {};
    } catch (...) {
        return text_of(current_failure());
    }
}

void symmetric_heap::refuse_collective(const char* name, int times, const failure& why) const noexcept {
    try {
        require_mpi();
        auto meeting = endpoints::make_meeting(m_heap, {.name = name, .times = times, .refusal = text_of(why)});
        const auto work = std::make_shared<transfer::command>(
            one_flow(std::move(meeting), endpoints::make_empty_endpoint(name), 0), nullptr);
        work->is_called({.name = name});
        runtime::instance().submit(work, uses_mpi::yes);
    } catch (...) { // the others wait until this PE ends
    }
}

void* symmetric_heap::allocate(std::size_t count, std::size_t bytes_each, std::size_t alignment, std::uint64_t number) {
    std::size_t bytes = 0;
    const auto refusal = refusal_of([&] {
        if (__builtin_mul_overflow(count, bytes_each, &bytes))
            throw transfer_error(status::invalid_value, "count times bytes is too large");
        if (!std::has_single_bit(alignment))
            throw transfer_error(status::invalid_value,
                                 "an alignment of " + std::to_string(alignment) + ", which is no power of two");
        // Offsets are the same on all PEs, and their heaps begin at any page.
        if (alignment > largest_alignment)
            throw transfer_error(status::invalid_value, "an alignment of " + std::to_string(alignment) + ", above " +
                                                            std::to_string(largest_alignment));
    });
    meet({.name = "an allocation in the symmetric heap",
          .number = number + 16 * static_cast<std::uint64_t>(std::bit_width(alignment)),
          .number_name = "the alignment",
          .value = bytes,
          .value_name = "the number of bytes",
          .refusal = refusal,
          .refused_with = status::invalid_value});
    if (bytes == 0) return nullptr;
    const std::lock_guard lock(m_mutex);
    const auto found = m_allocator.take(bytes, alignment);
    if (!found)
        throw transfer_error(status::mem_object_allocation_failure,
                             "the symmetric heap of " + bytes_text(m_allocator.bytes()) + " has no room for " +
                                 bytes_text(bytes) + ": its largest free range has " +
                                 bytes_text(m_allocator.largest_free()));
    return m_base + *found;
}

void* symmetric_heap::allocate_zeros(std::size_t count, std::size_t bytes_each) {
    auto* const made = allocate(count, bytes_each, 1, 8);
    const auto refusal = refusal_of([&] {
        if (made != nullptr) clear(made, count * bytes_each);
    });
    try { // nobody puts there before it is zero
        meet({.name = "causeway_symmetric_calloc",
              .number = 4,
              .refusal = refusal,
              .refused_with = status::invalid_value});
    } catch (...) {
        if (made != nullptr) give(offset_of(static_cast<std::byte*>(made)));
        throw;
    }
    return made;
}

void symmetric_heap::free(void* address) {
    std::size_t offset = m_allocator.bytes();
    const auto refusal = refusal_of([&] {
        if (address == nullptr) return;
        offset = locate(address, 1, "the address");
        const std::lock_guard lock(m_mutex);
        const auto range = m_allocator.find(offset);
        if (!range) throw transfer_error(status::invalid_value, "another thread has freed the address meanwhile");
        if (range->offset != offset)
            throw transfer_error(status::invalid_value,
                                 "the address is in the middle of an allocation of the symmetric heap");
    });
    meet({.name = "causeway_symmetric_free",
          .number = 3,
          .value = offset,
          .value_name = "the offset",
          .refusal = refusal,
          .refused_with = status::invalid_value});
    const auto bytes = bytes_from(offset);
    if (m_server && bytes != 0) m_heap->words(m_heap->pe()).remove(offset, bytes);
    give(offset);
}

void symmetric_heap::give(std::size_t offset) {
    const std::lock_guard lock(m_mutex);
    changes.fetch_add(1, std::memory_order_release); // first: who sees it waits for the lock
    m_allocator.give(offset);
}

std::size_t symmetric_heap::locate(const void* address, std::size_t bytes, const char* what) const {
    const auto refuse = [&](const std::string& why) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%p", address);
        throw transfer_error(status::invalid_value, std::string(what) + ", " + text.data() + ", " + why);
    };
    if (address == nullptr) refuse("is null");
    const auto first = reinterpret_cast<std::uintptr_t>(m_base), wanted = reinterpret_cast<std::uintptr_t>(address);
    if (wanted < first || wanted - first >= m_allocator.bytes()) refuse("is not in the symmetric heap");
    const auto offset = static_cast<std::size_t>(wanted - first);
    // Most calls of a thread are about the allocation that it used last: no lock for them.
    static thread_local endpoints::last_range last;
    const auto now = changes.load(std::memory_order_acquire);
    if (bytes == 0 || !last.has(this, now, offset)) {
        const std::lock_guard lock(m_mutex);
        const auto range = bytes == 0 ? m_allocator.find_or_end(offset) : m_allocator.find(offset);
        if (!range) refuse("is in the symmetric heap, but not allocated, or freed");
        last.keep(this, now, *range);
    }
    const auto left = last.get().bytes - (offset - last.get().offset);
    if (bytes > left) refuse("has " + bytes_text(left) + " of its allocation behind it, not " + bytes_text(bytes));
    return offset;
}

std::optional<symmetric_allocation> symmetric_heap::allocation_of(const void* address) const {
    const auto first = reinterpret_cast<std::uintptr_t>(m_base), wanted = reinterpret_cast<std::uintptr_t>(address);
    if (wanted < first || wanted - first >= m_allocator.bytes()) return std::nullopt;
    const std::lock_guard lock(m_mutex);
    const auto range = m_allocator.find(wanted - first);
    if (!range) return std::nullopt;
    return symmetric_allocation{context(), buffer(), range->offset, range->bytes,
                                reinterpret_cast<char*>(m_base) + range->offset};
}

std::size_t symmetric_heap::locate_word(const void* address, std::size_t bytes, const char* what) const {
    const auto offset = locate(address, bytes, what);
    if (offset % bytes != 0)
        throw transfer_error(status::invalid_value,
                             std::string(what) + " is misaligned: its offset in the symmetric heap, " +
                                 std::to_string(offset) + ", is no multiple of " + std::to_string(bytes));
    return offset;
}

std::size_t symmetric_heap::bytes_from(std::size_t offset) const {
    const std::lock_guard lock(m_mutex);
    const auto range = m_allocator.find(offset);
    return range ? range->offset + range->bytes - offset : 0;
}

void symmetric_heap::require_pe(int pe) const {
    if (pe < 0 || pe >= m_heap->pes())
        throw transfer_error(status::invalid_value, "there is no PE " + std::to_string(pe) + ": they are 0 to " +
                                                        std::to_string(m_heap->pes() - 1));
}

void* symmetric_heap::address_of(cl_mem buffer, std::size_t offset) const {
    const auto location = cl::root_of(buffer);
    const auto size = cl::facts_of(buffer).bytes;
    if (location.root != m_buffer.get() || offset >= size) return nullptr;
    return m_base + location.offset + offset;
}

} // namespace causeway::core

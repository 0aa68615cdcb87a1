// SPDX-License-Identifier: Apache-2.0
// Sets the heap up by MPI, and answers for addresses.
#include "runtime/symmetric_heap.hpp"

#include "cl/calls.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/runtime.hpp"

#include <causeway/symmetric.h>

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

namespace causeway::capi {

namespace {

std::mutex process_mutex; // guards process_heap
std::shared_ptr<symmetric_heap>& process_heap() {
    static auto* const slot = new std::shared_ptr<symmetric_heap>(); // outlives the engine's thread
    return *slot;
}

/// What a PE tells the others of itself.
struct introduction {
    int code = 0; ///< why it refuses, if it does
    std::array<char, 240> reason{};
    std::uint64_t heap_bytes = 0;
    std::uint64_t machine = 0;
    comm::segment_address segment;
};

void refuse(introduction& own, const failure& why) {
    own.code = why.status;
    std::snprintf(own.reason.data(), own.reason.size(), "%s", why.message.c_str());
}

/// Throws the first refusal, on every PE.
void require_all(const std::vector<introduction>& all) {
    for (std::size_t pe = 0; pe < all.size(); ++pe)
        if (all[pe].code != 0) throw transfer_error(all[pe].code, "PE " + std::to_string(pe) + ": " + all[pe].reason.data());
}

void check_device(cl_context context, cl_device_id device, std::size_t heap_bytes) {
    if (!cl::has_device(context, device)) throw transfer_error(CL_INVALID_DEVICE, "the device is not one of the context");
    if (heap_bytes == 0) throw transfer_error(status::invalid_value, "a symmetric heap of 0 bytes");
    cl_ulong largest = 0;
    cl::check(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr), "asking for the largest buffer");
    if (heap_bytes > largest)
        throw transfer_error(CL_INVALID_BUFFER_SIZE, "a symmetric heap of " + bytes_text(heap_bytes) +
                                                         " is above the largest buffer of the device's driver, " + bytes_text(largest));
    if (!cl::facts_of(device).host_memory)
        throw transfer_error(status::invalid_operation, "the device has memory of its own, which other PEs do not reach yet");
}

} // namespace

void symmetric_heap::start(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes) {
    comm::require_mpi();
    comm::require_communicator(comm);
    if (of_process_if_any()) throw transfer_error(status::invalid_operation, "this process is a PE already");
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
    if (!found) throw transfer_error(status::invalid_operation, "this process is no PE: causeway_symmetric_init comes first");
    return found;
}

void symmetric_heap::finish() {
    const auto ended = of_process();
    ended->meet({.name = "causeway_symmetric_finalize", .number = 1});
    ended->m_heap->leave();
    const std::lock_guard lock(process_mutex);
    process_heap().reset();
}

symmetric_heap::symmetric_heap(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes)
    : m_allocator(heap_bytes) {
    auto& process = runtime::instance();
    process.use_mpi();
    m_group = comm::process_group::duplicate(comm);
    const int pes = m_group->size();
    const auto control = endpoints::heap_control::bytes(pes);

    introduction own{.heap_bytes = heap_bytes, .machine = comm::peer_liveness::machine()};
    std::unique_ptr<comm::shared_segment> segment;
    try {
        check_device(context, device, heap_bytes);
        segment = comm::shared_segment::create(control + heap_bytes);
        own.segment = segment->address();
    } catch (...) {
        refuse(own, current_failure());
    }
    const auto all = m_group->all_gather(own);
    require_all(all);
    for (std::size_t pe = 0; pe < all.size(); ++pe)
        if (all[pe].heap_bytes != all[0].heap_bytes)
            throw transfer_error(status::invalid_value, "the symmetric heap has one size on all PEs: " + bytes_text(all[0].heap_bytes) +
                                                            " on PE 0, " + bytes_text(all[pe].heap_bytes) + " on PE " + std::to_string(pe));

    std::vector<endpoints::heap_member> members(all.size());
    try {
        for (std::size_t pe = 0; pe < all.size(); ++pe) {
            auto& member = members[pe];
            member.number = all[pe].segment.process;
            const bool is_own = static_cast<int>(pe) == m_group->rank();
            // Watched before the segment is found, which says that it is still that process.
            if (!is_own) member.process = comm::process_watch(member.number);
            auto found = is_own ? std::move(segment) : all[pe].machine == own.machine ? comm::shared_segment::open(all[pe].segment) : nullptr;
            if (!found)
                throw transfer_error(status::invalid_operation, "the memory of PE " + std::to_string(pe) +
                                                                    " cannot be reached from here: it is on another node, or in another container");
            member.control = found->memory();
            member.memory = found->memory() + control;
            m_segments.push_back(std::move(found));
        }
        m_context = cl::context::share(context);
        cl_int code = CL_SUCCESS;
        // The device works in the memory itself, which the other PEs have mapped.
        m_buffer = cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, heap_bytes,
                                                    members[static_cast<std::size_t>(m_group->rank())].memory, &code));
        cl::check(code, "making the buffer of the symmetric heap, of " + bytes_text(heap_bytes));
    } catch (...) {
        refuse(own, current_failure());
    }
    require_all(m_group->all_gather(own));
    m_heap = process.make_heap(m_group->rank(), heap_bytes, std::move(members));
}

void symmetric_heap::meet(const endpoints::meeting_purpose& purpose) const {
    run(endpoints::make_meeting(m_heap, purpose), endpoints::make_empty_endpoint(purpose.name), 0);
}

void symmetric_heap::run(std::unique_ptr<transfer::endpoint> source, std::unique_ptr<transfer::endpoint> target, std::size_t bytes) {
    auto& process = runtime::instance();
    const auto work = std::make_shared<transfer::command>(one_flow(std::move(source), std::move(target), bytes), nullptr);
    {
        transfer::engine_thread::deputy driver(process.thread());
        process.submit(work, uses_mpi::yes);
        driver.advance(*work);
    }
    if (const auto result = work->wait(process.engine().spin())) throw transfer_error(result);
}

void* symmetric_heap::allocate(std::size_t bytes, std::size_t alignment) {
    if (!std::has_single_bit(alignment))
        throw transfer_error(status::invalid_value, "an alignment of " + std::to_string(alignment) + ", which is no power of two");
    meet({.name = "an allocation in the symmetric heap", .number = 2 + alignment, .value = bytes,
          .value_name = "the number of bytes"});
    if (bytes == 0) return nullptr;
    const std::lock_guard lock(m_mutex);
    const auto found = m_allocator.take(bytes, alignment);
    if (!found)
        throw transfer_error(status::mem_object_allocation_failure,
                             "the symmetric heap of " + bytes_text(m_allocator.bytes()) + " has no room for " + bytes_text(bytes) +
                                 ": its largest free range has " + bytes_text(m_allocator.largest_free()));
    return base() + *found;
}

void symmetric_heap::free(void* address) {
    std::size_t offset = m_allocator.bytes();
    if (address != nullptr) {
        offset = locate(address, 0, "the address");
        const std::lock_guard lock(m_mutex);
        if (m_allocator.find(offset)->offset != offset)
            throw transfer_error(status::invalid_value, "the address is in the middle of an allocation of the symmetric heap");
    }
    meet({.name = "causeway_symmetric_free", .number = 3, .value = offset, .value_name = "the offset"});
    const std::lock_guard lock(m_mutex);
    m_allocator.give(offset);
}

std::size_t symmetric_heap::locate(const void* address, std::size_t bytes, const char* what) const {
    const auto refuse = [&](const std::string& why) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%p", address);
        throw transfer_error(status::invalid_value, std::string(what) + ", " + text.data() + ", " + why);
    };
    if (address == nullptr) refuse("is null");
    const auto first = reinterpret_cast<std::uintptr_t>(base()), wanted = reinterpret_cast<std::uintptr_t>(address);
    if (wanted < first || wanted - first >= m_allocator.bytes()) refuse("is not in the symmetric heap");
    const auto offset = static_cast<std::size_t>(wanted - first);
    const std::lock_guard lock(m_mutex);
    const auto range = m_allocator.find(offset);
    if (!range) refuse("is in the symmetric heap, but not allocated, or freed");
    const auto left = range->bytes - (offset - range->offset);
    if (bytes > left) refuse("has " + bytes_text(left) + " of its allocation behind it, not " + bytes_text(bytes));
    return offset;
}

std::size_t symmetric_heap::locate_word(const void* address, std::size_t bytes, const char* what) const {
    const auto offset = locate(address, bytes, what);
    if (offset % bytes != 0)
        throw transfer_error(status::invalid_value, std::string(what) + " is misaligned: its offset in the symmetric heap, " +
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
        throw transfer_error(status::invalid_value, "there is no PE " + std::to_string(pe) + ": they are 0 to " + std::to_string(m_heap->pes() - 1));
}

void* symmetric_heap::address_of(cl_mem buffer, std::size_t offset) const {
    const auto place = cl::root_of(buffer);
    const auto size = cl::facts_of(buffer).bytes;
    if (place.root != m_buffer.get() || offset >= size) return nullptr;
    return base() + place.offset + offset;
}

} // namespace causeway::capi

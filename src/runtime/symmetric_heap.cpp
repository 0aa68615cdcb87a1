// SPDX-License-Identifier: Apache-2.0
// Sets the heap up by MPI, and answers for addresses.
#include "runtime/symmetric_heap.hpp"

#include "base/host.hpp"
#include "cl/calls.hpp"
#include "endpoints/file/page_cache.hpp"
#include "endpoints/host/host_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/mpi_runtime.hpp"
#include "runtime/own_command.hpp"
#include "runtime/window_buffers.hpp"

#include <causeway/symmetric.h>

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
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

void symmetric_heap::finish() {
    const auto ended = of_process();
    failure why;
    try {
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
        if (const auto alive = server.lock()) alive->stop();
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

bool symmetric_heap::goes_straight(const endpoints::heap_location& where, std::size_t bytes) const {
    if (m_server->has_host_memory() || !m_heap->is_near(where.pe)) return false;
    return bytes == 0 || (m_link && !where.is_box && m_link->reaches(where.pe));
}

symmetric_heap::flows symmetric_heap::put(std::unique_ptr<transfer::endpoint> own,
                                          const endpoints::heap_location& where, std::size_t bytes,
                                          std::optional<endpoints::heap_signal> then) const {
    if (m_server && goes_straight(where, bytes))
        return one_flow(std::move(own), make_linked_put(m_server, m_link, where, bytes, then), bytes);
    if (m_server) return make_asked_put(m_server, std::move(own), where, bytes, then);
    return one_flow(std::move(own), endpoints::make_put_target(m_heap, where, then), bytes);
}

symmetric_heap::flows symmetric_heap::get(std::unique_ptr<transfer::endpoint> own,
                                          const endpoints::heap_location& where, std::size_t bytes) const {
    if (m_server && bytes != 0 && goes_straight(where, bytes))
        return one_flow(make_linked_get(m_server, m_link, where, bytes), std::move(own), bytes);
    if (m_server) return make_asked_get(m_server, std::move(own), where, bytes);
    return one_flow(endpoints::make_get_source(m_heap, where), std::move(own), bytes);
}

std::unique_ptr<transfer::endpoint> symmetric_heap::atomic(const endpoints::heap_atomic& what) const {
    return m_server ? make_asked_atomic(m_server, what) : endpoints::make_atomic_source(m_heap, what);
}

std::unique_ptr<transfer::endpoint> symmetric_heap::wait(const endpoints::awaited_word& what) const {
    return m_server ? make_served_wait(m_server, what) : endpoints::make_word_wait(m_heap, what);
}

/// Over a link where one reaches the other heap. The command whose part this is has its turn: this one waits for none.
static void bring_by(const std::shared_ptr<heap_server>& server, const std::shared_ptr<heap_link>& link,
                     const endpoints::heap_location& from, std::size_t bytes,
                     std::unique_ptr<transfer::endpoint> target, std::function<void(const failure&)> then) {
    const bool is_own = from.pe == server->served()->pe();
    if (is_own || bytes == 0 || !link || !link->reaches(from.pe)) {
        server->bring(from, bytes, std::move(target), std::move(then));
        return;
    }
    auto source = make_linked_get(server, link, from, bytes, in_order::no);
    (void)submit_own(runtime::instance().engine(), one_flow(std::move(source), std::move(target), bytes),
                     std::move(then));
}

symmetric_heap::flows symmetric_heap::collective(endpoints::collective what, std::size_t target_offset,
                                                 std::size_t bytes) const {
    if (!m_server) {
        auto* const memory = m_heap->at(m_heap->pe(), target_offset);
        return one_flow(endpoints::make_gathered_source(m_heap, std::move(what)), endpoints::make_host_endpoint(memory),
                        bytes);
    }
    what.bring = [server = m_server, link = m_link, target_offset](const endpoints::heap_piece& part,
                                                                   std::size_t offset, heap_server::ended then) {
        // Of a reduction it is there already, also in words kept beside the memory: it has overwritten them.
        if (part.pe == server->served()->pe() && part.offset == target_offset + offset) {
            then({});
            return;
        }
        const auto to = target_offset + offset;
        server->overwrite(
            {.offset = to, .bytes = part.bytes},
            [server, link, part, to](heap_server::ended over) {
                bring_by(server, link, {.pe = part.pe, .offset = part.offset}, part.bytes, server->own_range(to),
                         std::move(over));
            },
            std::move(then));
    };
    return one_flow(endpoints::make_gathered_source(m_heap, std::move(what)), endpoints::make_gathering_target(),
                    bytes);
}

void symmetric_heap::bring(const endpoints::heap_location& from, std::size_t bytes,
                           std::unique_ptr<transfer::endpoint> target, std::function<void(const failure&)> then) const {
    if (m_server) {
        bring_by(m_server, m_link, from, bytes, std::move(target), std::move(then));
        return;
    }
    (void)submit_own(
        runtime::instance().engine(),
        one_flow(endpoints::make_host_endpoint(m_heap->at(from.pe, from.offset)), std::move(target), bytes),
        std::move(then));
}

void symmetric_heap::overwrite(std::size_t offset, std::size_t bytes, const std::function<void(ended)>& by,
                               ended then) const {
    if (m_server) {
        m_server->overwrite({.offset = offset, .bytes = bytes}, by, std::move(then));
    } else {
        by(std::move(then));
    }
}

cl::kernel symmetric_heap::combining_kernel(const std::string& type, const std::string& combine) const {
    static constexpr const char* kernel_source = R"(
kernel void combine(global TYPE* target, ulong first, global const TYPE* parts, ulong stride, uint pes, ulong count) {
    const size_t i = get_global_id(0);
    if (i >= count) return;
    TYPE a = parts[i];
    for (uint pe = 1; pe < pes; ++pe) {
        const TYPE b = parts[pe * stride + i];
        a = (TYPE)(COMBINE);
    }
    target[first + i] = a;
}
)";
    const auto definitions = std::string(type == "double" ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "") +
                             "#define TYPE " + type + "\n#define COMBINE " + combine;
    const std::lock_guard lock(m_kernels_mutex);
    auto& program = m_programs[definitions];
    cl_int code = CL_SUCCESS;
    if (!program) {
        std::array<const char*, 2> sources{definitions.c_str(), kernel_source};
        auto made = cl::program::adopt(clCreateProgramWithSource(m_context.get(), 2, sources.data(), nullptr, &code));
        cl::check(code, "making the program of a reduction");
        cl::check(clBuildProgram(made.get(), 1, &m_device, nullptr, nullptr, nullptr),
                  "building the kernel of a reduction of " + type);
        program = std::move(made);
    }
    auto made = cl::kernel::adopt(clCreateKernel(program.get(), "combine", &code));
    cl::check(code, "making the kernel of a reduction");
    return made;
}

cl::queue symmetric_heap::kernel_queue() const {
    const std::lock_guard lock(m_kernels_mutex);
    if (!m_kernel_queue) m_kernel_queue = cl::make_queue(m_context.get(), m_device);
    return m_kernel_queue;
}

endpoints::buffer_location symmetric_heap::take_scratch(std::size_t bytes) const {
    {
        const std::lock_guard lock(m_kernels_mutex);
        if (m_spare.buffer && m_spare.buffer_bytes >= bytes) return std::exchange(m_spare, {});
    }
    endpoints::buffer_location made{
        .context = m_context, .device = m_device, .buffer_bytes = bytes, .flags = CL_MEM_READ_WRITE};
    if (m_link) {
        auto& windows = window_buffers::of_process();
        made.buffer = cl::buffer::adopt(windows.create(m_context.get(), m_device, CL_MEM_READ_WRITE, bytes));
        windows.locate(made);
    } else {
        cl_int code = CL_SUCCESS;
        made.buffer = cl::buffer::adopt(clCreateBuffer(m_context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
        cl::check(code, "making a buffer of " + bytes_text(bytes) + " for a reduction");
    }
    return made;
}

void symmetric_heap::give_scratch(endpoints::buffer_location used) const {
    const std::lock_guard lock(m_kernels_mutex);
    if (!m_spare.buffer || m_spare.buffer_bytes < used.buffer_bytes) std::swap(used, m_spare);
}

void symmetric_heap::clear(void* address, std::size_t bytes) const {
    if (!m_range) {
        std::memset(address, 0, bytes);
        return;
    }
    std::vector<std::byte> zeros(std::min(bytes, std::size_t{4} << 20));
    const auto first = locate(address, bytes, "the address");
    for (std::size_t done = 0; done < bytes; done += zeros.size())
        run("causeway_symmetric_calloc", put(endpoints::make_host_endpoint(zeros.data()), {m_heap->pe(), first + done},
                                             std::min(zeros.size(), bytes - done)));
}

bool symmetric_heap::may_be_done_at_once(int pe) const {
    constexpr unsigned calls_for_a_look = 1024;
    return !m_server && runtime::instance().timeline() == nullptr && !m_heap->order().has_fences() &&
           !m_heap->has_seen_death() && !m_heap->has_left(pe) &&
           m_done_at_once.fetch_add(1, std::memory_order_relaxed) % calls_for_a_look != 0;
}

void symmetric_heap::put_from(std::byte* memory, const endpoints::heap_location& where, std::size_t bytes,
                              std::optional<endpoints::heap_signal> then) const {
    const auto own = own_part(memory, bytes); // refuses what has been freed
    if (may_be_done_at_once(where.pe)) {
        endpoints::put_now(*m_heap, memory, where, bytes, then);
    } else if (overlaps_itself(memory, where, bytes)) {
        std::vector<std::byte> copy(bytes);
        run("get", get(endpoints::make_host_endpoint(copy.data()), {m_heap->pe(), offset_of(memory)}, bytes));
        run("put", put(endpoints::make_host_endpoint(copy.data()), where, bytes, then));
    } else if (!own) {
        run("put", put(endpoints::make_host_endpoint(memory), where, bytes, then));
    } else if (keeps_words(*own, bytes)) {
        std::vector<std::byte> copy(bytes);
        run("get", get(endpoints::make_host_endpoint(copy.data()), {m_heap->pe(), *own}, bytes));
        run("put", put(endpoints::make_host_endpoint(copy.data()), where, bytes, then));
    } else {
        run("put", put(m_server->own_range(*own), where, bytes, then));
    }
}

void symmetric_heap::get_to(std::byte* memory, const endpoints::heap_location& where, std::size_t bytes) const {
    const auto own = own_part(memory, bytes); // refuses what has been freed
    if (may_be_done_at_once(where.pe)) {
        endpoints::get_now(*m_heap, memory, where, bytes);
    } else if (overlaps_itself(memory, where, bytes)) {
        std::vector<std::byte> copy(bytes);
        run("get", get(endpoints::make_host_endpoint(copy.data()), where, bytes));
        run("put", put(endpoints::make_host_endpoint(copy.data()), {m_heap->pe(), offset_of(memory)}, bytes));
    } else if (!own) {
        run("get", get(endpoints::make_host_endpoint(memory), where, bytes));
    } else if (keeps_words(*own, bytes)) {
        std::vector<std::byte> copy(bytes);
        run("get", get(endpoints::make_host_endpoint(copy.data()), where, bytes));
        run("put", put(endpoints::make_host_endpoint(copy.data()), {m_heap->pe(), *own}, bytes));
    } else {
        run("get", get(m_server->own_range(*own), where, bytes));
    }
}

std::uint64_t symmetric_heap::carry_out(const endpoints::heap_atomic& what) const {
    if (may_be_done_at_once(what.pe)) return endpoints::carry_out(what, m_heap->at(what.pe, what.offset));
    std::uint64_t before = 0;
    run("atomic",
        one_flow(atomic(what), endpoints::make_host_endpoint(reinterpret_cast<std::byte*>(&before)), what.bytes));
    return before;
}

void symmetric_heap::wait_for(const endpoints::awaited_word& what) const {
    if (may_be_done_at_once(m_heap->pe()) && endpoints::holds(what, m_heap->at(m_heap->pe(), what.offset))) return;
    run("wait for a word", one_flow(wait(what), endpoints::make_empty_endpoint("host"), 0));
}

bool symmetric_heap::overlaps_itself(const std::byte* memory, const endpoints::heap_location& where,
                                     std::size_t bytes) const {
    const auto here = offset_of(memory); // of other memory far away from all offsets
    return where.pe == m_heap->pe() && bytes != 0 && here < m_heap->bytes() && here < where.offset + bytes &&
           where.offset < here + bytes;
}

std::optional<std::size_t> symmetric_heap::own_part(const std::byte* memory, std::size_t bytes) const {
    const bool is_own = !std::less<>{}(memory, m_base) && std::less<>{}(memory, m_base + m_heap->bytes());
    if (!is_own || bytes == 0) return std::nullopt;
    const auto offset = locate(memory, bytes, "the side of the caller");
    return m_range ? std::optional(offset) : std::nullopt; // where the host reaches the heap, both are the same
}

/// Puts and gets of the own PE, which its server answers, find words where they are kept.
bool symmetric_heap::keeps_words(std::size_t offset, std::size_t bytes) const {
    return runtime::instance().require_answer("looking for words of the symmetric heap",
                                              [&] { return m_server->keeps_words(offset, bytes); });
}

void symmetric_heap::meet(const endpoints::meeting_purpose& purpose) const {
    run(purpose.name,
        one_flow(endpoints::make_meeting(m_heap, purpose), endpoints::make_empty_endpoint(purpose.name), 0));
}

void symmetric_heap::run(const char* name, flows moved) {
    auto& process = runtime::instance();
    const auto work = std::make_shared<transfer::command>(std::move(moved), nullptr);
    work->is_called({.name = name});
    {
        transfer::engine_thread::inline_driver driver(process.thread());
        process.submit(work, uses_mpi::yes);
        driver.advance(*work);
    }
    if (const auto result = work->wait(process.engine().spin())) throw transfer_error(result);
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

void* symmetric_heap::allocate(std::size_t count, std::size_t bytes_each, std::size_t alignment) {
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
          .number = 2 + 16 * static_cast<std::uint64_t>(std::bit_width(alignment)),
          .value = bytes,
          .value_name = "the number of bytes",
          .refusal = refusal});
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
    auto* const made = allocate(count, bytes_each, 1);
    const auto refusal = refusal_of([&] {
        if (made != nullptr) clear(made, count * bytes_each);
    });
    try { // nobody puts there before it is zero
        meet({.name = "causeway_symmetric_calloc", .number = 4, .refusal = refusal});
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
        offset = locate(address, 0, "the address");
        const std::lock_guard lock(m_mutex);
        if (m_allocator.find_or_end(offset)->offset != offset)
            throw transfer_error(status::invalid_value,
                                 "the address is in the middle of an allocation of the symmetric heap");
    });
    meet({.name = "causeway_symmetric_free",
          .number = 3,
          .value = offset,
          .value_name = "the offset",
          .refusal = refusal});
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
    // Most calls of a thread are about the allocation of the one before: no lock for them.
    struct found {
        std::uint64_t after; // so many changes
        std::size_t offset, bytes;
    };
    static thread_local found last{};
    const auto now = changes.load(std::memory_order_acquire);
    if (last.after != now || offset - last.offset >= last.bytes || bytes == 0) {
        const std::lock_guard lock(m_mutex);
        const auto range = bytes == 0 ? m_allocator.find_or_end(offset) : m_allocator.find(offset);
        if (!range) refuse("is in the symmetric heap, but not allocated, or freed");
        last = {now, range->offset, range->bytes};
    }
    const auto left = last.bytes - (offset - last.offset);
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

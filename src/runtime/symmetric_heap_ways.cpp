// SPDX-License-Identifier: Apache-2.0
// Puts, gets, atomics and collectives on the heap: which way each takes.
#include "runtime/symmetric_heap.hpp"

#include "endpoints/host/host_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/mpi_runtime.hpp"
#include "runtime/own_command.hpp"
#include "runtime/window_buffers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <utility>

namespace causeway::core {

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
    if (m_server || runtime::instance().timeline() != nullptr || m_heap->order().has_fences() ||
        m_heap->has_seen_death() || m_heap->has_left(pe))
        return false;
    // By a clock that is read in a few nanoseconds, and moves every few milliseconds.
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const auto time = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
    constexpr std::int64_t between_looks = 4;
    if (time - m_looked_at.load(std::memory_order_relaxed) < between_looks) return true;
    m_looked_at.store(time, std::memory_order_relaxed);
    return false;
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

} // namespace causeway::core

// SPDX-License-Identifier: Apache-2.0
#include "acc/device.hpp"

#include "acc/failure.hpp"
#include "acc/offered.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/acc/openacc.h>
#include <causeway/buffer.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace causeway::acc {
namespace {

std::string text_of(cl_device_id id, cl_device_info what) {
    char text[512] = "";
    clGetDeviceInfo(id, what, sizeof text - 1, text, nullptr);
    return text;
}

int type_of(cl_device_id id) {
    cl_device_type type = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
    if (!(type & CL_DEVICE_TYPE_GPU)) return acc_device_opencl;
    const auto vendor = text_of(id, CL_DEVICE_VENDOR);
    if (vendor.find("NVIDIA") != std::string::npos) return acc_device_nvidia;
    if (vendor.find("Advanced Micro") != std::string::npos || vendor.find("AMD") != std::string::npos)
        return acc_device_radeon;
    if (vendor.find("Intel") != std::string::npos) return acc_device_intel;
    return acc_device_opencl;
}

} // namespace

bool outside_event::is_over() const {
    cl_int status = CL_COMPLETE;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status == CL_COMPLETE;
}

cl_event outside_event::here() {
    if (!event_queue) return event;
    cl_event told = nullptr;
    check(clEnqueueBarrierWithWaitList(event_queue, 0, nullptr, &told), "clEnqueueBarrierWithWaitList");
    clFlush(std::exchange(event_queue, nullptr));
    clReleaseEvent(event);
    return event = told;
}

void queue::add_after(const outside_event& one) {
    constexpr std::size_t many = 16;
    if (after.size() >= many)
        std::erase_if(after, [](const outside_event& each) {
            const bool over = each.is_over();
            if (over) clReleaseEvent(each.event);
            return over;
        });
    clRetainEvent(one.event);
    after.push_back(one);
}

void queue::flush() {
    if (!std::exchange(flushed, true) || shared) clFlush(handle);
}

void queue::see_shared() {
    if (!shared) return;
    if (last) clReleaseEvent(std::exchange(last, nullptr));
    check(clEnqueueMarkerWithWaitList(handle, 0, nullptr, &last), "clEnqueueMarkerWithWaitList");
    idle = flushed = false;
}

command_slot::command_slot(queue& in) : m_queue(in) { take(nullptr); }
command_slot::command_slot(queue& in, const std::vector<used_buffer>& uses) : m_queue(in) { take(&uses); }

void command_slot::take(const std::vector<used_buffer>* uses) {
    std::vector<outside_event> others;
    for (auto& each : m_queue.after) {
        const bool concerns = !uses || !each.location.buffer ||
                              std::any_of(uses->begin(), uses->end(), [&](const used_buffer& use) {
                                  return use.buffer == each.location.buffer && (use.written || each.writes);
                              });
        if (each.is_over())
            clReleaseEvent(each.event);
        else if (concerns)
            m_list.push_back(each.here());
        else
            others.push_back(each);
    }
    m_queue.after = std::move(others);
    m_queue.idle = m_queue.flushed = false;
    if (m_queue.last) clReleaseEvent(std::exchange(m_queue.last, nullptr));
}

command_slot::~command_slot() {
    for (const auto each : m_list) clReleaseEvent(each);
}

device::device(int number, cl_platform_id platform, cl_device_id id)
    : m_number(number), m_id(id), m_type(type_of(id)), m_name(text_of(id, CL_DEVICE_NAME)) {
    cl_device_type type = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
    const char* const as_gpu = std::getenv("ACC_LAUNCH_AS_GPU");
    const bool plays_gpu = as_gpu && std::strcmp(as_gpu, "1") == 0;
    m_gpu = (type & CL_DEVICE_TYPE_GPU) != 0 || plays_gpu;
    m_cpu = (type & CL_DEVICE_TYPE_CPU) != 0 && !plays_gpu;
    // Intel's runtime (2026.2) computes a product of matrices ten times as fast so; PoCL 3.1 takes half as long again.
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    if (std::strstr(name, "Intel")) m_lanes_in_vectors = 16;
    // PoCL 3.1 runs statements twice that stand in a branch, or behind it, if another one has barriers. It loses some
    // writes of a thread that works alone between barriers in a loop.
    m_confuses_barriers = std::strstr(name, "Portable Computing Language") != nullptr;
    clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof m_units, &m_units, nullptr);
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof m_most_threads, &m_most_threads, nullptr);
}

cl_context device::context() {
    if (!m_context) {
        cl_int status = CL_SUCCESS;
        m_context = clCreateContext(nullptr, 1, &m_id, nullptr, nullptr, &status);
        check(status, "clCreateContext");
        m_table.use(m_context);
    }
    return m_context;
}

queue& device::queue_of(long number) {
    auto& found = m_queues[number];
    if (!found.handle) {
        cl_int status = CL_SUCCESS;
        found.handle = clCreateCommandQueue(context(), m_id, 0, &status);
        check(status, "clCreateCommandQueue");
    }
    return found;
}

cl_command_queue device::peer_queue(int other) {
    auto& found = m_peer_queues[other];
    if (!found) {
        cl_int status = CL_SUCCESS;
        found = clCreateCommandQueue(context(), m_id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
        if (status != CL_SUCCESS) found = clCreateCommandQueue(context(), m_id, 0, &status);
        check(status, "clCreateCommandQueue");
    }
    return found;
}

namespace {

std::atomic<bool> peers_expected{false};

} // namespace

void expect_peers() { peers_expected = true; }

bool device::has_peers() const {
    return m_gpu && std::any_of(devices().begin(), devices().end(),
                                [&](const auto& each) { return each->m_gpu && each->m_id != m_id; });
}

cl_mem device::allocate(std::size_t bytes) {
    cl_int status = CL_SUCCESS;
    // Such memory comes in pieces of 2 MiB, and takes a millisecond to make (NVIDIA driver 580).
    constexpr std::size_t least_linked = 256ul << 10;
    const bool linked = bytes >= least_linked && peers_expected && has_peers();
    const auto made = linked ? causeway_buffer_create(context(), m_id, CL_MEM_READ_WRITE, bytes, &status)
                             : clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, nullptr, &status);
    if (status != CL_SUCCESS)
        fail_here("device " + std::to_string(m_number) + " (" + m_name + ") has no " + std::to_string(bytes) +
                  " bytes: OpenCL's code " + std::to_string(status));
    m_allocated += bytes;
    return made;
}

void device::free(cl_mem buffer, std::size_t bytes) {
    clReleaseMemObject(buffer); // commands that use it keep it
    m_allocated -= bytes;
}

namespace {

constexpr std::size_t small_bytes = 4096, most_small = 16;

} // namespace

cl_mem device::allocate(queue& in, std::size_t bytes) {
    if (bytes > small_bytes) return allocate(bytes);
    if (in.small.empty()) return allocate(small_bytes);
    const auto found = in.small.back();
    in.small.pop_back();
    return found;
}

void device::free(queue& in, cl_mem buffer, std::size_t bytes) {
    if (bytes > small_bytes || in.small.size() >= most_small) return free(buffer, std::max(bytes, small_bytes));
    in.small.push_back(buffer);
}

void device::fill_zero(queue& in, cl_mem buffer, std::size_t bytes) {
    if (bytes == 0) return;
    const unsigned char zero = 0;
    command_slot slot(in);
    check(clEnqueueFillBuffer(in.handle, buffer, &zero, 1, 0, bytes, slot.count(), slot.list(), slot.event()),
          "clEnqueueFillBuffer");
}

void device::write(queue& in, buffer_location to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (!in.staging.pieces.empty()) { // what is written may be what was read just before
        check(clFinish(in.handle), "clFinish");
        in.staging.arrive(in.staging.end());
    }
    // NVIDIA's driver (580) takes small pageable memory at once, and not behind the read that comes before in the
    // queue.
    for (auto& [number, each] : m_queues)
        if (each.reads.meet(from, bytes)) {
            check(clFinish(each.handle), "clFinish");
            each.reads.clear();
        }
    command_slot slot(in);
    // A scalar goes along with the command: nothing has to be read from pageable memory. Unless its value may be on its
    // way from the device.
    const bool is_known = std::none_of(m_queues.begin(), m_queues.end(),
                                       [](const auto& each) { return each.second.shared; });
    if (is_known && bytes <= 16 && (bytes & (bytes - 1)) == 0 && to.offset % bytes == 0) {
        check(clEnqueueFillBuffer(in.handle, to.buffer, from, bytes, to.offset, bytes, slot.count(), slot.list(),
                                  slot.event()),
              "clEnqueueFillBuffer");
        return;
    }
    check(clEnqueueWriteBuffer(in.handle, to.buffer, CL_FALSE, to.offset, bytes, from, slot.count(), slot.list(),
                               slot.event()),
          "clEnqueueWriteBuffer");
}

void pending_reads::add(const void* to, std::size_t bytes) {
    const auto* const start = static_cast<const char*>(to);
    m_parts.push_back({start, start + bytes});
    constexpr std::size_t many = 64;
    if (m_parts.size() < many) return;
    const auto least = std::min_element(m_parts.begin(), m_parts.end(),
                                        [](const part& one, const part& other) { return one.start < other.start; });
    const auto most = std::max_element(m_parts.begin(), m_parts.end(),
                                       [](const part& one, const part& other) { return one.end < other.end; });
    m_parts = {{least->start, most->end}};
}

bool pending_reads::meet(const void* from, std::size_t bytes) const {
    const auto* const start = static_cast<const char*>(from);
    return std::any_of(m_parts.begin(), m_parts.end(),
                       [&](const part& each) { return start < each.end && each.start < start + bytes; });
}

void staging_area::arrive(std::size_t until) {
    const auto many = std::min(until - std::min(until, arrived), pieces.size());
    const auto end = pieces.begin() + static_cast<std::ptrdiff_t>(many);
    for (auto each = pieces.begin(); each != end; ++each) std::memcpy(each->to, block + each->offset, each->bytes);
    pieces.erase(pieces.begin(), end);
    arrived += many;
}

void* device::staging_of(queue& in, std::size_t bytes, void* to) {
    auto& block = in.staging.block;
    auto& pieces = in.staging.pieces;
    const auto offset = pieces.empty() ? 0 : (pieces.back().offset + pieces.back().bytes + 15) / 16 * 16;
    if (m_cpu || !in.waited_for || offset + bytes > small_bytes) return nullptr;
    if (!block && !m_staging_blocks.empty()) {
        block = m_staging_blocks.back();
        m_staging_blocks.pop_back();
    }
    if (!block) {
        cl_int status = CL_SUCCESS;
        const auto made = clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, small_bytes, nullptr,
                                         &status);
        if (status != CL_SUCCESS) return nullptr;
        block = static_cast<char*>(clEnqueueMapBuffer(in.handle, made, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                      small_bytes, 0, nullptr, nullptr, &status));
        if (!block) clReleaseMemObject(made);
        if (!block) return nullptr;
    }
    pieces.push_back({to, bytes, offset});
    return block + offset;
}

void device::read(queue& in, void* to, buffer_location from, std::size_t bytes) {
    if (bytes == 0) return;
    if (void* const staged = staging_of(in, bytes, to))
        to = staged;
    else
        in.reads.add(to, bytes);
    command_slot slot(in);
    check(clEnqueueReadBuffer(in.handle, from.buffer, CL_FALSE, from.offset, bytes, to, slot.count(), slot.list(),
                              slot.event()),
          "clEnqueueReadBuffer");
}

cl_program device::build(const causeway_acc_program& program, const std::string& options) {
    cl_int status = CL_SUCCESS;
    const auto made = [&](const char* source) {
        const auto one = clCreateProgramWithSource(context(), 1, &source, nullptr, &status);
        check(status, "clCreateProgramWithSource");
        return one;
    };
    const auto check_build = [&](cl_program of) {
        if (status == CL_SUCCESS) return;
        std::string log(1 << 16, '\0');
        std::size_t bytes = 0;
        if (of) clGetProgramBuildInfo(of, m_id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &bytes);
        log.resize(bytes > 0 ? bytes - 1 : 0);
        fail_here("device " + std::to_string(m_number) + " (" + m_name +
                  ") could not compile the kernels of this source:\n" + log);
    };
    const auto own = made(program.source);
    const auto others = offered(program);
    if (others.empty()) {
        status = clBuildProgram(own, 1, &m_id, options.c_str(), nullptr, nullptr);
        check_build(own);
        return own;
    }
    std::vector<cl_program> parts = {own};
    status = clCompileProgram(own, 1, &m_id, options.c_str(), 0, nullptr, nullptr, nullptr, nullptr);
    check_build(own);
    for (auto* each : others) {
        auto& compiled = m_compiled[&each->program];
        if (!compiled) {
            compiled = made(each->program.source);
            status = clCompileProgram(compiled, 1, &m_id, plain_options().c_str(), 0, nullptr, nullptr, nullptr,
                                      nullptr);
            check_build(compiled);
        }
        parts.push_back(compiled);
    }
    const auto linked = clLinkProgram(context(), 1, &m_id, nullptr, static_cast<cl_uint>(parts.size()), parts.data(),
                                      nullptr, nullptr, &status);
    check_build(linked);
    clReleaseProgram(own);
    return linked;
}

std::string device::plain_options() const {
    return "-cl-std=CL1.2 -w -DACC_DEVICE_TYPE=" + std::to_string(m_type) + (m_cpu ? "" : " -DACC_GPU");
}

cl_kernel device::kernel(causeway_acc_program& program, const std::string& name, program_form form) {
    auto& built = m_programs[{&program, form}];
    cl_int status = CL_SUCCESS;
    if (!built.handle)
        built.handle = build(program, plain_options() + (form.overlapping ? "" : " -DACC_RESTRICT=restrict") +
                                          (form.one_each ? " -DACC_ONE_EACH" : "") +
                                          (form.alone ? " -DACC_ALONE" : ""));
    auto& found = built.kernels[name];
    if (!found) {
        found = clCreateKernel(built.handle, name.c_str(), &status);
        check(status, "clCreateKernel");
    }
    return found;
}

cl_mem device::scratch(queue& of, std::size_t index, std::size_t bytes) {
    if (of.scratches.size() <= index) of.scratches.resize(index + 1);
    auto& [buffer, size] = of.scratches[index];
    if (!buffer || size < bytes) {
        if (buffer) free(buffer, size);
        buffer = allocate(bytes);
        size = bytes;
    }
    return buffer;
}

cl_mem device::placeholder() {
    if (!m_placeholder) m_placeholder = allocate(1);
    return m_placeholder;
}

void device::finish(queue& of, std::unique_lock<std::recursive_mutex>& held) {
    of.waited_for = false;
    const bool idle = of.idle && !of.shared;
    if (idle && of.copies.empty() && of.after.empty()) return;
    const auto handle = of.handle;
    auto copies = std::exchange(of.copies, {});
    const auto staged_end = of.staging.end();
    const auto after = of.after;
    for (const auto& each : after) clRetainEvent(each.event);
    const auto last = of.last;
    if (last) clRetainEvent(last);
    held.unlock();
    const auto status = idle ? CL_SUCCESS : clFinish(handle);
    for (const auto& each : after) clWaitForEvents(1, &each.event);
    std::string failure;
    for (const auto event : copies) {
        cl_int over = CL_COMPLETE;
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof over, &over, nullptr);
        if (over > 0) over = clWaitForEvents(1, &event);
        if (over < 0) {
            char text[512] = "";
            clGetTransferInfo(event, CL_TRANSFER_ERROR_MESSAGE, sizeof text, text, nullptr);
            failure = "a copy between devices failed: " + std::string(text);
        }
        clReleaseEvent(event);
    }
    held.lock();
    // Another thread may have enqueued more meanwhile, and waits for that itself.
    if (status == CL_SUCCESS && of.last == last) {
        of.idle = true;
        of.marked = false;
        of.reads.clear();
    }
    if (last) clReleaseEvent(last);
    if (status == CL_SUCCESS) of.staging.arrive(staged_end);
    if (of.staging.block && of.staging.pieces.empty())
        m_staging_blocks.push_back(std::exchange(of.staging.block, nullptr));
    for (const auto& each : after) {
        std::erase_if(of.after, [&](const outside_event& other) {
            const bool same = other.event == each.event;
            if (same) clReleaseEvent(other.event);
            return same;
        });
        clReleaseEvent(each.event);
    }
    if (!failure.empty()) fail_here(failure);
    check(status, "clFinish");
}

void device::finish_all(std::unique_lock<std::recursive_mutex>& held) {
    std::vector<long> numbers;
    numbers.reserve(m_queues.size());
    for (const auto& [number, each] : m_queues) numbers.push_back(number);
    for (const auto number : numbers) m_queues[number].flush();
    for (const auto number : numbers) finish(m_queues[number], held);
}

bool device::is_over(queue& of) {
    const auto is_complete = [](cl_event event) {
        cl_int status = CL_COMPLETE;
        check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
              "clGetEventInfo");
        return status <= CL_COMPLETE;
    };
    for (const auto& each : of.after)
        if (!is_complete(each.event)) return false;
    // Asked again after a no, it is about what the program had enqueued then: a mark for each time might never be over.
    if (of.shared && !std::exchange(of.marked, true)) of.see_shared();
    if (of.idle) return true;
    of.flush();
    if (of.last && !is_complete(of.last)) return false;
    of.staging.arrive(of.staging.end());
    of.marked = false;
    of.reads.clear();
    of.idle = true;
    return true;
}

void device::order(queue& earlier, queue& later) {
    if (&earlier == &later) return;
    for (const auto& each : earlier.after) later.add_after({each.event, each.event_queue});
    earlier.see_shared();
    if (earlier.idle || !earlier.last) return;
    earlier.flush();
    later.add_after({earlier.last});
}

void device::order_all(queue& later) {
    for (auto& [number, each] : m_queues)
        if (each.handle) order(each, later);
}

char* device::reserve(cl_mem buffer, std::size_t offset, std::size_t bytes) {
    void* const made = mmap(nullptr, bytes > 0 ? bytes : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                            0);
    if (made == MAP_FAILED) fail_here("no addresses are left for " + std::to_string(bytes) + " bytes of device memory");
    m_table.change();
    m_reserved[static_cast<char*>(made)] = {bytes, buffer, offset};
    return static_cast<char*>(made);
}

void device::forget(char* address) {
    const auto found = m_reserved.find(address);
    if (found == m_reserved.end()) return;
    munmap(address, found->second.bytes > 0 ? found->second.bytes : 1);
    m_table.change();
    m_reserved.erase(found);
}

std::uint64_t device::table_version() {
    for (char* const each : m_table.forget_freed()) forget(each);
    return m_table.version();
}

std::map<char*, device::reservation>::iterator device::find_reserved(void* address) {
    auto* const at = static_cast<char*>(address);
    auto next = m_reserved.upper_bound(at);
    if (next == m_reserved.begin()) return m_reserved.end();
    --next;
    return at < next->first + next->second.bytes || at == next->first ? next : m_reserved.end();
}

} // namespace causeway::acc

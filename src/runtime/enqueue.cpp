// SPDX-License-Identifier: Apache-2.0
// Puts a transfer into the order of its queues by standard calls, and into the engine.
#include "runtime/enqueue.hpp"

#include "base/box_geometry.hpp"
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_buffers.hpp"
#include "cl/buffer_addresses.hpp"
#include "endpoints/device/event_gate.hpp"

#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

namespace causeway::core {

static_assert(status::wait_list_failed == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
static_assert(status::invalid_value == CL_INVALID_VALUE && status::invalid_context == CL_INVALID_CONTEXT);
static_assert(status::invalid_command_queue == CL_INVALID_COMMAND_QUEUE);
static_assert(status::invalid_mem_object == CL_INVALID_MEM_OBJECT && status::invalid_event == CL_INVALID_EVENT);
static_assert(status::invalid_event_wait_list == CL_INVALID_EVENT_WAIT_LIST);
static_assert(status::invalid_operation == CL_INVALID_OPERATION && status::mem_copy_overlap == CL_MEM_COPY_OVERLAP);
static_assert(status::out_of_resources == CL_OUT_OF_RESOURCES && status::out_of_host_memory == CL_OUT_OF_HOST_MEMORY);
static_assert(status::end_of_file == CL_TRANSFER_END_OF_FILE && status::io_error == CL_TRANSFER_IO_ERROR);
static_assert(status::message_truncated == CL_TRANSFER_MESSAGE_TRUNCATED);
static_assert(status::peer_failed == CL_TRANSFER_PEER_FAILED && status::cancelled == CL_TRANSFER_CANCELLED);
static_assert(status::queued == CL_QUEUED && status::submitted == CL_SUBMITTED && status::running == CL_RUNNING);

namespace {

/// Transfers whose copies stand in the program's queues, and their bytes.
std::atomic<std::size_t> commands_in_queues{0}, bytes_in_queues{0};

/// Two user events separate order from status: one always completes and lets the queues go on, the other carries the
/// status. One event for both would, on PoCL, fail what is behind it in the queue and let the rest overtake.
class event_setter final : public transfer::completion_listener {
  public:
    void completed(const failure& result) override {
        const auto told = result ? result.status : CL_COMPLETE;
        if (m_status) (void)clSetUserEventStatus(m_status.get(), told);
        m_callbacks.over(told);
        leave_queues();
    }

    /// Transfers that waited for this one do not wait for this, too.
    void step_over() override { pass(); }

    /// Lets the queues go on.
    void pass() {
        for (const auto& each : m_order) (void)clSetUserEventStatus(each.get(), CL_COMPLETE);
        m_order.clear();
        m_status = {};
        leave_queues();
    }

    /// Its copies, of so many bytes, order themselves.
    void needs_no_order(std::size_t bytes) {
        m_bytes_in_queues = bytes;
        bytes_in_queues += bytes;
        ++commands_in_queues;
    }

    cl::event m_status;
    std::vector<cl::event> m_order; // one for each context
    end_callbacks m_callbacks;

  private:
    void leave_queues() {
        if (const auto bytes = std::exchange(m_bytes_in_queues, 0); bytes != 0) {
            bytes_in_queues -= bytes;
            --commands_in_queues;
        }
    }

    std::size_t m_bytes_in_queues = 0;
};

cl::event make_user_event(cl_context context) {
    cl_int code = CL_SUCCESS;
    auto made = cl::event::adopt(clCreateUserEvent(context, &code));
    cl::check(code, "creating a user event");
    return made;
}

/// Stays where it is when the library is closed, which is linked with -z nodelete.
void CL_CALLBACK do_nothing(void*) {}

/// Reserves the command's place in a queue. In an in-order queue: a mark, whose event (the result) says that all
/// earlier commands are over, and a barrier on `passed`, which holds back all later ones. In an out-of-order queue:
/// only a marker on `passed`, for clFinish and later barriers. (A marker before the transfer, to obey the program's
/// barriers, does not work: PoCL 3.1's waits for everything, and Intel's passes the barrier.)
cl::event enter_queue(const checked_queue& queue, cl_event passed, event_registry& events) {
    const auto device = cl::facts_of(queue.facts.device);
    const bool hold = device.needs_held_events;
    cl_event before = nullptr;
    if (queue.facts.in_order) cl::check(cl::mark(queue.raw, &before), "marking the queue");
    auto mark = cl::event::adopt(before);
    if (mark && hold) events.hold(mark);
    cl_event behind = nullptr;
    auto* const asked = hold ? &behind : nullptr;
    if (queue.facts.in_order) {
        cl::check(clEnqueueBarrierWithWaitList(queue.raw, 1, &passed, asked), "enqueueing a barrier");
    } else if (device.has_native_kernels_for_markers) {
        cl::check(clEnqueueNativeKernel(queue.raw, do_nothing, nullptr, 0, 0, nullptr, nullptr, 1, &passed, asked),
                  "enqueueing a native kernel");
    } else {
        cl::check(clEnqueueMarkerWithWaitList(queue.raw, 1, &passed, asked), "enqueueing a marker");
    }
    if (hold) events.hold(cl::event::adopt(behind));
    return mark;
}

} // namespace

checked_queue check_queue(cl_command_queue queue) {
    const checked_queue checked{queue, cl::facts_of(queue)};
    if (!cl::facts_of(checked.facts.device).waits_for_user_events)
        throw transfer_error(status::invalid_operation,
                             "PoCL's single-threaded device (basic, cpu-minimal) cannot wait for user events, so no "
                             "transfer can be ordered on it; use POCL_DEVICES=pthread, or cpu with PoCL 4 or later");
    return checked;
}

endpoints::buffer_location check_buffer(const checked_queue& queue, cl_mem buffer) {
    const auto facts = cl::facts_of(buffer);
    if (facts.context != queue.facts.context)
        throw transfer_error(status::invalid_context, "the buffer and the command queue belong to different contexts");
    endpoints::buffer_location location{cl::context::share(facts.context), queue.facts.device,
                                        cl::buffer::share(buffer), facts.bytes, facts.flags};
    window_buffers::of_process().locate(location);
    if (cl::facts_of(queue.facts.device).keeps_addresses) cl::follow(cl::root_of(buffer).root);
    return location;
}

void check_access(const endpoints::buffer_location& location, host_access access) {
    const bool reads = access == host_access::read;
    const cl_mem_flags forbidding = CL_MEM_HOST_NO_ACCESS | (reads ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY);
    if ((location.flags & forbidding) != 0)
        throw transfer_error(status::invalid_operation,
                             std::string("the buffer was created with a CL_MEM_HOST_* flag that forbids the host to ") +
                                 (reads ? "read it" : "write it"));
    window_buffers::of_process().check_device(location);
}

void check_range(const endpoints::buffer_location& location, size_t offset, size_t bytes) {
    if (!has_range(location.buffer_bytes, offset, bytes))
        throw transfer_error(status::invalid_value, bytes_text(bytes) + " at " + bytes_text(offset) +
                                                        " reach beyond the buffer of " +
                                                        bytes_text(location.buffer_bytes));
}

bool is_best_by_host(const endpoints::buffer_location& location, size_t bytes) {
    constexpr size_t most_beside_link = 4096; // as of eager messages between linked buffers
    return location.window == nullptr || bytes <= most_beside_link;
}

void check_wait_list(const event_arguments& events, cl_context context, cl_context other_context) {
    if ((events.count == 0) != (events.list == nullptr))
        throw transfer_error(status::invalid_event_wait_list, "the wait list of " + std::to_string(events.count) +
                                                                  " events is " +
                                                                  (events.list == nullptr ? "null" : "not null"));
    for (cl_uint i = 0; i < events.count; ++i) {
        cl_context owner = nullptr;
        try {
            owner = cl::context_of(events.list[i]);
        } catch (const transfer_error&) {
            throw transfer_error(status::invalid_event_wait_list,
                                 "event " + std::to_string(i) + " of the wait list is not valid");
        }
        if (owner != context && owner != other_context)
            throw transfer_error(status::invalid_context,
                                 "event " + std::to_string(i) + " of the wait list belongs to another context");
    }
}

void check_overlap(cl_mem first, size_t first_offset, cl_mem second, size_t second_offset, size_t first_size,
                   size_t second_size) {
    if (first_size == 0 || second_size == 0) return;
    const auto one = cl::root_of(first), other = cl::root_of(second);
    const auto begin = one.offset + first_offset, other_begin = other.offset + second_offset;
    if (one.root == other.root && begin < other_begin + second_size && other_begin < begin + first_size)
        throw transfer_error(status::mem_copy_overlap, bytes_text(first_size) + " at " + bytes_text(begin) + " and " +
                                                           bytes_text(second_size) + " at " + bytes_text(other_begin) +
                                                           " of one buffer overlap");
}

std::vector<std::unique_ptr<transfer::flow>> one_flow(std::unique_ptr<transfer::endpoint> source,
                                                      std::unique_ptr<transfer::endpoint> target, size_t bytes) {
    std::vector<std::unique_ptr<transfer::flow>> flows;
    flows.push_back(std::make_unique<transfer::flow>(std::move(source), std::move(target), bytes));
    return flows;
}

/// Whether the command's copies go into the program's queues themselves, as those of clEnqueueReadBuffer and
/// clEnqueueWriteBuffer do: then they need no user events
/// (docs/decisions/0018-blocking-calls-in-the-programs-queue.md). True for a blocking transfer of one block without a
/// wait list, if all other active transfers are of this kind, and no device works in host memory.
static bool goes_into_queues(const new_command& made, cl_bool blocking, const event_arguments& events) {
    const auto& chosen = process_options();
    if (blocking == CL_FALSE || events.count != 0 || !made.is_one_copy || transfer::forces_plans(chosen)) return false;
    // Blocks that wait for commands of the program must not be those that others need.
    const auto share = chosen[option::staging] / 16, used = std::uint64_t{bytes_in_queues};
    const auto most = std::min<std::uint64_t>(transfer::largest_whole, share - std::min(share, used));
    for (const auto& each : made.flows)
        if (each->bytes() == 0 || each->bytes() > most) return false;
    if (runtime::instance().engine().active() != commands_in_queues) return false;
    return std::none_of(made.queues.begin(), made.queues.end(),
                        [](const checked_queue& each) { return cl::facts_of(each.facts.device).host_memory; });
}

/// What such a transfer waits for: the read of its source. A target is written when the bytes are there.
static std::vector<std::unique_ptr<transfer::gate>> enter_queues(new_command& made) {
    std::vector<std::unique_ptr<transfer::gate>> gates;
    const auto put = [](const endpoints::device_order& order, const checked_queue& queue) {
        order->queue = cl::queue::share(queue.raw);
        order->is_in_order = queue.facts.in_order;
    };
    const auto &own = made.queues.front(), &other = made.queues.back();
    if (made.target_order) put(made.target_order, own);
    // Within one queue the device copies by itself.
    const bool is_within_queue = made.type == CL_COMMAND_PEER_COPY_BUFFER && made.queues.size() == 1;
    if (!made.source_order || is_within_queue) return gates;
    put(made.source_order, other);
    // The source may be what commands in the target's queue write.
    if (made.queues.size() > 1 && own.facts.in_order && own.facts.context == other.facts.context) {
        cl_event raw = nullptr;
        cl::check(cl::mark(own.raw, &raw), "marking the target's queue");
        made.source_order->after = {cl::event::adopt(raw)};
        cl::check(clFlush(own.raw), "flushing the target's queue");
    }
    gates.push_back(endpoints::make_queue_gate(made.source_order));
    return gates;
}

static transfer::command_label label_of(const new_command& made) {
    static constexpr std::array<const char*, 6> names = {"write from file", "read to file",     "send",
                                                         "receive",         "send and receive", "copy to peer"};
    transfer::command_label label;
    if (made.name != nullptr) label.name = made.name;
    if (const auto index = made.type - CL_COMMAND_WRITE_BUFFER_FROM_FILE; index < names.size())
        label.name = names.at(index);
    for (std::size_t i = 0; i < std::min(made.queues.size(), label.queues.size()); ++i)
        if (made.queues[i].facts.in_order) label.queues.at(i) = made.queues[i].raw;
    return label;
}

using inline_driver = transfer::engine_thread::inline_driver;

/// Who waits gets a `driver` of the engine, if it may have one.
static std::shared_ptr<transfer::command> submit(new_command made, cl_bool blocking, const event_arguments& events,
                                                 std::optional<inline_driver>& driver) {
    auto& process = runtime::instance();
    const transfer::engine::enqueue_scope scope(process.engine());
    if (auto* const timeline = process.timeline())
        for (const auto& queue : made.queues) timeline->compare_clocks(queue.facts.context, queue.facts.device);
    auto setter = std::make_shared<event_setter>();
    const auto context = made.queues.front().facts.context;

    std::vector<std::unique_ptr<transfer::gate>> gates;
    std::vector<std::shared_ptr<transfer::command>> dependencies;
    std::vector<cl::event> order;
    const bool may_hide = std::any_of(made.queues.begin(), made.queues.end(), [](const checked_queue& each) {
        return cl::facts_of(each.facts.device).hides_failed_waits;
    });
    const auto meaning = may_hide ? endpoints::on_failure::fail_even_hidden : endpoints::on_failure::fail;
    const bool has_own_order = !goes_into_queues(made, blocking, events);
    bool device_can_order = made.source_order != nullptr && made.queues.size() == 1;
    for (cl_uint i = 0; i < events.count; ++i) {
        auto known = process.events().find(events.list[i]);
        if (known.command) {
            dependencies.push_back(std::move(known.command));
            device_can_order = false;
        } else {
            device_can_order = device_can_order && cl::is_command(events.list[i]);
            order.push_back(cl::event::share(events.list[i]));
            gates.push_back(endpoints::make_event_gate(cl::event::share(events.list[i]), meaning));
        }
    }
    if (events.event != nullptr) setter->m_status = make_user_event(context);
    auto status_event = setter->m_status;
    if (has_own_order && made.is_in_queues)
        for (const auto& queue : made.queues) setter->m_order.push_back(make_user_event(queue.facts.context));
    if (made.source_event != nullptr) setter->m_order.push_back(make_user_event(made.queues.back().facts.context));
    auto source_event = made.source_event != nullptr ? setter->m_order.back() : cl::event();

    const auto label = label_of(made);
    std::shared_ptr<transfer::command> command;
    {
        const std::lock_guard lock(process.enqueue_mutex());
        process.require_running();
        try {
            for (std::size_t i = 0; made.is_in_queues && i < setter->m_order.size(); ++i) {
                auto marker = enter_queue(made.queues[i], setter->m_order[i].get(), process.events());
                if (marker) order.push_back(marker);
                if (marker) gates.push_back(endpoints::make_event_gate(std::move(marker), endpoints::on_failure::open));
            }
            if (!has_own_order) {
                for (auto& each : enter_queues(made)) gates.push_back(std::move(each));
                std::size_t all_bytes = 0;
                for (const auto& each : made.flows) all_bytes += each->bytes();
                setter->needs_no_order(all_bytes);
            } else if (device_can_order) {
                made.source_order->after = std::move(order);
            }
            const std::size_t bytes = made.flows.front()->bytes();
            if (made.needs_mpi || made.crosses_devices) {
                const cl_device_id devices[] = {made.queues.front().facts.device, made.queues.back().facts.device};
                process.bridges().wanted(devices, bytes);
            }
            command = std::make_shared<transfer::command>(std::move(made.flows), setter, std::move(gates),
                                                          std::move(dependencies));
            command->is_called(label);
            if (status_event)
                process.events().add(status_event, {command,
                                                    made.type,
                                                    made.queues.front().raw,
                                                    context,
                                                    made.envelope,
                                                    {setter, &setter->m_callbacks}});
            if (made.needs_mpi) process.needs_mpi(command);
            if (blocking != CL_FALSE) driver.emplace(process.thread());
            process.engine().submit(command);
            for (const auto& queue : made.queues)
                process.figures().used(queue.facts.context, queue.facts.device, bytes);
        } catch (...) {
            setter->pass();
            throw;
        }
    }
    if (events.event != nullptr) *events.event = status_event.release();
    if (source_event) *made.source_event = source_event.release();
    return command;
}

cl_int enqueue(new_command made, cl_bool blocking, const event_arguments& events) {
    std::optional<inline_driver> driver;
    const auto command = submit(std::move(made), blocking, events, driver);
    if (blocking == CL_FALSE) return CL_SUCCESS;
    driver->advance(*command);
    driver.reset();
    const auto result = command->wait(runtime::instance().engine().spin());
    if (result) last_message() = result.message;
    return result.status;
}

} // namespace causeway::core

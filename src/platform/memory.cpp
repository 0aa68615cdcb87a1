// SPDX-License-Identifier: Apache-2.0
// Moves contents between driver contexts: by the engine, and those of images by way of host memory.
#include "platform/memory.hpp"

#include "base/box_geometry.hpp"
#include "base/spin_lock.hpp"
#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/enqueue.hpp"
#include "runtime/peer_copy.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

using namespace causeway::platform;

namespace causeway::platform {

namespace {

constexpr cl_mem_flags host_flags = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_READ_ONLY |
                                    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;

bool has_come(const ref<_cl_event>& arrival) { return !arrival || arrival->status() == CL_COMPLETE; }

void add_unless_over(std::vector<ref<_cl_event>>& events, const ref<_cl_event>& event) {
    if (!has_come(event)) events.push_back(event);
}

issue_function read_whole(_cl_mem& object, driver_context& at, std::shared_ptr<std::byte[]> target) {
    return [held = ref<_cl_mem>(&object), &at, target = std::move(target)](cl_bool, cl_uint count, const cl_event* list,
                                                                           cl_event* event) {
        const auto queue = at.copies->raw.raw();
        const auto raw = held->raw(at);
        if (!held->is_image())
            return at.calls().clEnqueueReadBuffer(queue, raw, CL_FALSE, 0, held->size, target.get(), count, list,
                                                  event);
        const std::array<size_t, 3> origin{};
        const auto region = whole_region(*held);
        return at.calls().clEnqueueReadImage(queue, raw, CL_FALSE, origin.data(), region.data(), 0, 0, target.get(),
                                             count, list, event);
    };
}

issue_function write_whole(_cl_mem& object, driver_context& at, std::shared_ptr<std::byte[]> source) {
    return [held = ref<_cl_mem>(&object), &at, source = std::move(source)](cl_bool, cl_uint count, const cl_event* list,
                                                                           cl_event* event) {
        const auto queue = at.copies->raw.raw();
        const auto raw = held->raw(at);
        if (!held->is_image())
            return at.calls().clEnqueueWriteBuffer(queue, raw, CL_FALSE, 0, held->size, source.get(), count, list,
                                                   event);
        const std::array<size_t, 3> origin{};
        const auto region = whole_region(*held);
        return at.calls().clEnqueueWriteImage(queue, raw, CL_FALSE, origin.data(), region.data(), 0, 0, source.get(),
                                              count, list, event);
    };
}

} // namespace

void pending_commands::add(ref<_cl_event> command) {
    if (m_commands.size() >= m_next_sweep) {
        std::erase_if(m_commands, [](const auto& one) { return one->over(); });
        m_next_sweep = std::max(few, 2 * m_commands.size());
    }
    m_commands.push_back(std::move(command));
}

void pending_commands::add_to(std::vector<ref<_cl_event>>& list) {
    std::erase_if(m_commands, [](const auto& one) { return one->over(); });
    list.insert(list.end(), m_commands.begin(), m_commands.end());
}

std::array<size_t, 3> whole_region(const _cl_mem& image) {
    const auto& shape = image.image.shape;
    const auto at_least_one = [](size_t count) { return std::max<size_t>(count, 1); };
    switch (image.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return {shape.image_width, at_least_one(shape.image_array_size), 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return {shape.image_width, shape.image_height, at_least_one(shape.image_array_size)};
    case CL_MEM_OBJECT_IMAGE3D: return {shape.image_width, shape.image_height, shape.image_depth};
    case CL_MEM_OBJECT_IMAGE2D: return {shape.image_width, shape.image_height, 1};
    default: return {shape.image_width, 1, 1};
    }
}

void check_region(const _cl_mem& image, const std::array<size_t, 3>& origin, const std::array<size_t, 3>& region) {
    const auto whole = whole_region(image);
    for (std::size_t i = 0; i < 3; ++i)
        require(region[i] != 0 && has_range(whole[i], origin[i], region[i]), CL_INVALID_VALUE);
}

namespace {

/// The same rank, if it has them; else the driver contexts that get the contents one after the other form a binomial
/// tree. The same choice on every rank.
driver_context& nearest(const std::vector<driver_context*>& latest, const driver_context& to) {
    const auto own = std::find_if(latest.begin(), latest.end(),
                                  [&](const driver_context* one) { return one->rank == to.rank; });
    return own != latest.end() ? **own : *latest[latest.size() - std::bit_floor(latest.size())];
}

/// What a rank does with contents, the others count on: where it fails, the job of a cluster ends.
template <class Action> void or_give_up(_cl_mem& object, const std::string& what, Action action) {
    const auto code = guard([&] {
        action();
        return CL_SUCCESS;
    });
    if (code == CL_SUCCESS) return;
    const auto& job = object.context->job;
    if (job.is_alone()) throw refusal{code};
    job.give_up("a memory object of " + std::to_string(object.root().size) + " bytes cannot be " + what +
                ": OpenCL's code " + std::to_string(code));
}

void* const* untyped(const cl_event* list) { return reinterpret_cast<void* const*>(list); }

/// The engine sends and receives whole buffers.
issue_function transfer(_cl_mem& object, driver_context& at, int peer, int tag, bool sends) {
    return [held = ref<_cl_mem>(&object), &at, peer, tag, sends](cl_bool, cl_uint count, const cl_event* list,
                                                                 cl_event* event) {
        const auto& calls = held->context->job.calls();
        const auto call = sends ? calls.send_buffer : calls.receive_buffer;
        or_give_up(*held, (sends ? "sent to rank " : "received from rank ") + std::to_string(peer), [&] {
            check(call(at.copies->raw.raw(), held->raw(at), held->size, peer, tag, count, untyped(list),
                       reinterpret_cast<void**>(event)));
        });
        return CL_SUCCESS;
    };
}

/// What must be over before the contents of `source` can be read.
struct before_reading {
    std::vector<ref<_cl_event>> waits, orders;
};
before_reading look_before_reading(memory_copy& source) {
    before_reading found;
    add_unless_over(found.waits, source.arrival);
    source.writers.add_to(found.orders);
    return found;
}

/// What must be over before contents can come to `target`: all that uses what it has now.
std::vector<ref<_cl_event>> before_arriving(memory_copy& target) {
    std::vector<ref<_cl_event>> orders;
    for (auto* const users : {&target.departures, &target.writers, &target.readers}) users->add_to(orders);
    add_unless_over(orders, target.arrival);
    return orders;
}

/// Over the link between the devices, where there is one.
issue_function copy_whole(_cl_mem& object, driver_context& from, driver_context& to) {
    return [held = ref<_cl_mem>(&object), &from, &to](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
        return core::copy_beside_queues({from.copies->raw.raw(), held->raw(from)},
                                        {to.copies->raw.raw(), held->raw(to)}, held->size, count, list, event);
    };
}

void move_here(_cl_mem& root, driver_context& from, driver_context& to) {
    auto& source = root.copies[from.index];
    auto& target = root.copies[to.index];
    // In a cluster another engine, libcauseway's, sends the buffer meanwhile, and both would map it: PoCL takes one of
    // two maps of a range for the other when it is unmapped in another queue (3.1).
    if (!root.is_image() && root.context->job.is_alone() && core::takes_copies()) {
        auto before = look_before_reading(source);
        auto orders = before_arriving(target);
        orders.insert(orders.end(), before.orders.begin(), before.orders.end());
        target.arrival = enqueue_copy(*to.copies, CL_COMMAND_WRITE_BUFFER, std::move(before.waits), std::move(orders),
                                      copy_whole(root, from, to), _cl_event::ender::foreign);
        source.departures.add(target.arrival);
        return;
    }
    const std::shared_ptr<std::byte[]> staging(new std::byte[root.size]);
    auto before = look_before_reading(source);
    const auto out = enqueue_copy(*from.copies, CL_COMMAND_READ_BUFFER, std::move(before.waits),
                                  std::move(before.orders), read_whole(root, from, staging));
    source.departures.add(out);
    target.arrival = enqueue_copy(*to.copies, CL_COMMAND_WRITE_BUFFER, {out}, before_arriving(target),
                                  write_whole(root, to, staging));
    scheduler::of_process().after(*target.arrival, [staging](cl_int) {}); // it lives until then
}

void move_out(_cl_mem& root, driver_context& from, int rank) {
    auto& job = root.context->job;
    auto& source = root.copies[from.index];
    auto before = look_before_reading(source);
    // Goes also if what it waits for failed: the other rank must not wait for ever for contents that nobody can use.
    auto& orders = before.orders;
    orders.insert(orders.end(), before.waits.begin(), before.waits.end());
    if (!root.is_image()) {
        const int tag = job.next_data_tag(job.rank(), rank);
        source.departures.add(enqueue_copy(*from.copies, CL_COMMAND_READ_BUFFER, {}, std::move(orders),
                                           transfer(root, from, rank, tag, true), _cl_event::ender::foreign));
        return;
    }
    const auto staging = job.room_for_message(root.size);
    auto send = job.promise(rank, staging, root.size);
    const auto out = enqueue_copy(*from.copies, CL_COMMAND_READ_IMAGE, {}, std::move(orders),
                                  read_whole(root, from, staging));
    source.departures.add(out);
    scheduler::of_process().after(*out, [send = std::move(send), held = ref<_cl_mem>(&root), rank](cl_int status) {
        or_give_up(*held, "sent to rank " + std::to_string(rank), [&] { check(status); });
        send();
    });
}

void move_in(_cl_mem& root, int rank, driver_context& to) {
    auto& job = root.context->job;
    auto& target = root.copies[to.index];
    if (!root.is_image()) {
        const int tag = job.next_data_tag(rank, job.rank());
        target.arrival = enqueue_copy(*to.copies, CL_COMMAND_WRITE_BUFFER, {}, before_arriving(target),
                                      transfer(root, to, rank, tag, false), _cl_event::ender::foreign);
        return;
    }
    const auto staging = job.room_for_message(root.size);
    auto message = ref<_cl_event>::adopt(
        new _cl_event(*to.copies, CL_COMMAND_WRITE_IMAGE, _cl_event::ender::every_rank));
    job.receive(rank, staging, root.size, [message] { scheduler::of_process().end(*message, {}); });
    target.arrival = enqueue_copy(*to.copies, CL_COMMAND_WRITE_IMAGE, {message}, before_arriving(target),
                                  write_whole(root, to, staging));
    scheduler::of_process().after(*target.arrival, [staging](cl_int) {});
}

void make_raw(_cl_mem& object, driver_context& at) {
    if (object.context->job.is_dry_run()) return; // its commands use nothing
    or_give_up(object, "made by the driver " + at.from->name, [&] { (void)object.raw(at); });
}

/// Every rank knows of every move; those at its ends make it.
void move(_cl_mem& root, driver_context& from, driver_context& to) {
    if (to.here) make_raw(root, to);
    const bool has_its_contents = from.here && has_come(root.copies[from.index].arrival);
    or_give_up(root, "moved from rank " + std::to_string(from.rank) + " to rank " + std::to_string(to.rank), [&] {
        if (from.here && to.here)
            move_here(root, from, to);
        else if (from.here)
            move_out(root, from, to.rank);
        else if (to.here)
            move_in(root, from.rank, to);
    });
    if (from.here && to.here) {
        auto& target = root.copies[to.index];
        target.came_from = &from;
        target.came_from_its_contents = has_its_contents;
    }
    // Ranks that have nothing to do with an attached object do not follow it: no other driver context may count as its
    // home.
    if (root.attached != nullptr)
        root.latest.assign(1, root.attached);
    else
        root.latest.push_back(&to);
}

} // namespace

static bool has_failed(const ref<_cl_event>& arrival) { return arrival && arrival->status() < CL_COMPLETE; }

/// Where contents that failed to come to `to` still are, along the failed moves; null if that is not sure.
static driver_context* start_of_failed_moves(_cl_mem& root, driver_context* to) {
    for (std::size_t moves = 0; moves < root.copies.size(); ++moves) {
        const auto& copy = root.copies[to->index];
        to = copy.came_from;
        // If they failed to come back there, that was behind this move, and nothing was written.
        if (!has_failed(root.copies[to->index].arrival) || copy.came_from_its_contents) return to;
    }
    return nullptr;
}

/// Takes driver contexts whose arrival has failed out of `latest`. A command that was to change the contents there has
/// failed with the arrival, and so has all behind it: nothing was written. If no context is left, the latest contents
/// are where the failed moves began; if that is not known, all commands that need the contents fail. Failed arrivals of
/// contexts outside `latest` stay, because later moves from there have to fail, too. Does nothing in a cluster, whose
/// ranks would not agree.
static void forget_failed_moves(_cl_mem& root) {
    if (!root.context->job.is_alone() || root.latest.empty()) return;
    std::vector<driver_context*> left;
    std::copy_if(root.latest.begin(), root.latest.end(), std::back_inserter(left),
                 [&](const driver_context* one) { return !has_failed(root.copies[one->index].arrival); });
    if (left.size() == root.latest.size()) return;
    if (left.empty()) {
        auto* const start = start_of_failed_moves(root, root.latest.front());
        if (start == nullptr) return;
        auto& arrival = root.copies[start->index].arrival;
        if (has_failed(arrival)) arrival = {};
        left.push_back(start);
    }
    root.latest = std::move(left);
}

void bring(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& waits,
           std::vector<ref<_cl_event>>& orders) {
    auto& root = object.root();
    if (&object != &root && how == access::overwrite) how = access::write;
    if (here.here) make_raw(object, here);
    forget_failed_moves(root);
    const bool is_latest = std::find(root.latest.begin(), root.latest.end(), &here) != root.latest.end();
    if (how != access::overwrite && root.has_contents && !is_latest) move(root, nearest(root.latest, here), here);
    if (!here.here) return;
    auto& mine = root.copies[here.index];
    // What failed to come matters no more where nothing of it is left.
    add_unless_over(how == access::overwrite ? orders : waits, mine.arrival);
    if (how != access::read) mine.departures.add_to(orders);
}

void come_after(_cl_mem& object, driver_context& here, access how, std::vector<ref<_cl_event>>& orders) {
    auto& mine = object.root().copies[here.index];
    mine.writers.add_to(orders);
    if (how != access::read) mine.readers.add_to(orders);
}

void note_use(_cl_mem& object, driver_context& here, access how, _cl_event* command, bool apart) {
    auto& root = object.root();
    auto* const mine = command == nullptr ? nullptr : &root.copies[here.index];
    if (mine != nullptr) {
        auto& list = how != access::read ? mine->writers : apart ? mine->departures : mine->readers;
        list.add(ref<_cl_event>(command));
    }
    if (how == access::read) return;
    root.latest.assign(1, &here);
    root.has_contents = true;
    root.initial.reset();
    if (mine != nullptr && how == access::overwrite && &object == &root) mine->arrival = {};
    if (root.attached != nullptr && root.attached != &here) move(root, here, *root.attached);
}

bool is_aligned(const _cl_mem& object, const _cl_device_id& device) {
    for (const auto* part = &object; part->parent; part = part->parent.get())
        if (!part->is_image() && part->offset % alignment_of(device) != 0) return false;
    return true;
}

void attach(_cl_mem& object, driver_context& here) {
    auto& root = object.root();
    if (here.here) make_raw(root, here);
    const bool is_latest = std::find(root.latest.begin(), root.latest.end(), &here) != root.latest.end();
    if (root.has_contents && !is_latest) move(root, nearest(root.latest, here), here);
    root.latest.assign(1, &here);
    root.has_contents = true;
    root.initial.reset();
    root.attached = &here;
}

namespace {
spin_lock live_lock; // guards live_handles
std::unordered_set<const void*>& live_handles() {
    static auto& handles = *new std::unordered_set<const void*>; // objects may outlive static destructors
    return handles;
}
} // namespace

bool is_live_handle(const void* handle) {
    const std::lock_guard lock(live_lock);
    return live_handles().contains(handle);
}
void add_live_handle(const void* handle) {
    const std::lock_guard lock(live_lock);
    live_handles().insert(handle);
}
void remove_live_handle(const void* handle) {
    const std::lock_guard lock(live_lock);
    live_handles().erase(handle);
}

} // namespace causeway::platform

_cl_mem::_cl_mem(_cl_context& of, cl_mem_object_type what, cl_mem_flags as, size_t bytes, void* host)
    : object(own_kind), context(&of), type(what), flags(as), size(bytes),
      host_ptr((as & CL_MEM_USE_HOST_PTR) != 0 ? host : nullptr), copies(of.here().size()) {
    add_live_handle(this);
}

namespace {

/// Calls the program when the last of the drivers has let go of its part, in the reverse of the order of registration.
struct farewell {
    cl_mem object;
    std::vector<_cl_mem::destructor> destructors;
    std::atomic<size_t> left;
};

void CL_CALLBACK one_left(cl_mem, void* data) {
    auto* const last = static_cast<farewell*>(data);
    if (last->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const cluster::pause unnoted;
    for (auto it = last->destructors.rbegin(); it != last->destructors.rend(); ++it) it->call(last->object, it->data);
    delete last;
}

} // namespace

_cl_mem::~_cl_mem() {
    remove_live_handle(this);
    if (destructors.empty()) return;
    // One more than there are parts, for this function itself.
    auto* const last = new farewell{this, std::move(destructors), 1};
    for (const auto& copy : copies) {
        if (!copy.raw) continue;
        last->left.fetch_add(1, std::memory_order_relaxed);
        if (copy.raw.calls().clSetMemObjectDestructorCallback(copy.raw.raw(), one_left, last) != CL_SUCCESS)
            last->left.fetch_sub(1, std::memory_order_relaxed);
    }
    copies.clear();
    one_left(nullptr, last);
}

cl_mem _cl_mem::raw(driver_context& at) {
    auto& copy = copies[at.index];
    if (!copy.raw) copy.raw = create(at);
    return copy.raw.raw();
}

driver_object<cl_mem> _cl_mem::create(driver_context& at) {
    cl_int code = CL_SUCCESS;
    cl_mem made = create_as(flags, at, code);
    if (made == nullptr && (flags & advice_flags) != 0) made = create_as(flags & ~advice_flags, at, code);
    require(made != nullptr, code == CL_SUCCESS ? CL_OUT_OF_RESOURCES : code);
    return driver_object<cl_mem>(made);
}

cl_mem _cl_mem::create_as(cl_mem_flags driver_flags, driver_context& at, cl_int& code) {
    const bool spans = context->spans();
    void* host = initial ? initial.get() : host_ptr;
    if (spans) {
        // The platform itself reads and writes the contents, whatever the program may do.
        driver_flags &= ~host_flags;
        if (host != nullptr) driver_flags |= CL_MEM_COPY_HOST_PTR;
    }
    if (parent)
        driver_flags &= ~static_cast<cl_mem_flags>(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR);
    if (type == CL_MEM_OBJECT_BUFFER && parent) {
        const cl_buffer_region region{offset, size};
        return at.calls().clCreateSubBuffer(parent->raw(at), driver_flags, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                            &code);
    }
    if (type == CL_MEM_OBJECT_BUFFER)
        return at.calls().clCreateBuffer(at.context.raw(), driver_flags, size, host, &code);
    auto shape = image.shape;
    if (parent) shape.buffer = parent->raw(at);
    if (spans && host != nullptr) shape.image_row_pitch = shape.image_slice_pitch = 0; // `initial` is packed
    return at.calls().clCreateImage(at.context.raw(), driver_flags, &image.format, &shape, host, &code);
}

std::array<size_t, 2> _cl_mem::packed_pitches() const {
    const auto region = whole_region(*this);
    const size_t row = region[0] * image.pixel_bytes;
    // The slices of an array of lines are lines.
    return {row, type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? row : row * region[1]};
}

std::array<size_t, 2> _cl_mem::host_pitches() const {
    const auto packed = packed_pitches();
    const auto& shape = image.shape;
    if ((host_ptr == nullptr && !parent) || shape.image_row_pitch == 0) return packed;
    const size_t rows = packed[1] / packed[0];
    const size_t slice = shape.image_slice_pitch != 0 ? shape.image_slice_pitch : rows * shape.image_row_pitch;
    return {is_lines(*this) ? slice : shape.image_row_pitch, slice};
}

std::byte* _cl_mem::shadow() {
    if (parent) return parent->shadow() + offset;
    if (host_ptr != nullptr) return static_cast<std::byte*>(host_ptr);
    const std::lock_guard lock(mutex);
    if (!m_shadow) m_shadow = std::make_unique<std::byte[]>(size);
    return m_shadow.get();
}

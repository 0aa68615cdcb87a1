// SPDX-License-Identifier: Apache-2.0
#include "acc/data.hpp"

#include "acc/declared.hpp"
#include "acc/failure.hpp"
#include "acc/rows.hpp"
#include "acc/selection.hpp"

#include <causeway/acc/openacc.h>

#include <algorithm>
#include <utility>

namespace causeway::acc {

long queue_number(long given) {
    if (given == acc_async_default || given == acc_async_noval) return selected().default_queue;
    if (given == acc_async_sync) return synchronous_queue;
    return given;
}

directive_target::directive_target(causeway_acc_clauses& clauses) {
    if (!clauses.condition) return;
    m_device = clauses.has_device ? &device_number(clauses.device) : current_device();
    if (!m_device) return;
    m_lock = std::unique_lock(m_device->lock());
    map_declared(*m_device);
    const long number = clauses.asynchronous ? queue_number(clauses.queue) : synchronous_queue;
    // With deviceid a directive is asynchronous, in the order of its device's queue.
    m_waits = !clauses.has_device && number == synchronous_queue;
    m_queue = &m_device->queue_of(number);
    m_queue->waited_for = m_waits;
    if (!clauses.waits) return;
    auto& from = clauses.wait_device >= 0 ? device_number(clauses.wait_device) : *m_device;
    if (&from != m_device) { // a wait for another device's queues: the host sees to it
        m_lock.unlock();
        {
            std::unique_lock other(from.lock());
            if (clauses.wait_count == 0) from.finish_all(other);
            for (int each = 0; each < clauses.wait_count; ++each)
                from.finish(from.queue_of(queue_number(clauses.wait_queues[each])), other);
        }
        m_lock.lock();
        m_queue->waited_for = m_waits;
        return;
    }
    if (clauses.wait_count == 0) m_device->order_all(*m_queue);
    for (int each = 0; each < clauses.wait_count; ++each)
        m_device->order(m_device->queue_of(queue_number(clauses.wait_queues[each])), *m_queue);
}

void directive_target::come_last() {
    if (m_queue == &m_device->queue_of(synchronous_queue)) m_device->order_all(*m_queue);
}

void directive_target::finish() {
    if (m_waits)
        m_device->finish(*m_queue, m_lock);
    else
        m_queue->flush();
}

mapping& map_one(device& on, queue& in, void* host, void* base, std::size_t bytes, int kind, std::size_t offset) {
    mapping made{static_cast<char*>(host), bytes, base, on.allocate(in, offset + bytes), offset};
    auto& added = on.table().add(made);
    if (kind == CAUSEWAY_ACC_COPY || kind == CAUSEWAY_ACC_COPYIN || kind == CAUSEWAY_ACC_IMPLICIT)
        on.write(in, {added.buffer, offset}, host, bytes);
    if (kind == CAUSEWAY_ACC_CREATE_ZERO || kind == CAUSEWAY_ACC_COPYOUT_ZERO) on.fill_zero(in, added.buffer, bytes);
    return added;
}

std::vector<piece> pieces_of(const causeway_acc_data& one) {
    auto* const start = static_cast<char*>(one.host);
    std::vector<piece> pieces = {{start, one.bytes}};
    if (one.dimension_count == 0 || one.bytes == 0) return pieces;
    // Rows that are whole make one block.
    int inner = one.dimension_count - 1;
    auto& block = pieces.front().bytes;
    block = static_cast<std::size_t>(one.dimensions[inner].count) * one.dimensions[inner].stride;
    for (; inner > 0; --inner) {
        const auto& next = one.dimensions[inner - 1];
        if (next.count > 1 && next.stride != block) break;
        if (next.count > 1) block *= static_cast<std::size_t>(next.count);
    }
    for (int each = 0; each < inner; ++each) {
        const auto [count, stride] = one.dimensions[each];
        std::vector<piece> parts;
        for (const auto& row : pieces)
            for (long at = 0; at < count; ++at)
                parts.push_back({row.start + static_cast<std::size_t>(at) * stride, row.bytes});
        pieces = std::move(parts);
    }
    return pieces;
}

void release(device& on, queue& in, mapping& gone) {
    release_rows(on, in, gone);
    if (gone.device_address) on.forget(gone.device_address);
    if (gone.owned) on.free(in, gone.buffer, gone.offset + gone.bytes);
    on.table().remove(gone);
}

namespace {

/// As OpenACC 3 has it: clauses take no action for a null pointer, whatever section of it they name.
bool is_null(const causeway_acc_data& one) { return !one.base || (!one.host && one.bytes == 0); }

/// Something is mapped there, however much.
bool is_there(device& on, void* host) {
    return on.table().find_start(host) || on.table().find_base(host) || on.find_reserved(host) != on.reserved().end();
}

/// Whether what the region uses of a pointer without a clause is on the device already. Ends the program if only a part
/// is, unless that was mapped through the same pointer, which then means it.
bool is_known(device& on, const causeway_acc_data& one) {
    auto* const first = static_cast<char*>(one.host);
    auto* const last = first + one.bytes - 1;
    if (on.find_reserved(one.base) != on.reserved().end()) return true;
    auto* other = on.table().find_start(first);
    if (other && last < other->start + other->bytes) return true;
    if (!other) other = on.table().find_start(last);
    if (!other) other = on.table().find_overlapping(first, one.bytes);
    if (!other) return false;
    if (on.table().find_base(one.base)) return true;
    const std::string name = one.name;
    fail_here("of the range " + range_text(first, one.bytes) + " of " + quoted(one.name) +
              ", which is in no clause, only a part is mapped, by " + range_text(other->start, other->bytes) +
              ": a data clause must say which elements are meant, as " + name + "[0:n]");
}

/// The region's own copy, which has what the program has now.
mapping& map_first_private(device& on, queue& in, const causeway_acc_data& one) {
    auto& made = on.table().add_apart(
        {static_cast<char*>(one.host), one.bytes, one.base, on.allocate(in, one.bytes), 0});
    on.write(in, {made.buffer, 0}, one.host, one.bytes);
    // The program may change its own before an asynchronous region runs.
    if (!in.waited_for) check(clFinish(in.handle), "clFinish");
    return made;
}

buffer_location place_in(const mapping& found, const char* start) {
    return {found.buffer, found.offset + static_cast<std::size_t>(start - found.start)};
}

/// The clause's own section, or all that is mapped if it has none.
causeway_acc_data named_in(const causeway_acc_data& one, const mapping& found) {
    auto named = one;
    if (one.bytes == 0) named.host = found.start, named.bytes = found.bytes, named.dimension_count = 0;
    return named;
}

void read_pieces(device& on, queue& in, const causeway_acc_data& one, const mapping& from) {
    for (const auto& each : pieces_of(one)) on.read(in, each.start, place_in(from, each.start), each.bytes);
}

/// Maps what regions use of pointers without a clause. Ranges that overlap become one mapping: a host address has one
/// place on the device, whichever pointer leads there.
void map_implicit(device& on, queue& in, std::vector<causeway_acc_data*> ranges) {
    std::ranges::sort(ranges, {}, [](const auto* each) { return static_cast<char*>(each->host); });
    for (std::size_t from = 0, to; from < ranges.size(); from = to) {
        auto* const start = static_cast<char*>(ranges[from]->host);
        auto* end = start;
        for (to = from; to < ranges.size() && (to == from || static_cast<char*>(ranges[to]->host) < end); ++to)
            end = std::max(end, static_cast<char*>(ranges[to]->host) + ranges[to]->bytes);
        // Elements of another type need not be aligned to where the first range starts.
        constexpr std::uintptr_t alignment = 128;
        const bool shared = to - from > 1;
        auto& made = map_one(on, in, start, shared ? nullptr : ranges[from]->base,
                             static_cast<std::size_t>(end - start), CAUSEWAY_ACC_IMPLICIT,
                             shared ? reinterpret_cast<std::uintptr_t>(start) % alignment : 0);
        made.structured = static_cast<long>(to - from);
        for (auto each = from; each < to; ++each) ranges[each]->mapped = &made;
    }
}

} // namespace

void map_all(device& on, queue& in, causeway_acc_data* data, int count) {
    for (int each = 0; each < count; ++each) {
        auto& one = data[each];
        if (one.parameter && (!one.host || is_there(on, one.host))) one.bytes = 0;
        one.mapped = nullptr;
        if (one.kind == CAUSEWAY_ACC_DEVICEPTR || is_null(one) || is_implicit(one)) continue;
        if (one.kind == CAUSEWAY_ACC_FIRSTPRIVATE) {
            one.mapped = &map_first_private(on, in, one);
            continue;
        }
        auto* found = one.bytes > 0 ? on.table().find(one.host, one.bytes) : on.table().find_pointer(one.host);
        if (!found) {
            if (one.kind == CAUSEWAY_ACC_NO_CREATE) continue;
            if (one.kind == CAUSEWAY_ACC_PRESENT) {
                if (one.bytes == 0 && on.find_reserved(one.host) != on.reserved().end()) continue;
                fail_here(quoted(one.name) + " is not present on device " + std::to_string(on.number()));
            }
            found = one.row_bytes > 0 ? &map_rows(on, in, one)
                                      : &map_one(on, in, one.host, one.base, one.bytes, one.kind);
        } else {
            check_rows(on, *found, one);
        }
        ++found->structured;
        one.mapped = found;
    }
    // Clauses come first: what they map is present to pointers without one.
    std::vector<causeway_acc_data*> missing;
    for (int each = 0; each < count; ++each)
        if (auto& one = data[each]; is_implicit(one) && one.kind != CAUSEWAY_ACC_IMPLICIT_PRESENT && one.base &&
                                    one.bytes > 0 && !is_known(on, one))
            missing.push_back(&one);
    map_implicit(on, in, std::move(missing));
}

void unmap_all(device& on, queue& in, causeway_acc_data* data, int count) {
    for (int each = count - 1; each >= 0; --each) {
        auto& one = data[each];
        auto* const found = static_cast<mapping*>(one.mapped);
        if (!found) continue;
        if (one.kind == CAUSEWAY_ACC_FIRSTPRIVATE) {
            on.free(in, found->buffer, found->bytes);
            on.table().remove_apart(*found);
            continue;
        }
        if (--found->structured > 0 || found->dynamic > 0) continue;
        const bool back = one.kind == CAUSEWAY_ACC_COPY || one.kind == CAUSEWAY_ACC_COPYOUT ||
                          one.kind == CAUSEWAY_ACC_COPYOUT_ZERO;
        if (is_implicit(one)) { // of all pointers that share it, what the region writes
            for (int other = 0; other < count; ++other)
                if (data[other].kind == CAUSEWAY_ACC_IMPLICIT && data[other].mapped == found)
                    read_pieces(on, in, data[other], *found);
        } else if (back && found->rows.buffer) {
            read_rows(on, in, *found, one);
        } else if (back) {
            read_pieces(on, in, one, *found);
        }
        release(on, in, *found);
    }
    for (int each = 0; each < count; ++each) data[each].mapped = nullptr;
}

buffer_location location_of(device& on, void* address, std::size_t bytes, const char* name) {
    if (auto* found = on.table().find_start(address)) {
        const auto from = static_cast<std::size_t>(static_cast<char*>(address) - found->start);
        if (bytes > found->bytes - from)
            fail_here(quoted(name) + " is only partly present on device " + std::to_string(on.number()));
        return {found->buffer, found->offset + from};
    }
    if (const auto found = on.find_reserved(address); found != on.reserved().end())
        return {found->second.buffer,
                found->second.offset + static_cast<std::size_t>(static_cast<char*>(address) - found->first)};
    fail_here(quoted(name) + " is not present on device " + std::to_string(on.number()));
}

} // namespace causeway::acc

using namespace causeway::acc;

void causeway_acc_data_begin(causeway_acc_clauses* clauses, causeway_acc_data* data, int count) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    clauses->region = target.is_host() ? nullptr : &target.device();
    if (target.is_host()) return;
    map_all(target.device(), target.queue(), data, count);
    target.finish();
}

void causeway_acc_data_end(causeway_acc_clauses* clauses, causeway_acc_data* data, int count) {
    if (!clauses->region) return;
    const scope here(clauses->location);
    // The thread may use another device by now.
    auto same = *clauses;
    if (!same.has_device) same.device = static_cast<device*>(clauses->region)->number();
    same.has_device = 1;
    same.waits = 0;
    directive_target target(same);
    target.come_last();
    const bool waits = !clauses->has_device && !clauses->asynchronous;
    target.queue().waited_for = waits;
    unmap_all(target.device(), target.queue(), data, count);
    if (waits)
        target.device().finish(target.queue(), target.lock());
    else
        target.finish();
}

void causeway_acc_enter_data(causeway_acc_clauses* clauses, causeway_acc_data* data, int count) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    if (target.is_host()) return;
    for (int each = 0; each < count; ++each) {
        auto& one = data[each];
        if (is_null(one)) continue;
        if (one.parameter && is_there(target.device(), one.host)) one.bytes = 0;
        auto* found = one.bytes > 0 ? target.device().table().find(one.host, one.bytes)
                                    : target.device().table().find_start(one.host);
        if (!found && one.bytes == 0)
            fail_here(quoted(one.name) + " is a pointer without a section, and nothing is mapped there");
        if (found)
            check_rows(target.device(), *found, one);
        else if (one.row_bytes > 0)
            found = &map_rows(target.device(), target.queue(), one);
        else
            found = &map_one(target.device(), target.queue(), one.host, one.base, one.bytes, one.kind);
        ++found->dynamic;
    }
    target.finish();
}

void causeway_acc_exit_data(causeway_acc_clauses* clauses, causeway_acc_data* data, int count) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    if (target.is_host()) return;
    target.come_last();
    for (int each = 0; each < count; ++each) {
        auto& one = data[each];
        if (is_null(one)) continue;
        if (one.parameter) one.bytes = 0;
        auto* const found = one.bytes > 0 ? target.device().table().find(one.host, one.bytes)
                                          : target.device().table().find_start(one.host);
        if (!found) continue; // OpenACC 2.7, section 2.6.6: no action
        if (clauses->finalize)
            found->dynamic = 0;
        else if (found->dynamic > 0)
            --found->dynamic;
        if (found->dynamic > 0 || found->structured > 0) continue;
        if (one.kind == CAUSEWAY_ACC_COPYOUT && found->rows.buffer) {
            read_rows(target.device(), target.queue(), *found, one);
        } else if (one.kind == CAUSEWAY_ACC_COPYOUT) {
            read_pieces(target.device(), target.queue(), named_in(one, *found), *found);
        }
        release(target.device(), target.queue(), *found);
    }
    target.finish();
}

void causeway_acc_update(causeway_acc_clauses* clauses, causeway_acc_data* data, int count) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    if (target.is_host()) return;
    target.come_last();
    for (int each = 0; each < count; ++each) {
        auto& one = data[each];
        auto* const found = one.bytes > 0 ? target.device().table().find(one.host, one.bytes)
                                          : target.device().table().find_start(one.host);
        if (!found && (clauses->if_present || is_null(one))) continue;
        if (!found)
            fail_here(quoted(one.name) + " is not present on device " + std::to_string(target.device().number()));
        if (found->symmetric) continue; // its only copy is the device's
        check_rows(target.device(), *found, one);
        if (found->rows.buffer) {
            if (one.kind == CAUSEWAY_ACC_TO_HOST)
                read_rows(target.device(), target.queue(), *found, one);
            else
                write_rows(target.device(), target.queue(), *found, one);
            continue;
        }
        const auto named = named_in(one, *found);
        if (one.kind == CAUSEWAY_ACC_TO_HOST) {
            read_pieces(target.device(), target.queue(), named, *found);
            continue;
        }
        for (const auto& part : pieces_of(named))
            target.device().write(target.queue(), place_in(*found, part.start), part.start, part.bytes);
    }
    target.finish();
}

void* causeway_acc_use_device(causeway_acc_clauses* clauses, void* host, const char* name) {
    const scope here(clauses->location);
    directive_target target(*clauses);
    if (target.is_host()) return host;
    auto* const found = target.device().table().find_start(host);
    if (!found) {
        if (clauses->if_present || target.device().find_reserved(host) != target.device().reserved().end()) return host;
        fail_here(quoted(name) + " is not present on device " + std::to_string(target.device().number()));
    }
    if (!found->device_address)
        found->device_address = target.device().reserve(found->buffer, found->offset, found->bytes);
    return found->device_address + (static_cast<char*>(host) - found->start);
}

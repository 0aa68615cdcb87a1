// SPDX-License-Identifier: Apache-2.0
#include "acc/rows.hpp"

#include "acc/data.hpp"
#include "acc/failure.hpp"

#include <vector>

namespace causeway::acc {
namespace {

/// Where the section begins in each row; nullptr for pointers that point nowhere.
std::vector<char*> starts_of(const causeway_acc_data& one) {
    const auto* const pointers = static_cast<char* const*>(one.host);
    std::vector<char*> starts(one.bytes / sizeof(char*));
    for (std::size_t each = 0; each < starts.size(); ++each)
        starts[each] = pointers[each] ? pointers[each] + one.row_first : nullptr;
    return starts;
}

template <class Move> void for_each_row(const mapping& pointers, const causeway_acc_data& one, const Move& move) {
    if (one.row_bytes == 0 && one.bytes > 0) return; // the pointers alone, which are the device's own
    const auto rows = one.row_bytes > 0 ? starts_of(one) : pointers.rows.starts;
    const auto bytes = one.row_bytes > 0 ? one.row_bytes : pointers.rows.bytes_of_each;
    for (auto* const row : rows)
        if (row) move(row, bytes);
}

} // namespace

mapping& map_rows(device& on, queue& in, const causeway_acc_data& one) {
    constexpr std::size_t alignment = 64;
    const auto stride = (one.row_bytes + alignment - 1) / alignment * alignment;
    mapping made{static_cast<char*>(one.host), one.bytes, one.base, on.allocate(in, one.bytes), 0};
    auto& rows = made.rows;
    rows.starts = starts_of(one);
    rows.bytes_of_each = one.row_bytes;
    rows.bytes = stride * rows.starts.size();
    rows.buffer = on.allocate(in, rows.bytes);
    if (one.kind == CAUSEWAY_ACC_CREATE_ZERO || one.kind == CAUSEWAY_ACC_COPYOUT_ZERO)
        on.fill_zero(in, rows.buffer, rows.bytes);
    // A kernel subscripts from the pointer's value, which may lie before the section.
    std::vector<cl_long> offsets(rows.starts.size());
    for (std::size_t each = 0; each < offsets.size(); ++each) {
        auto* const start = rows.starts[each];
        if (!start) continue;
        offsets[each] = static_cast<cl_long>(each * stride) - one.row_first;
        if (on.table().find(start, one.row_bytes))
            fail_here("what a pointer in " + quoted(one.name) + " points to is mapped already, apart from other rows");
        mapping row{start, one.row_bytes, start - one.row_first, rows.buffer, each * stride};
        row.owned = false;
        row.structured = 1;
        on.table().add(row);
        if (one.kind == CAUSEWAY_ACC_COPY || one.kind == CAUSEWAY_ACC_COPYIN)
            on.write(in, {rows.buffer, each * stride}, start, one.row_bytes);
    }
    {
        command_slot slot(in);
        check(clEnqueueWriteBuffer(in.handle, made.buffer, CL_TRUE, 0, offsets.size() * sizeof(cl_long), offsets.data(),
                                   slot.count(), slot.list(), slot.event()),
              "clEnqueueWriteBuffer");
    }
    return on.table().add(made);
}

void check_rows(device& on, const mapping& pointers, const causeway_acc_data& one) {
    if (one.row_bytes == 0) return;
    for (auto* const start : starts_of(one)) {
        const auto* const found = start ? on.table().find(start, one.row_bytes) : nullptr;
        if (start && (!found || !pointers.rows.buffer || found->buffer != pointers.rows.buffer))
            fail_here(quoted(one.name) + " is present on device " + std::to_string(on.number()) +
                      " without what its pointers point to now");
    }
}

void release_rows(device& on, queue& in, mapping& pointers) {
    if (!pointers.rows.buffer) return;
    for (auto* const start : pointers.rows.starts) {
        auto* const row = start ? on.table().find_start(start) : nullptr;
        if (!row || row->buffer != pointers.rows.buffer) continue;
        if (row->device_address) on.forget(row->device_address);
        on.table().remove(*row);
    }
    on.free(in, pointers.rows.buffer, pointers.rows.bytes);
}

void read_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one) {
    for_each_row(pointers, one,
                 [&](char* row, std::size_t bytes) { on.read(in, row, location_of(on, row, bytes, one.name), bytes); });
}

void write_rows(device& on, queue& in, const mapping& pointers, const causeway_acc_data& one) {
    for_each_row(pointers, one, [&](char* row, std::size_t bytes) {
        on.write(in, location_of(on, row, bytes, one.name), row, bytes);
    });
}

} // namespace causeway::acc

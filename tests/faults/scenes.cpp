// SPDX-License-Identifier: Apache-2.0
// Makes the objects of scenarios and looks at them afterwards.
#include "faults/scenes.hpp"

#include <cstring>
#include <set>

namespace faults {

using support::bytes;

void PrintTo(const shape& shown, std::ostream* out) { *out << shown.name; }

const std::vector<shape>& all_shapes() {
    static const std::vector<shape> all = {
        {"mapped", "mapped", "64K", "3", false},
        {"pinned", "pinned", "0", "0", false},
        {"pipelined", "pipelined", "64K", "3", false},
        {"pinned_page_locked", "pinned", "0", "0", true},
        {"pipelined_page_locked", "pipelined", "64K", "3", true},
    };
    return all;
}

shape_scope::shape_scope(const shape& wanted)
    : m_strategy("strategy", wanted.strategy), m_block("block", wanted.block), m_depth("depth", wanted.depth),
      m_keep("keep", "0") {
    if (wanted.page_locked) m_pretended.emplace();
}

std::vector<support::device_under_test> one_device_each() {
    std::vector<support::device_under_test> found;
    std::set<cl_platform_id> seen;
    for (const auto& each : support::all_devices())
        if (seen.insert(each.platform).second) found.push_back(each);
    return found;
}

cl_device_id part_of(cl_device_id whole) {
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    if (clCreateSubDevices(whole, equally, 0, nullptr, &count) != CL_SUCCESS || count == 0) return nullptr;
    std::vector<cl_device_id> parts(count);
    if (clCreateSubDevices(whole, equally, count, parts.data(), nullptr) != CL_SUCCESS) return nullptr;
    for (std::size_t i = 1; i < parts.size(); ++i) clReleaseDevice(parts[i]);
    return parts.front();
}

std::string shaped_name(const testing::TestParamInfo<std::tuple<support::device_under_test, shape>>& info) {
    return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
}

device_scene::device_scene(cl_device_id device, support::queue_order order)
    : m_context(support::make_context({device})), m_queue(support::make_queue(m_context.get(), device, order)),
      m_own_queue(support::make_queue(m_context.get(), device, support::queue_order::in_order)) {}

framed_range::framed_range(const device_scene& where, std::size_t size)
    : m_where(where), m_size(size), m_buffer(support::make_buffer(where.context(), size + 2 * margin)) {
    fill(support::pattern(size, 99));
}

void framed_range::fill(const bytes& contents) {
    const auto frame = support::pattern(margin, 98);
    m_before = support::join(support::join(frame, contents), frame);
    support::fill(m_where.own_queue(), m_buffer.get(), 0, m_before);
}

void framed_range::touch() const { static_cast<void>(support::contents(m_where.own_queue(), m_buffer.get(), 0, 1)); }

bytes framed_range::contents() const { return support::contents(m_where.own_queue(), m_buffer.get(), margin, m_size); }

cl_uint framed_range::maps() const {
    cl_uint count = 0;
    clGetMemObjectInfo(m_buffer.get(), CL_MEM_MAP_COUNT, sizeof count, &count, nullptr);
    return count;
}

void framed_range::expect(const bytes& source, std::size_t moved, bool untouched, const fault_point* failed) {
    if (failed == nullptr || std::strcmp(failed->name, "clEnqueueUnmapMemObject") != 0) {
        // PoCL 3.1 counts down behind the unmapping's event: of 260,000 maps 6 % were still counted when it was
        // complete.
        EXPECT_TRUE(support::eventually([&] { return maps() <= m_maps; })) << "the transfer has left the buffer mapped";
    }
    m_maps = maps();
    const auto now = support::contents(m_where.own_queue(), m_buffer.get(), 0, m_before.size());
    if (untouched) {
        EXPECT_TRUE(support::same_bytes(m_before, now));
        return;
    }
    ASSERT_LE(moved, m_size);
    EXPECT_TRUE(support::same_bytes(support::slice(source, 0, moved), support::slice(now, margin, moved)));
    EXPECT_TRUE(support::same_bytes(support::slice(m_before, 0, margin), support::slice(now, 0, margin)));
    EXPECT_TRUE(support::same_bytes(support::slice(m_before, margin + m_size, margin),
                                    support::slice(now, margin + m_size, margin)));
}

} // namespace faults

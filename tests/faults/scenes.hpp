// SPDX-License-Identifier: Apache-2.0
// What scenarios are made of: devices, ways to move bytes, buffers with margins.
#pragma once

#include "faults/every_call.hpp"
#include "support/events.hpp"
#include "support/opencl_fixture.hpp"
#include "support/patterns.hpp"

#include <causeway/causeway.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

namespace faults {

/// How transfers are forced to move bytes.
struct shape {
    const char* name;
    const char* strategy;
    const char* block;
    const char* depth;
    bool page_locked; ///< staging as on devices whose memory is not the host's
};

void PrintTo(const shape& shown, std::ostream* out);
[[nodiscard]] const std::vector<shape>& all_shapes();

/// Holds a shape for as long as it lives, and makes the library let go of everything that it only keeps for speed.
class shape_scope {
  public:
    explicit shape_scope(const shape& wanted);

  private:
    support::option_scope m_strategy, m_block, m_depth, m_keep;
    std::optional<pretended_discrete_devices> m_pretended;
};

/// The first device of each OpenCL implementation.
[[nodiscard]] std::vector<support::device_under_test> one_device_each();

/// Part of a device, or null. What is known of a device is kept, but not of its parts, which come and go: of these the
/// library can be made to believe that they have memory of their own.
[[nodiscard]] cl_device_id part_of(cl_device_id whole);

/// A device of each implementation with each shape.
class shaped_test : public testing::TestWithParam<std::tuple<support::device_under_test, shape>> {
  protected:
    shaped_test() : m_shape(std::get<1>(GetParam())) {}
    [[nodiscard]] static cl_device_id device() { return std::get<0>(GetParam()).device; }

  private:
    shape_scope m_shape;
};
[[nodiscard]] std::string
shaped_name(const testing::TestParamInfo<std::tuple<support::device_under_test, shape>>& info);

/// One context, one queue, and a queue of the test's own.
class device_scene {
  public:
    explicit device_scene(cl_device_id device, support::queue_order order = support::queue_order::in_order);

    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    [[nodiscard]] cl_command_queue own_queue() const { return m_own_queue.get(); }

  private:
    support::context_handle m_context;
    support::queue_handle m_queue, m_own_queue;
};

/// A range of a buffer with bytes around it that no transfer may touch.
class framed_range {
  public:
    static constexpr std::size_t margin = 512;

    framed_range(const device_scene& where, std::size_t size);

    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }
    [[nodiscard]] std::size_t offset() const { return margin; }
    [[nodiscard]] std::size_t size() const { return m_size; }
    void fill(const support::bytes& contents);
    /// A command in the test's own queue.
    void touch() const;
    /// Expects `moved` bytes of `source` at the start, and everything as it was around the range; all as it was if
    /// `untouched`. No map may be left either, unless the function that ends maps has `failed`.
    void expect(const support::bytes& source, std::size_t moved, bool untouched, const fault_point* failed);
    [[nodiscard]] support::bytes contents() const;
    [[nodiscard]] support::bytes before() const { return support::slice(m_before, margin, m_size); }

  private:
    [[nodiscard]] cl_uint maps() const;

    const device_scene& m_where;
    cl_uint m_maps = 0;
    std::size_t m_size;
    support::buffer_handle m_buffer;
    support::bytes m_before;
};

/// Calls `enqueue(event*)` and keeps what it answers.
template <class Enqueue> [[nodiscard]] started start_one(Enqueue enqueue, cl_bool blocking = CL_FALSE) {
    started result;
    cl_event event = nullptr;
    result.refused = enqueue(&event);
    result.event = support::event_handle(event);
    if (blocking != CL_FALSE && event != nullptr) {
        const auto seen = support::status_of(event);
        EXPECT_EQ(std::exchange(result.refused, CL_SUCCESS), seen == CL_COMPLETE ? CL_SUCCESS : seen);
    }
    if (result.refused != CL_SUCCESS) result.message = causeway_error_last_message();
    return result;
}

} // namespace faults

// SPDX-License-Identifier: Apache-2.0
// A heap for each test, and the short words that the tests are written in.
#pragma once

#include "ranks.hpp"

#include <causeway/symmetric.h>

namespace symmetric_test {

using namespace system_test;

class with_heap : public ::testing::Test {
  protected:
    static constexpr std::size_t heap_bytes = std::size_t{16} << 20;

    void SetUp() override {
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, heap_bytes), CL_SUCCESS)
            << causeway_error_last_message();
        me = causeway_symmetric_pe();
        all = causeway_symmetric_pes();
        next = (me + 1) % all;
        before = (me + all - 1) % all;
    }

    void TearDown() override {
        if (causeway_symmetric_pe() >= 0) {
            EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
        }
    }

    template <typename Value> [[nodiscard]] static Value* allocate(std::size_t count) {
        auto* const made = static_cast<Value*>(causeway_symmetric_calloc(count, sizeof(Value)));
        EXPECT_NE(made, nullptr) << causeway_error_last_message();
        return made;
    }

    /// What this PE's heap has at `address`, read by its device.
    [[nodiscard]] static bytes contents(const void* address, std::size_t size) {
        std::size_t offset = 0;
        cl_mem buffer = causeway_symmetric_buffer(address, &offset, nullptr);
        EXPECT_NE(buffer, nullptr) << causeway_error_last_message();
        return own().read(buffer, offset, size);
    }

    int me = -1;
    int all = 0;
    int next = 0;
    int before = 0;
};

} // namespace symmetric_test

// SPDX-License-Identifier: Apache-2.0
// Bytes beyond what 31 bits count. Takes 2.3 GB, which not every machine has: CAUSEWAY_TEST_LARGE=1.
#include "symmetric_fixture.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace symmetric_test;

namespace {

constexpr std::size_t large = (std::size_t{1} << 31) + (std::size_t{48} << 20) + 20;

/// The same few pages again and again, which is memory of any size in little. Their number is no power of two, so that
/// bytes 2^31 or 2^32 away differ.
class repeated_pages {
  public:
    static constexpr std::size_t period = (std::size_t{60} << 20) + 4096;

    explicit repeated_pages(std::size_t size) : m_bytes((size + period - 1) / period * period) {
        const int file = memfd_create("repeated", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(period)) != 0) std::abort();
        auto* const first = mmap(nullptr, m_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (first == MAP_FAILED) std::abort();
        m_first = static_cast<unsigned char*>(first);
        for (std::size_t at = 0; at < m_bytes; at += period)
            if (mmap(m_first + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
                std::abort();
        close(file);
    }
    repeated_pages(const repeated_pages&) = delete;
    repeated_pages& operator=(const repeated_pages&) = delete;
    ~repeated_pages() { munmap(m_first, m_bytes); }

    [[nodiscard]] unsigned char* first() const { return m_first; }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    /// The word there by the `round`th fill().
    [[nodiscard]] static std::uint32_t word_at(std::size_t offset, std::uint32_t round) {
        return (static_cast<std::uint32_t>(offset % period / 4) + round) * 2654435761u;
    }
    void fill(std::uint32_t round) const {
        auto* const words = reinterpret_cast<std::uint32_t*>(m_first);
        for (std::size_t i = 0; i < period / 4; ++i) words[i] = word_at(4 * i, round);
    }
    [[nodiscard]] std::size_t words_not_of(std::uint32_t round) const {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(m_first);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < period / 4; ++i) wrong += words[i] != word_at(4 * i, round) ? 1 : 0;
        return wrong;
    }

  private:
    std::size_t m_bytes;
    unsigned char* m_first = nullptr;
};

/// Who does not use its heap has it without memory.
class symmetric_large : public ::testing::Test {
  protected:
    void SetUp() override {
        if (std::getenv("CAUSEWAY_TEST_LARGE") == nullptr) GTEST_SKIP() << "takes 2.3 GB";
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_WORLD, large + 8192), CL_SUCCESS)
            << causeway_error_last_message();
        me = causeway_symmetric_pe();
        last = causeway_symmetric_pes() - 1;
        there = static_cast<unsigned char*>(causeway_symmetric_malloc(large));
        ASSERT_NE(there, nullptr) << causeway_error_last_message();
    }
    void TearDown() override {
        if (causeway_symmetric_pe() >= 0) {
            EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS) << causeway_error_last_message();
        }
    }
    /// The last PE looks at its own.
    void expect_there(std::uint32_t round, std::size_t bytes = large) const {
        if (me != last) return;
        std::size_t offset = 0, wrong = 0;
        cl_mem heap = causeway_symmetric_buffer(there, &offset, nullptr);
        constexpr std::size_t part = std::size_t{32} << 20;
        for (std::size_t at = 0; at < bytes; at += part) {
            const auto got = own().read(heap, offset + at, std::min(part, bytes - at));
            for (std::size_t i = 0; i < got.size(); i += 4) {
                std::uint32_t word = 0;
                std::memcpy(&word, got.data() + i, sizeof word);
                wrong += word != repeated_pages::word_at(at + i, round) ? 1 : 0;
            }
        }
        EXPECT_EQ(wrong, 0U);
    }
    [[nodiscard]] static buffer on(const repeated_pages& pages) {
        cl_int code = CL_SUCCESS;
        buffer made(clCreateBuffer(own().context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, pages.bytes(),
                                   pages.first(), &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }

    int me = -1, last = -1;
    unsigned char* there = nullptr;
};

TEST_F(symmetric_large, puts_gets_and_boxes_of_more_than_two_gibibytes_are_whole) {
    constexpr std::size_t row = 4096, rows = large / row, left = 1024;
    const queue in_order = make_queue(order::in_order);
    const auto meet = [&] { ASSERT_EQ(causeway_symmetric_barrier(), CL_SUCCESS) << causeway_error_last_message(); };
    const repeated_pages pages(large);
    const buffer memory = on(pages);
    const auto put_columns = [&](std::size_t first, std::size_t width) {
        const std::size_t head[3] = {first, 0, 0}, region[3] = {width, rows, 1};
        EXPECT_EQ(clEnqueuePutRect(in_order.get(), memory.get(), CL_TRUE, head, head, region, row, 0, row, 0, there,
                                   last, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
    };
    if (me == 0) {
        pages.fill(1);
        ASSERT_EQ(clEnqueuePut(in_order.get(), memory.get(), CL_TRUE, 0, large, there, last, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
    }
    meet();
    expect_there(1);
    meet();
    if (me == 0) {
        pages.fill(2);
        ASSERT_EQ(clEnqueueGet(in_order.get(), memory.get(), CL_TRUE, 0, large, there, last, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_EQ(pages.words_not_of(1), 0U);
        // From its first to its last byte, each box has more than 2 GiB.
        pages.fill(3);
        put_columns(0, left);
        put_columns(left, row - left);
        // All bytes of this one are more than 2 GiB.
        pages.fill(4);
        const std::size_t head[3] = {0, 0, 0}, region[3] = {row - 4, rows, 1};
        ASSERT_GT(region[0] * region[1], std::size_t{1} << 31);
        ASSERT_EQ(clEnqueueGetRect(in_order.get(), memory.get(), CL_TRUE, head, head, region, row, 0, row, 0, there,
                                   last, 0, nullptr, nullptr),
                  CL_SUCCESS)
            << causeway_error_last_message();
        EXPECT_EQ(pages.words_not_of(3), repeated_pages::period / row) << "the last word of each row is not got";
    }
    meet();
    expect_there(3, row * rows);
    meet();
}

/// On one PE: with more, all heaps were full.
TEST_F(symmetric_large, reductions_of_more_than_two_gibibytes_are_whole) {
    if (last != 0) GTEST_SKIP() << "takes 2.3 GB for each PE";
    const queue in_order = make_queue(order::in_order);
    {
        const repeated_pages pages(large);
        pages.fill(1);
        const buffer memory = on(pages);
        ASSERT_EQ(clEnqueuePut(in_order.get(), memory.get(), CL_TRUE, 0, large, there, 0, 0, nullptr, nullptr),
                  CL_SUCCESS);
    }
    ASSERT_EQ(clEnqueueSymmetricReduce(in_order.get(), CL_TRUE, there, there, large, CL_ELEMENT_UCHAR, CL_REDUCE_SUM, 0,
                                       nullptr, nullptr),
              CL_SUCCESS)
        << causeway_error_last_message();
    expect_there(1);
}

} // namespace

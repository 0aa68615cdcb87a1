// SPDX-License-Identifier: Apache-2.0
// What tests with arguments by chance draw them from, and how they judge boxes: with numbers that do not overflow.
#pragma once

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace support {

using triple = std::array<std::size_t, 3>;

inline std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

/// Memory that ends where the next byte is nobody's.
class guarded_memory {
  public:
    explicit guarded_memory(std::size_t size) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        m_size = (size + page - 1) / page * page;
        m_whole = ::mmap(nullptr, m_size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        m_begin = static_cast<std::byte*>(m_whole) + page;
        EXPECT_EQ(::mprotect(m_begin, m_size, PROT_READ | PROT_WRITE), 0);
        m_whole_size = m_size + 2 * page;
    }
    guarded_memory(const guarded_memory&) = delete;
    guarded_memory& operator=(const guarded_memory&) = delete;
    ~guarded_memory() { ::munmap(m_whole, m_whole_size); }
    /// The last `size` bytes.
    [[nodiscard]] std::byte* last(std::size_t size) const { return m_begin + m_size - size; }

  private:
    void* m_whole;
    std::byte* m_begin;
    std::size_t m_size, m_whole_size = 0;
};

/// Numbers that add up and multiply without an end: what is too large stays too large.
struct large {
    static constexpr unsigned __int128 too_large = static_cast<unsigned __int128>(1) << 63;
    unsigned __int128 value;
    large(std::size_t of) : value(std::min<unsigned __int128>(of, too_large)) {}
    large operator+(large other) const { return large{std::min(value + other.value, too_large), 0}; }
    large operator*(large other) const { return large{std::min(value * other.value, too_large), 0}; }
    bool operator<=(large other) const { return value <= other.value && value != too_large; }

  private:
    large(unsigned __int128 of, int) : value(of) {}
};

/// A box as a call gives it.
struct box {
    triple origin, region;
    std::size_t row, slice;

    [[nodiscard]] std::size_t row_pitch() const { return row == 0 ? region[0] : row; }
    [[nodiscard]] bool fits(std::size_t size) const {
        if (region[0] == 0 || region[1] == 0 || region[2] == 0 || row_pitch() < region[0]) return false;
        const auto rows = large(row_pitch()) * region[1];
        if (slice != 0 && (!(rows <= large(slice)) || slice % row_pitch() != 0)) return false;
        const auto pitch = slice == 0 ? rows : large(slice);
        return large(origin[2]) * pitch + large(origin[1]) * row_pitch() + origin[0] + large(region[2] - 1) * pitch +
                   large(region[1] - 1) * row_pitch() + region[0] <=
               large(size);
    }
    /// Where its byte (x, y, z) is, of a box that fits.
    [[nodiscard]] std::size_t at(std::size_t x, std::size_t y, std::size_t z) const {
        const auto pitch = slice == 0 ? row_pitch() * region[1] : slice;
        return (origin[2] + z) * pitch + (origin[1] + y) * row_pitch() + origin[0] + x;
    }
    [[nodiscard]] bool is_moderate() const {
        for (const auto one : {origin[0], origin[1], origin[2], region[0], region[1], region[2], row, slice})
            if (one > (std::size_t{1} << 31)) return false;
        return true;
    }
};

inline std::string text_of(const box& one) {
    std::string text = "{";
    for (const auto number :
         {one.origin[0], one.origin[1], one.origin[2], one.region[0], one.region[1], one.region[2], one.row, one.slice})
        text += std::to_string(number) + " ";
    return text + "}";
}

template <class Visit> void visit(const triple& region, Visit visit_byte) {
    for (std::size_t z = 0; z < region[2]; ++z)
        for (std::size_t y = 0; y < region[1]; ++y)
            for (std::size_t x = 0; x < region[0]; ++x) visit_byte(x, y, z);
}

/// Sizes, offsets and boxes, for objects of `size` bytes.
class random_numbers {
  public:
    void begin(std::uint64_t seed, std::size_t size) {
        m_chance.seed(seed);
        m_size = size;
    }

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(m_chance() % limit); }
    bool one_of(std::size_t chances) { return below(chances) == 0; }
    /// A size, an offset or a pitch, small ones more often.
    std::size_t number() {
        const std::array<std::size_t, 14> edges{0,
                                                1,
                                                m_size - 1,
                                                m_size,
                                                m_size + 1,
                                                1U << 31,
                                                std::size_t{1} << 32,
                                                std::size_t{1} << 60,
                                                SIZE_MAX / 16,
                                                SIZE_MAX / 2,
                                                SIZE_MAX / 2 + 1,
                                                SIZE_MAX - m_size,
                                                SIZE_MAX - 1,
                                                SIZE_MAX};
        switch (below(4)) {
        case 0: return edges[below(edges.size())];
        case 1: return below(m_size);
        case 2: return SIZE_MAX / (1 + below(64)) + below(3);
        default: return below(16);
        }
    }
    /// Half of them could be right.
    box any_box(const triple& region) {
        const auto small = [&](std::size_t limit) { return one_of(12) ? number() : below(limit); };
        box made{{small(8), small(4), small(3)}, region, 0, 0};
        if (one_of(2)) made.row = one_of(6) ? number() : region[0] + below(8);
        if (one_of(2)) made.slice = one_of(6) ? number() : made.row_pitch() * (region[1] + below(3));
        return made;
    }
    triple any_region() {
        const auto small = [&](std::size_t limit) { return one_of(16) ? number() : 1 + below(limit); };
        return {small(24), small(6), small(5)};
    }

  private:
    std::mt19937_64 m_chance;
    std::size_t m_size = 1024;
};

} // namespace support

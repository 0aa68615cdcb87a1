// SPDX-License-Identifier: Apache-2.0
// Ways of moving the same bytes, timed in turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace alternatives {

struct way {
    std::string name;    // of several of one name, that of the best median is shown
    std::string variant; // what they differ in
    std::function<double()> run;  // does it once and returns seconds
    std::function<void()> check;  // throws if the data of the last run is wrong
    std::string missing; // why it cannot be done here; then there is nothing to run
};

template <class Action> double seconds_of(Action action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Throws with the place of the first byte that is wrong.
void verify(const std::byte* found, const std::byte* expected, std::size_t bytes);

constexpr std::size_t mib = std::size_t{1} << 20;

/// Blocks that one who buffers by hand would try.
constexpr std::size_t blocks_by_hand[] = {mib, 4 * mib, 16 * mib};

[[nodiscard]] std::string block_text(std::size_t bytes);

/// Data of which every transfer moves another part, so that nothing that an earlier one has left passes for right.
class test_data {
  public:
    explicit test_data(std::size_t part_bytes);
    [[nodiscard]] std::size_t whole_bytes() const { return m_bytes.size(); }
    [[nodiscard]] const std::byte* whole() const { return m_bytes.data(); }
    [[nodiscard]] static std::size_t offset_of(std::size_t transfer) { return transfer % parts * step; }

  private:
    static constexpr std::size_t step = 4096, parts = 64;
    std::vector<std::byte> m_bytes;
};

} // namespace alternatives

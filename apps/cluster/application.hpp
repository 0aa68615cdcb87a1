// SPDX-License-Identifier: Apache-2.0
// What the applications have in common, and a list of them.
#pragma once

#include "cluster/device_group.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cluster {

/// How much one compute() computes, in the unit that its field counts in.
struct amount {
    double operations;
    const char* unit; ///< of a billion or a million of them, without "/s"
    double in_a_unit;
};

/// An option of the command line: where its value goes, which is there by itself. Numbers are at least 1.
struct setting {
    const char* name;
    std::variant<std::size_t*, std::string*> value;
    const char* help;
    std::size_t most = std::numeric_limits<int>::max();
};

/// A problem, and how all devices of a group solve it. The calls come in this order, load() to read() several times.
class application {
  public:
    application() = default;
    virtual ~application() = default;
    application(const application&) = delete;
    application& operator=(const application&) = delete;

    /// Options, whose values live as long as this object.
    [[nodiscard]] virtual std::vector<setting> settings() = 0;
    /// Makes the host's input, kernels and buffers. `devices` must stay. Throws std::invalid_argument for sizes that
    /// are too small for them.
    virtual void prepare(const device_group& devices) = 0;
    /// Of the problem, in words. Sizes may have been rounded up by prepare().
    [[nodiscard]] virtual std::string size() const = 0;
    [[nodiscard]] virtual amount work() const = 0;

    // Each enqueues and does not wait.
    virtual void load() = 0;
    virtual void compute() = 0;
    virtual void read() = 0;

    /// What read() has read: the same bytes however many devices there are, of one kind.
    [[nodiscard]] virtual std::span<const std::byte> result() const = 0;
    /// Compares with what does not come from the devices, and says with what, and how well they agree. Throws
    /// std::runtime_error if they do not. May compute further.
    [[nodiscard]] virtual std::string verify() = 0;
};

std::unique_ptr<application> make_binomial();
std::unique_ptr<application> make_black_scholes();
std::unique_ptr<application> make_coulombic_potential();
std::unique_ptr<application> make_embarrassingly_parallel();
std::unique_ptr<application> make_matrix_product();
std::unique_ptr<application> make_n_body();

/// The same on every rank and machine: number `index` of sequence `sequence`, in [low, high).
[[nodiscard]] float random_number(unsigned sequence, std::size_t index, float low, float high);
/// The first `count` numbers of a sequence.
[[nodiscard]] std::vector<float> random_numbers(unsigned sequence, std::size_t count, float low, float high);

/// Looks for the worst of many comparisons, each in units of what the arithmetic explains.
class comparison {
  public:
    void add(double computed, double expected, double tolerance);
    /// Throws std::runtime_error unless all were within their tolerance.
    [[nodiscard]] std::string verdict(const std::string& what) const;

  private:
    std::size_t m_count = 0;
    double m_worst = 0, m_computed = 0, m_expected = 0;
};

/// `size` rounded up to whole groups.
[[nodiscard]] inline std::size_t whole(std::size_t size, std::size_t group) {
    return (size + group - 1) / group * group;
}

} // namespace cluster

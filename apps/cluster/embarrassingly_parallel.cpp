// SPDX-License-Identifier: Apache-2.0
// The NAS parallel benchmark EP: pairs of Gaussian deviates by Marsaglia's polar method, from one sequence of
// pseudo-random numbers; their sums, and how many fall into each square ring. Devices share the pairs.
#include "cluster/application.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

namespace cluster {

namespace {

/// As in the kernel.
constexpr std::size_t group = 64, ring_count = 10, pairs_of_item = 1024, pairs_of_group = group * pairs_of_item;

constexpr const char* source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GROUP 64
#define RINGS 10
#define PAIRS 1024
#define MODULUS_MASK ((1ul << 46) - 1)
#define MULTIPLIER 1220703125ul /* 5^13 */
#define SEED 271828183ul

typedef struct { double x, y; uint rings[RINGS]; uint unused[2]; } sums;

/* Number `count` of the sequence. Products overflow by whole multiples of the modulus. */
ulong number_after(ulong count)
{
    ulong number = SEED, power = MULTIPLIER;
    for (; count != 0; count >>= 1) {
        if (count & 1)
            number = (number * power) & MODULUS_MASK;
        power = (power * power) & MODULUS_MASK;
    }
    return number;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void count_pairs(ulong first_group, global sums *results)
{
    local double xs[GROUP], ys[GROUP];
    local uint all_rings[RINGS];
    const int item = get_local_id(0);
    if (item < RINGS)
        all_rings[item] = 0;
    ulong number = number_after(2ul * PAIRS * (first_group * GROUP + get_global_id(0)));
    double sum_x = 0, sum_y = 0;
    uint counts[RINGS] = {0};
    for (int pair = 0; pair < PAIRS; ++pair) {
        number = (number * MULTIPLIER) & MODULUS_MASK;
        const double x = 2 * (number * 0x1p-46) - 1;
        number = (number * MULTIPLIER) & MODULUS_MASK;
        const double y = 2 * (number * 0x1p-46) - 1;
        const double square = x * x + y * y;
        if (square <= 1) {
            const double factor = sqrt(-2 * log(square) / square);
            const double gaussian_x = x * factor, gaussian_y = y * factor;
            const int ring = (int)fmax(fabs(gaussian_x), fabs(gaussian_y));
#pragma unroll
            for (int i = 0; i < RINGS; ++i)
                counts[i] += ring == i; /* registers cannot be indexed */
            sum_x += gaussian_x;
            sum_y += gaussian_y;
        }
    }
    xs[item] = sum_x;
    ys[item] = sum_y;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < RINGS; ++i)
        atomic_add(&all_rings[i], counts[i]);
    /* Always in the same order, whatever device has the group. */
    for (int half_of_them = GROUP / 2; half_of_them > 0; half_of_them /= 2) {
        if (item < half_of_them) {
            xs[item] += xs[item + half_of_them];
            ys[item] += ys[item + half_of_them];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    global sums *const result = results + get_group_id(0);
    if (item == 0) {
        result->x = xs[0];
        result->y = ys[0];
    }
    if (item < RINGS)
        result->rings[item] = all_rings[item];
})";

/// As in the kernel.
struct sums {
    double x, y;
    cl_uint rings[ring_count];
    cl_uint unused[2];
};

struct problem_class {
    unsigned log2_pairs;
    double x, y; ///< sums, from the benchmark's own verification
};
const std::map<std::string, problem_class> classes{
    {"S", {24, -3.247834652034740e+3, -6.958407078382297e+3}},
    {"W", {25, -2.863319731645753e+3, -6.320053679109499e+3}},
    {"A", {28, -4.295875165629892e+3, -1.580732573678431e+4}},
    {"B", {30, 4.033815542441498e+4, -2.660669192809235e+4}},
    {"C", {32, 4.764367927995374e+4, -8.084072988043731e+4}},
    {"D", {36, 1.982481200946593e+5, -1.020596636361769e+5}},
    {"E", {40, -5.319717441530000e+5, -3.688834557731000e+5}},
};

class embarrassingly_parallel final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_class, "class S, W, A, B, C, D or E, or N for 2^N pairs, of 17 to 40"}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        for (cl_device_id device : devices.devices()) {
            cl_device_fp_config doubles = 0;
            apps::check(clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, nullptr),
                        "clGetDeviceInfo");
            if (doubles == 0)
                throw std::runtime_error("ep needs double precision, which " + apps::device_name(device) + " has not");
        }
        m_groups = (std::size_t(1) << log2_pairs()) / pairs_of_group;
        m_shares = devices.shares_of(m_groups);
        m_parts.resize(m_groups);
        m_kernels = devices.create_kernels(source, "count_pairs");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            m_outputs.push_back(devices.create_buffer(device, m_shares[device].count * sizeof(sums)));
            apps::set_arguments(m_kernels[device].get(), cl_ulong(m_shares[device].first), m_outputs[device].get());
        }
    }

    std::string size() const override {
        const std::string pairs = "2^" + std::to_string(log2_pairs()) + " pairs";
        return classes.contains(m_class) ? "class " + m_class + ", " + pairs : pairs;
    }
    /// As the benchmark counts: pseudo-random numbers.
    amount work() const override { return {2 * double(m_groups) * double(pairs_of_group), "Mop", 1e6}; }

    void load() override {}

    void compute() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->run(device, m_kernels[device], {m_shares[device].count * group}, {group});
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->read(device, m_outputs[device], &m_parts[m_shares[device].first], m_shares[device].count);
    }

    std::span<const std::byte> result() const override {
        m_total = {};
        // In the order of groups.
        for (const auto& part : m_parts) {
            m_total.x += part.x;
            m_total.y += part.y;
            for (std::size_t i = 0; i < ring_count; ++i) m_total.rings[i] += part.rings[i];
        }
        return std::as_bytes(std::span(&m_total, 1));
    }

    std::string verify() override {
        const auto known = classes.find(m_class);
        const auto [x, y] = known != classes.end() ? std::pair(known->second.x, known->second.y) : sums_of_host();
        comparison both;
        // The benchmark's own tolerance.
        both.add(m_total.x, x, 1e-8 * std::abs(x));
        both.add(m_total.y, y, 1e-8 * std::abs(y));
        return both.verdict(known != classes.end() ? "sums, of the NAS parallel benchmarks" : "sums, of the host");
    }

  private:
    struct totals {
        double x, y;
        std::uint64_t rings[ring_count];
    };

    [[nodiscard]] unsigned log2_pairs() const {
        if (const auto known = classes.find(m_class); known != classes.end()) return known->second.log2_pairs;
        const unsigned bits = unsigned(std::strtoul(m_class.c_str(), nullptr, 10));
        if (bits < 17 || bits > 40)
            throw std::invalid_argument("ep: no class \"" + m_class + "\", and no number of 17 to 40");
        return bits;
    }

    [[nodiscard]] std::pair<double, double> sums_of_host() const {
        constexpr std::uint64_t mask = (std::uint64_t(1) << 46) - 1;
        std::uint64_t number = 271828183;
        const auto next = [&] {
            number = (number * 1220703125) & mask;
            return 2 * (double(number) * 0x1p-46) - 1;
        };
        double sum_x = 0, sum_y = 0;
        for (std::size_t pair = 0; pair < m_groups * pairs_of_group; ++pair) {
            const double x = next(), y = next(), square = x * x + y * y;
            if (square > 1) continue;
            const double factor = std::sqrt(-2 * std::log(square) / square);
            sum_x += x * factor;
            sum_y += y * factor;
        }
        return {sum_x, sum_y};
    }

    std::string m_class = "S";
    std::size_t m_groups = 0;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of groups
    std::vector<sums> m_parts;
    mutable totals m_total{};
    std::vector<apps::kernel> m_kernels;
    std::vector<apps::buffer> m_outputs;
};

} // namespace

std::unique_ptr<application> make_embarrassingly_parallel() { return std::make_unique<embarrassingly_parallel>(); }

} // namespace cluster

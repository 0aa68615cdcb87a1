// SPDX-License-Identifier: Apache-2.0
// Prices of American puts by the binomial tree of Cox, Ross and Rubinstein. Devices share the options.
#include "cluster/application.hpp"

#include <algorithm>
#include <cmath>

namespace cluster {

namespace {

/// As in the kernel.
constexpr std::size_t items_of_option = 32, options_of_group = 4;
constexpr int steps = 255;
constexpr float rate = 0.05f, volatility = 0.3f;

// 32 work-items have the 256 last nodes of a tree, eight each, in registers; on the way back to the root only the
// first one of each goes to its neighbour. What is beyond the shrinking tree is computed and not used.
constexpr const char* source = R"(
#define ITEMS 32
#define OPTIONS 4
#define NODES 8
#define STEPS 255
#define RATE 0.05f
#define VOLATILITY 0.3f

typedef struct { float spot, strike, years, unused; } option;

kernel __attribute__((reqd_work_group_size(ITEMS, OPTIONS, 1)))
void price_options(global const option *options, global float *prices)
{
    local float firsts[2][OPTIONS][ITEMS + 1];
    const int item = get_local_id(0), row = get_local_id(1);
    const option mine = options[get_global_id(1)];
    const float step = mine.years / STEPS;
    const float up = exp(VOLATILITY * sqrt(step)), down = 1 / up;
    const float discount = exp(-RATE * step);
    const float likely = (exp(RATE * step) - down) / (up - down);
    const float weight_up = discount * likely, weight_down = discount * (1 - likely);

    float spots[NODES], values[NODES];
#pragma unroll
    for (int i = 0; i < NODES; ++i) {
        spots[i] = mine.spot * exp(VOLATILITY * sqrt(step) * (2 * (item * NODES + i) - STEPS));
        values[i] = fmax(mine.strike - spots[i], 0.0f);
    }
    if (item == 0)
        firsts[0][row][ITEMS] = firsts[1][row][ITEMS] = 0;
    for (int left = STEPS; left > 0; --left) {
        /* Two rows in turn, so that one barrier is enough. */
        firsts[left & 1][row][item] = values[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        const float next = firsts[left & 1][row][item + 1];
#pragma unroll
        for (int i = 0; i < NODES; ++i) {
            const float above = i + 1 < NODES ? values[i + 1] : next;
            spots[i] *= up;
            values[i] = fmax(weight_up * above + weight_down * values[i], mine.strike - spots[i]);
        }
    }
    if (item == 0)
        prices[get_global_id(1)] = values[0];
})";

struct option {
    float spot, strike, years, unused;
};

double price(const option& of) {
    const double step = double(of.years) / steps;
    const double up = std::exp(double(volatility) * std::sqrt(step)), down = 1 / up;
    const double likely = (std::exp(double(rate) * step) - down) / (up - down);
    const double discount = std::exp(-double(rate) * step);
    const auto exercised = [&](int level, int node) {
        return double(of.strike) - of.spot * std::pow(up, 2 * node - level);
    };
    double values[steps + 1];
    for (int node = 0; node <= steps; ++node) values[node] = std::max(exercised(steps, node), 0.0);
    for (int level = steps - 1; level >= 0; --level)
        for (int node = 0; node <= level; ++node)
            values[node] = std::max(discount * (likely * values[node + 1] + (1 - likely) * values[node]),
                                    exercised(level, node));
    return values[0];
}

class binomial final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_count, "options, rounded up to 4"}, {"--runs", &m_runs, "how often each is priced"}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        m_count = whole(m_count, options_of_group);
        m_shares = devices.shares_of(m_count / options_of_group);
        m_options.resize(m_count);
        for (std::size_t i = 0; i < m_count; ++i)
            m_options[i] = {random_number(0, i, 50, 150), random_number(1, i, 50, 150), random_number(2, i, 0.2f, 3),
                            0};
        m_prices.resize(m_count);
        m_kernels = devices.create_kernels(source, "price_options");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            const std::size_t count = m_shares[device].count * options_of_group;
            m_inputs.push_back(devices.create_buffer(device, count * sizeof(option)));
            m_outputs.push_back(devices.create_buffer(device, count * sizeof(float)));
            apps::set_arguments(m_kernels[device].get(), m_inputs[device].get(), m_outputs[device].get());
        }
    }

    std::string size() const override {
        return std::to_string(m_count) + " options, " + std::to_string(m_runs) + " times";
    }
    amount work() const override { return {double(m_count) * m_runs, "Moptions", 1e6}; }

    void load() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            const auto [first, count] = m_shares[device];
            m_devices->write(device, m_inputs[device], &m_options[first * options_of_group], count * options_of_group);
        }
    }

    void compute() override {
        for (std::size_t run = 0; run < m_runs; ++run)
            for (std::size_t device = 0; device < m_devices->size(); ++device)
                m_devices->run(device, m_kernels[device], {items_of_option, m_shares[device].count * options_of_group},
                               {items_of_option, options_of_group});
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            const auto [first, count] = m_shares[device];
            m_devices->read(device, m_outputs[device], &m_prices[first * options_of_group], count * options_of_group);
        }
    }

    std::span<const std::byte> result() const override { return std::as_bytes(std::span(m_prices)); }

    std::string verify() override {
        comparison prices;
        // A tree takes the host half a millisecond and more.
        const std::size_t apart = std::max<std::size_t>(m_count / 1024, 1);
        for (std::size_t i = 0; i < m_count; i += apart)
            // 255 steps, each of which rounds the price of the share, and thereby moves all values.
            prices.add(m_prices[i], price(m_options[i]), 255 * 0x1p-24 * (m_options[i].spot + m_options[i].strike));
        return prices.verdict("prices, by the same tree in double precision");
    }

  private:
    std::size_t m_count = 1024;
    std::size_t m_runs = 100;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of groups
    std::vector<option> m_options;
    std::vector<float> m_prices;
    std::vector<apps::kernel> m_kernels;
    std::vector<apps::buffer> m_inputs, m_outputs;
};

} // namespace

std::unique_ptr<application> make_binomial() { return std::make_unique<binomial>(); }

} // namespace cluster

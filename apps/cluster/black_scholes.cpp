// SPDX-License-Identifier: Apache-2.0
// Prices of European options by the closed formula of Black and Scholes, with the arrays and the repetitions of
// PARSEC's blackscholes. Devices share the options, and have nothing to tell each other.
#include "cluster/application.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cluster {

namespace {

constexpr std::size_t group = 128;

constexpr const char* source = R"(
float normal_distribution(float x)
{
    /* Abramowitz and Stegun, 26.2.17: its error is below 7.5e-8. */
    const float k = 1 / (1 + 0.2316419f * fabs(x));
    const float tail = 0.39894228f * exp(-0.5f * x * x) * k
        * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return x < 0 ? tail : 1 - tail;
}

kernel void price_options(global const float *spots, global const float *strikes, global const float *rates,
                          global const float *volatilities, global const float *years, global const int *puts,
                          global float *prices)
{
    const size_t i = get_global_id(0);
    const float spot = spots[i], time = years[i], rate = rates[i];
    const float spread = volatilities[i] * sqrt(time);
    const float d1 = (log(spot / strikes[i]) + (rate + 0.5f * volatilities[i] * volatilities[i]) * time) / spread;
    const float d2 = d1 - spread;
    const float discounted = strikes[i] * exp(-rate * time);
    prices[i] = puts[i] ? discounted * normal_distribution(-d2) - spot * normal_distribution(-d1)
                        : spot * normal_distribution(d1) - discounted * normal_distribution(d2);
})";

double normal_distribution(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

class black_scholes final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_count, "options, rounded up to 128"}, {"--runs", &m_runs, "how often each is priced"}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        m_count = whole(m_count, group);
        m_shares = devices.shares_of(m_count / group);
        constexpr std::array<std::array<float, 2>, 5> ranges{
            {{20, 180}, {50, 150}, {0.01f, 0.1f}, {0.1f, 0.6f}, {0.1f, 3}}};
        for (std::size_t i = 0; i < ranges.size(); ++i)
            m_inputs[i] = random_numbers(unsigned(i), m_count, ranges[i][0], ranges[i][1]);
        m_puts.resize(m_count);
        for (std::size_t i = 0; i < m_count; ++i) m_puts[i] = random_number(5, i, 0, 1) < 0.5f ? 0 : 1;
        m_prices.resize(m_count);
        m_kernels = devices.create_kernels(source, "price_options");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            auto& buffers = m_buffers.emplace_back();
            for (auto& buffer : buffers)
                buffer = devices.create_buffer(device, m_shares[device].count * group * sizeof(float));
            for (cl_uint i = 0; i < buffers.size(); ++i) {
                cl_mem raw = buffers[i].get();
                apps::check(clSetKernelArg(m_kernels[device].get(), i, sizeof raw, &raw), "clSetKernelArg");
            }
        }
    }

    std::string size() const override {
        return std::to_string(m_count) + " options, " + std::to_string(m_runs) + " times";
    }
    amount work() const override { return {double(m_count) * m_runs, "Moptions", 1e6}; }

    void load() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            const auto [first, count] = m_shares[device];
            for (std::size_t i = 0; i < m_inputs.size(); ++i)
                m_devices->write(device, m_buffers[device][i], &m_inputs[i][first * group], count * group);
            m_devices->write(device, m_buffers[device][5], &m_puts[first * group], count * group);
        }
    }

    void compute() override {
        for (std::size_t run = 0; run < m_runs; ++run)
            for (std::size_t device = 0; device < m_devices->size(); ++device)
                m_devices->run(device, m_kernels[device], {m_shares[device].count * group}, {group});
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->read(device, m_buffers[device][6], &m_prices[m_shares[device].first * group],
                            m_shares[device].count * group);
    }

    std::span<const std::byte> result() const override { return std::as_bytes(std::span(m_prices)); }

    std::string verify() override {
        comparison prices;
        const std::size_t apart = std::max<std::size_t>(m_count >> 20, 1);
        for (std::size_t i = 0; i < m_count; i += apart) {
            const double spot = m_inputs[0][i], strike = m_inputs[1][i], rate = m_inputs[2][i];
            const double volatility = m_inputs[3][i], time = m_inputs[4][i];
            const double spread = volatility * std::sqrt(time);
            const double d1 = (std::log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread;
            const double discounted = strike * std::exp(-rate * time);
            const double call = spot * normal_distribution(d1) - discounted * normal_distribution(d1 - spread);
            // A price is the difference of two numbers of the size of spot and strike, each of which has gone through
            // some ten operations in single precision.
            prices.add(m_prices[i], m_puts[i] ? call - spot + discounted : call, 1e-6 * (spot + strike));
        }
        return prices.verdict("prices, by the formula in double precision");
    }

  private:
    std::size_t m_count = 65536;
    std::size_t m_runs = 100;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of groups
    std::array<std::vector<float>, 5> m_inputs;
    std::vector<cl_int> m_puts;
    std::vector<float> m_prices;
    std::vector<apps::kernel> m_kernels;
    std::vector<std::array<apps::buffer, 7>> m_buffers;
};

} // namespace

std::unique_ptr<application> make_black_scholes() { return std::make_unique<black_scholes>(); }

} // namespace cluster

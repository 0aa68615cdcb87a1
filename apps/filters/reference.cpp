// SPDX-License-Identifier: Apache-2.0
// The filters once more, on the host, each written another way than its kernel.
#include "filters/filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace filters {

gaussian gaussian_of(shape of, float sigma) {
    const float alpha = 1.695f / sigma, ema = std::exp(-alpha), ema2 = std::exp(-2 * alpha);
    gaussian made{};
    made.of = of;
    made.b1 = -2 * ema;
    made.b2 = ema2;
    const float k = (1 - ema) * (1 - ema) / (1 + 2 * alpha * ema - ema2);
    made.a0 = k;
    made.a1 = k * (alpha - 1) * ema;
    made.a2 = k * (alpha + 1) * ema;
    made.a3 = -k * ema2;
    made.coefp = (made.a0 + made.a1) / (1 + made.b1 + made.b2);
    made.coefn = (made.a2 + made.a3) / (1 + made.b1 + made.b2);
    return made;
}

namespace reference {

namespace {

class view {
  public:
    view(const workload& work, const unsigned char* frame) : m_of(work.of), m_frame(frame) {}
    int operator()(int x, int y, int channel) const {
        x = std::clamp(x, 0, m_of.width - 1);
        y = std::clamp(y, 0, m_of.height - 1);
        return m_frame[(std::size_t(y) * m_of.width + x) * m_of.channels + channel];
    }

  private:
    shape m_of;
    const unsigned char* m_frame;
};

template <class Pixel> void each_pixel(const workload& work, unsigned char* result, Pixel pixel) {
    for (int y = 0; y < work.of.height; ++y)
        for (int x = 0; x < work.of.width; ++x)
            for (int channel = 0; channel < work.of.channels; ++channel)
                *result++ = static_cast<unsigned char>(pixel(x, y, channel));
}

void filter_line(const gaussian& by, double* line, int count, int step) {
    std::vector<double> forwards(count), backwards(count);
    const auto at = [&](int i) { return line[std::clamp(i, 0, count - 1) * step]; };
    for (int i = 0; i < count; ++i) {
        const double edge = by.coefp * at(0);
        const double before = i > 0 ? forwards[i - 1] : edge, earlier = i > 1 ? forwards[i - 2] : edge;
        forwards[i] = by.a0 * at(i) + by.a1 * at(i - 1) - by.b1 * before - by.b2 * earlier;
    }
    for (int i = count - 1; i >= 0; --i) {
        const double edge = by.coefn * at(count - 1);
        const double after = i < count - 1 ? backwards[i + 1] : edge, later = i < count - 2 ? backwards[i + 2] : edge;
        backwards[i] = by.a2 * at(i + 1) + by.a3 * at(i + 2) - by.b1 * after - by.b2 * later;
    }
    for (int i = 0; i < count; ++i) line[i * step] = forwards[i] + backwards[i];
}

} // namespace

void box(const workload& work, const unsigned char* frame, unsigned char* result) {
    const int radius = work.of.radius, width = 2 * radius + 1;
    std::vector<unsigned char> rows(work.frame_size());
    const view in(work, frame), between(work, rows.data());
    each_pixel(work, rows.data(), [&](int x, int y, int channel) {
        int sum = 0;
        for (int other = x - radius; other <= x + radius; ++other) sum += in(other, y, channel);
        return sum / width;
    });
    each_pixel(work, result, [&](int x, int y, int channel) {
        int sum = 0;
        for (int other = y - radius; other <= y + radius; ++other) sum += between(x, other, channel);
        return sum / width;
    });
}

void median(const workload& work, const unsigned char* frame, unsigned char* result) {
    const view in(work, frame);
    each_pixel(work, result, [&](int x, int y, int channel) {
        std::array<int, 9> seen;
        for (int i = 0; i < 9; ++i) seen[i] = in(x + i % 3 - 1, y + i / 3 - 1, channel);
        std::nth_element(seen.begin(), seen.begin() + 4, seen.end());
        return seen[4];
    });
}

void recursive_gaussian(const workload& work, const unsigned char* frame, unsigned char* result) {
    const auto by = gaussian_of(work.of, work.sigma);
    const int row = int(work.row_size());
    std::vector<double> values(frame, frame + work.frame_size());
    for (int y = 0; y < work.of.height; ++y)
        for (int channel = 0; channel < work.of.channels; ++channel)
            filter_line(by, &values[std::size_t(y) * row + channel], work.of.width, work.of.channels);
    for (int byte = 0; byte < row; ++byte) filter_line(by, &values[byte], work.of.height, row);
    std::transform(values.begin(), values.end(), result, [](double value) {
        return static_cast<unsigned char>(std::clamp(std::nearbyint(value), 0.0, 255.0));
    });
}

void sobel(const workload& work, const unsigned char* frame, unsigned char* result) {
    const view in(work, frame);
    constexpr int weights[3] = {1, 2, 1};
    each_pixel(work, result, [&](int x, int y, int channel) {
        int across = 0, down = 0;
        for (int i = -1; i <= 1; ++i) {
            across += weights[i + 1] * (in(x + 1, y + i, channel) - in(x - 1, y + i, channel));
            down += weights[i + 1] * (in(x + i, y + 1, channel) - in(x + i, y - 1, channel));
        }
        return std::min(255, (std::abs(across) + std::abs(down)) / 2);
    });
}

} // namespace reference

} // namespace filters

// SPDX-License-Identifier: Apache-2.0
// The kernels that all versions share.
#include "filters/filter.hpp"

namespace filters {

const char* const kernel_source = R"(
struct shape { int width, height, channels, radius; };
struct gaussian { struct shape of; float a0, a1, a2, a3, b1, b2, coefp, coefn; };

int at(global const uchar *frame, struct shape of, int x, int y, int channel)
{
    return frame[(clamp(y, 0, of.height - 1) * of.width + clamp(x, 0, of.width - 1)) * of.channels + channel];
}

// The mean of 2 radius + 1 pixels of a row. One work item for each byte.
kernel void box_rows(struct shape of, global const uchar *in, global uchar *out)
{
    int byte = get_global_id(0), y = get_global_id(1);
    int x = byte / of.channels, channel = byte % of.channels, sum = 0;
    for (int dx = -of.radius; dx <= of.radius; ++dx)
        sum += at(in, of, x + dx, y, channel);
    out[y * of.width * of.channels + byte] = sum / (2 * of.radius + 1);
}

kernel void box_columns(struct shape of, global const uchar *in, global uchar *out)
{
    int byte = get_global_id(0), y = get_global_id(1);
    int x = byte / of.channels, channel = byte % of.channels, sum = 0;
    for (int dy = -of.radius; dy <= of.radius; ++dy)
        sum += at(in, of, x, y + dy, channel);
    out[y * of.width * of.channels + byte] = sum / (2 * of.radius + 1);
}

// The middle one of 3 x 3 pixels: the value that has at most four below and at least five not above.
kernel void median(struct shape of, global const uchar *in, global uchar *out)
{
    int byte = get_global_id(0), y = get_global_id(1);
    int x = byte / of.channels, channel = byte % of.channels;
    int seen[9], n = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            seen[n++] = at(in, of, x + dx, y + dy, channel);
    int middle = 0;
    for (int i = 0; i < 9; ++i) {
        int below = 0, same = 0;
        for (int j = 0; j < 9; ++j) {
            below += seen[j] < seen[i];
            same += seen[j] == seen[i];
        }
        if (below <= 4 && below + same >= 5)
            middle = seen[i];
    }
    out[y * of.width * of.channels + byte] = middle;
}

kernel void sobel(struct shape of, global const uchar *in, global uchar *out)
{
    int byte = get_global_id(0), y = get_global_id(1);
    int x = byte / of.channels, c = byte % of.channels;
    int across = at(in, of, x + 1, y - 1, c) + 2 * at(in, of, x + 1, y, c) + at(in, of, x + 1, y + 1, c)
               - at(in, of, x - 1, y - 1, c) - 2 * at(in, of, x - 1, y, c) - at(in, of, x - 1, y + 1, c);
    int down = at(in, of, x - 1, y + 1, c) + 2 * at(in, of, x, y + 1, c) + at(in, of, x + 1, y + 1, c)
             - at(in, of, x - 1, y - 1, c) - 2 * at(in, of, x, y - 1, c) - at(in, of, x + 1, y - 1, c);
    out[y * of.width * of.channels + byte] = min(255u, (abs(across) + abs(down)) / 2);
}

// Forwards into `out`, then backwards on top of it. One work item for each line of one channel: rows of bytes first,
// columns of floats then.
kernel void gaussian_rows(struct gaussian by, global const uchar *in, global float *out)
{
    int step = by.of.channels, last = by.of.width - 1;
    int first = get_global_id(0) / step * by.of.width * step + get_global_id(0) % step;
    float xp = in[first], yp = by.coefp * xp, yb = yp;
    for (int i = 0; i <= last; ++i) {
        float x = in[first + i * step], y = by.a0 * x + by.a1 * xp - by.b1 * yp - by.b2 * yb;
        out[first + i * step] = y;
        xp = x; yb = yp; yp = y;
    }
    float xn = in[first + last * step], xa = xn, yn = by.coefn * xn, ya = yn;
    for (int i = last; i >= 0; --i) {
        float x = in[first + i * step], y = by.a2 * xn + by.a3 * xa - by.b1 * yn - by.b2 * ya;
        out[first + i * step] += y;
        xa = xn; xn = x; ya = yn; yn = y;
    }
}

kernel void gaussian_columns(struct gaussian by, global const float *in, global float *out)
{
    int step = by.of.width * by.of.channels, last = by.of.height - 1, first = get_global_id(0);
    float xp = in[first], yp = by.coefp * xp, yb = yp;
    for (int i = 0; i <= last; ++i) {
        float x = in[first + i * step], y = by.a0 * x + by.a1 * xp - by.b1 * yp - by.b2 * yb;
        out[first + i * step] = y;
        xp = x; yb = yp; yp = y;
    }
    float xn = in[first + last * step], xa = xn, yn = by.coefn * xn, ya = yn;
    for (int i = last; i >= 0; --i) {
        float x = in[first + i * step], y = by.a2 * xn + by.a3 * xa - by.b1 * yn - by.b2 * ya;
        out[first + i * step] += y;
        xa = xn; xn = x; ya = yn; yn = y;
    }
}

kernel void to_bytes(global const float *in, global uchar *out)
{
    out[get_global_id(0)] = convert_uchar_sat_rte(in[get_global_id(0)]);
}
)";

} // namespace filters

// SPDX-License-Identifier: Apache-2.0
// The kernels of both versions. A frame is a line of text, the plane of luma and two of colour.
#include "video/video.hpp"

namespace video {

const char* const kernel_source = R"(
struct shape { int header, width, height, chroma_width, chroma_height, threshold; };

int luma(global const uchar *frame, struct shape of, int x, int y)
{
    return frame[of.header + clamp(y, 0, of.height - 1) * of.width + clamp(x, 0, of.width - 1)];
}

// The middle one of 3 x 3 values of luma: of each of three columns the lowest, middle and highest, then the middle one
// of the highest of the lowest, the middle of the middle and the lowest of the highest. One work item for each byte.
kernel void denoise(struct shape of, global const uchar *in, global uchar *out)
{
    int byte = get_global_id(0), pixel = byte - of.header;
    if (pixel < 0 || pixel >= of.width * of.height) {
        out[byte] = in[byte];
        return;
    }
    int x = pixel % of.width, y = pixel / of.width;
    int low = 0, high = 255, a[3];
    for (int dx = -1; dx <= 1; ++dx) {
        int p = luma(in, of, x + dx, y - 1), q = luma(in, of, x + dx, y), r = luma(in, of, x + dx, y + 1);
        low = max(low, min(p, min(q, r)));
        high = min(high, max(p, max(q, r)));
        a[dx + 1] = max(min(p, q), min(max(p, q), r));
    }
    int middle = max(min(a[0], a[1]), min(max(a[0], a[1]), a[2]));
    out[byte] = max(min(low, middle), min(max(low, middle), high));
}

// Sobel's operator. One work item for each pixel.
kernel void edges(struct shape of, global const uchar *in, global uchar *out)
{
    int pixel = get_global_id(0), x = pixel % of.width, y = pixel / of.width;
    int across = luma(in, of, x + 1, y - 1) + 2 * luma(in, of, x + 1, y) + luma(in, of, x + 1, y + 1)
               - luma(in, of, x - 1, y - 1) - 2 * luma(in, of, x - 1, y) - luma(in, of, x - 1, y + 1);
    int down = luma(in, of, x - 1, y + 1) + 2 * luma(in, of, x, y + 1) + luma(in, of, x + 1, y + 1)
             - luma(in, of, x - 1, y - 1) - 2 * luma(in, of, x, y - 1) - luma(in, of, x + 1, y - 1);
    out[pixel] = min(255u, (abs(across) + abs(down)) / 2);
}

// Edges in red, on top of the frame. One work item for each byte.
kernel void overlay(struct shape of, global const uchar *frame, global const uchar *edge, global uchar *out)
{
    int byte = get_global_id(0), pixel = byte - of.header, size = of.width * of.height;
    uchar value = frame[byte];
    if (pixel >= 0 && pixel < size) {
        if (edge[pixel] > of.threshold)
            value = 90;
    } else if (pixel >= size) {
        int chroma_size = of.chroma_width * of.chroma_height, sample = (pixel - size) % chroma_size;
        int x = sample % of.chroma_width * of.width / of.chroma_width;
        int y = sample / of.chroma_width * of.height / of.chroma_height;
        if (edge[y * of.width + x] > of.threshold)
            value = pixel - size < chroma_size ? 100 : 230;
    }
    out[byte] = value;
}
)";

} // namespace video

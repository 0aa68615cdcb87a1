// SPDX-License-Identifier: Apache-2.0
// A film to try things on, always the same: a ball jumps before a wall of bricks, and the camera is noisy.
#include "video/video.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

namespace video {

namespace {

struct closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

struct colour {
    int y, u, v;
};

colour wall(int x, int y, int brick)
{
    const int row = y / brick, column = (x + row % 2 * brick) / (2 * brick);
    const bool gap = y % brick < brick / 8 + 1 || (x + row % 2 * brick) % (2 * brick) < brick / 8 + 1;
    return gap ? colour{170, 128, 128} : colour{95 + (row * 7 + column * 13) % 4 * 8, 118, 150};
}

} // namespace

void make_film(const std::string &path, int width, int height, int frames)
{
    const std::unique_ptr<std::FILE, closer> to(std::fopen(path.c_str(), "wb"));
    if (!to)
        throw std::runtime_error("cannot make " + path);
    const auto format = apps::make_video_format(width, height, apps::video_format::chroma::quarter);
    std::fputs(format.header.c_str(), to.get());
    std::vector<unsigned char> pixels(format.pixels_size());
    const int radius = height / 5, brick = height / 12 + 4;
    unsigned noise = 1;
    for (int frame = 0; frame < frames; ++frame) {
        const int centre_x = (frame * width / 100 + width / 4) % width;
        const int centre_y = height - radius - int(std::abs(std::sin(frame * 0.12)) * (height - 2 * radius));
        const auto seen = [&](int x, int y) {
            const int dx = x - centre_x, dy = y - centre_y;
            if (dx * dx + dy * dy > radius * radius)
                return wall(x, y, brick);
            return colour{210 - 60 * (dx + dy + 2 * radius) / (4 * radius), 90, 140};
        };
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                noise = noise * 1664525 + 1013904223;
                // Each 16th pixel is lost, the others tremble a little.
                const int value =
                    noise >> 28 == 0 ? (noise >> 20 & 128 ? 235 : 16) : seen(x, y).y + int(noise >> 16 & 7) - 3;
                pixels[std::size_t(y) * width + x] = static_cast<unsigned char>(value);
            }
        auto *const u = pixels.data() + format.luma_size();
        auto *const v = u + std::size_t(format.chroma_width()) * format.chroma_height();
        for (int y = 0; y < format.chroma_height(); ++y)
            for (int x = 0; x < format.chroma_width(); ++x) {
                const auto here = seen(2 * x, 2 * y);
                u[std::size_t(y) * format.chroma_width() + x] = static_cast<unsigned char>(here.u);
                v[std::size_t(y) * format.chroma_width() + x] = static_cast<unsigned char>(here.v);
            }
        std::fputs("FRAME\n", to.get());
        std::fwrite(pixels.data(), 1, pixels.size(), to.get());
    }
    if (std::fflush(to.get()) != 0 || std::ferror(to.get()))
        throw std::runtime_error("cannot write " + path);
}

} // namespace video

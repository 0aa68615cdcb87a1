// SPDX-License-Identifier: Apache-2.0
// A film to try things on, always the same: a ball jumps before a wall of bricks, and the camera is noisy. And a sum of
// all bytes of a film, for films that are too long to keep.
#include "video/video.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace video {

namespace {

struct colour {
    int y, u, v;
};

colour wall(int x, int y, int brick) {
    const int row = y / brick, column = (x + row % 2 * brick) / (2 * brick);
    const bool gap = y % brick < brick / 8 + 1 || (x + row % 2 * brick) % (2 * brick) < brick / 8 + 1;
    return gap ? colour{170, 128, 128} : colour{95 + (row * 7 + column * 13) % 4 * 8, 118, 150};
}

/// One after another: the noise of a frame goes on where that of the one before ended.
class painter {
  public:
    explicit painter(const apps::video_format& format)
        : m_format(format), m_radius(format.height / 5), m_brick(format.height / 12 + 4) {}

    void paint(std::uint64_t number, unsigned char* pixels) {
        const int width = m_format.width, height = m_format.height;
        const int frame = int(number % 1000000);
        m_centre_x = (frame * width / 100 + width / 4) % width;
        m_centre_y = height - m_radius - int(std::abs(std::sin(frame * 0.12)) * (height - 2 * m_radius));
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                m_noise = m_noise * 1664525 + 1013904223;
                // Each 16th pixel is lost, the others tremble a little.
                const int value = m_noise >> 28 == 0 ? (m_noise >> 20 & 128 ? 235 : 16)
                                                     : seen(x, y).y + int(m_noise >> 16 & 7) - 3;
                pixels[std::size_t(y) * width + x] = static_cast<unsigned char>(value);
            }
        auto* const u = pixels + m_format.luma_size();
        auto* const v = u + std::size_t(m_format.chroma_width()) * m_format.chroma_height();
        for (int y = 0; y < m_format.chroma_height(); ++y)
            for (int x = 0; x < m_format.chroma_width(); ++x) {
                const auto here = seen(2 * x, 2 * y);
                u[std::size_t(y) * m_format.chroma_width() + x] = static_cast<unsigned char>(here.u);
                v[std::size_t(y) * m_format.chroma_width() + x] = static_cast<unsigned char>(here.v);
            }
    }

  private:
    [[nodiscard]] colour seen(int x, int y) const {
        const int dx = x - m_centre_x, dy = y - m_centre_y;
        if (dx * dx + dy * dy > m_radius * m_radius) return wall(x, y, m_brick);
        return {210 - 60 * (dx + dy + 2 * m_radius) / (4 * m_radius), 90, 140};
    }

    const apps::video_format& m_format;
    int m_radius, m_brick, m_centre_x = 0, m_centre_y = 0;
    unsigned m_noise = 1;
};

/// The lowest bits of the number as squares of 8 x 8 pixels, as many as the frame is wide enough for. Kernels that look
/// at neighbours leave their middles as they are.
void write_number(std::uint64_t number, const apps::video_format& format, unsigned char* pixels) {
    for (int bit = 0; bit < 32 && bit * 8 + 8 <= format.width; ++bit)
        for (int y = 0; y < 8; ++y)
            std::memset(pixels + std::size_t(y) * format.width + bit * 8, number >> bit & 1 ? 235 : 16, 8);
}

} // namespace

void make_film(std::FILE* to, const made_film& wanted) {
    const auto format = apps::make_video_format(wanted.width, wanted.height, apps::video_format::chroma::quarter);
    std::fputs(format.header.c_str(), to);
    painter hand(format);
    const auto pictures = std::clamp<std::uint64_t>(wanted.cycle, 1, std::max<std::uint64_t>(wanted.frames, 1));
    const std::string begin = "FRAME\n";
    std::vector<unsigned char> all(pictures * format.frame_size());
    for (std::uint64_t number = 0; number < wanted.frames; ++number) {
        auto* const frame = all.data() + number % pictures * format.frame_size();
        auto* const pixels = frame + begin.size();
        if (wanted.cycle == 0 || number < pictures) {
            std::memcpy(frame, begin.data(), begin.size());
            hand.paint(number, pixels);
        }
        if (wanted.cycle != 0) write_number(number, format, pixels);
        if (std::fwrite(frame, 1, format.frame_size(), to) != format.frame_size()) break;
    }
    if (std::fflush(to) != 0 || std::ferror(to)) throw std::runtime_error("cannot write the film");
}

film_sum sum_film(std::FILE* from, const std::string& name) {
    const auto format = apps::read_video_header(from, name);
    film_sum made;
    // Four sums side by side, as one alone would wait for its multiplications.
    std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
    const std::size_t padded = (format.frame_size() + sizeof sums - 1) / sizeof sums * sizeof sums;
    std::vector<unsigned char> frame(padded);
    while (const auto got = std::fread(frame.data(), 1, format.frame_size(), from)) {
        if (got != format.frame_size()) throw std::runtime_error(name + " ends within a frame");
        for (std::size_t at = 0; at < padded; at += sizeof sums) {
            std::array<std::uint64_t, 4> words;
            std::memcpy(words.data(), frame.data() + at, sizeof words);
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] = std::rotl(sums[i] ^ words[i], 29) * 0x9E3779B97F4A7C15;
        }
        ++made.frames;
        made.bytes += got;
    }
    for (const auto each : sums) made.sum = std::rotl(made.sum, 17) * 0x9E3779B97F4A7C15 + each;
    return made;
}

} // namespace video

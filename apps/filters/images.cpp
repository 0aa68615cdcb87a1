// SPDX-License-Identifier: Apache-2.0
// Reads and writes PGM, PPM and Y4M, and makes frames to try filters on.
#include "filters/images.hpp"

#include "common/program.hpp"
#include "common/y4m.hpp"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace filters {

namespace {

/// A number of the header, after white space and comments.
int header_number(std::FILE* from, const std::string& path) {
    int letter = std::fgetc(from);
    while (std::isspace(letter) || letter == '#') {
        while (letter == '#' && letter != EOF) do
                letter = std::fgetc(from);
            while (letter != '\n' && letter != EOF);
        letter = std::fgetc(from);
    }
    int value = 0;
    if (!std::isdigit(letter)) throw std::runtime_error(path + ": the header of an image is damaged");
    for (; std::isdigit(letter) && value < 100000; letter = std::fgetc(from)) value = value * 10 + (letter - '0');
    return value;
}

images read_film(std::FILE* from, const std::string& path) {
    const auto format = apps::read_video_header(from, path);
    images all{format.width, format.height, 1, true, {}};
    std::vector<unsigned char> frame(format.frame_size());
    while (const auto got = std::fread(frame.data(), 1, frame.size(), from)) {
        if (got != frame.size() || std::memcmp(frame.data(), "FRAME\n", apps::video_format::frame_header_size) != 0)
            throw std::runtime_error(path + " ends within a frame");
        const auto luma = frame.begin() + apps::video_format::frame_header_size;
        all.pixels.insert(all.pixels.end(), luma, luma + static_cast<std::ptrdiff_t>(all.frame_size()));
    }
    return all;
}

} // namespace

images read_images(const std::string& path) {
    const auto from = apps::open_file(path, "rb");
    const int first = std::fgetc(from.get());
    std::ungetc(first, from.get());
    if (first == 'Y') return read_film(from.get(), path);
    images all;
    for (int letter = std::fgetc(from.get()); letter != EOF; letter = std::fgetc(from.get())) {
        const int kind = std::fgetc(from.get());
        if (letter != 'P' || (kind != '5' && kind != '6'))
            throw std::runtime_error(path + " is no binary PGM or PPM file");
        const int width = header_number(from.get(), path), height = header_number(from.get(), path);
        const int largest = header_number(from.get(), path), channels = kind == '5' ? 1 : 3;
        if (width < 1 || height < 1 || largest != 255)
            throw std::runtime_error(path + ": only images of 8 bits that are not empty");
        if (all.width != 0 && (all.width != width || all.height != height || all.channels != channels))
            throw std::runtime_error(path + ": its images have different sizes or kinds");
        all.width = width;
        all.height = height;
        all.channels = channels;
        const auto before = all.pixels.size();
        all.pixels.resize(before + all.frame_size());
        if (std::fread(&all.pixels[before], 1, all.frame_size(), from.get()) != all.frame_size())
            throw std::runtime_error(path + " ends within an image");
    }
    if (all.count() == 0) throw std::runtime_error(path + " holds no image");
    return all;
}

void write_images(const std::string& path, const images& written) {
    const auto to = apps::open_file(path, "wb");
    if (written.film)
        std::fputs(
            apps::make_video_format(written.width, written.height, apps::video_format::chroma::none).header.c_str(),
            to.get());
    for (std::size_t frame = 0; frame < written.count(); ++frame) {
        if (written.film)
            std::fputs("FRAME\n", to.get());
        else
            std::fprintf(to.get(), "P%d\n%d %d\n255\n", written.channels == 1 ? 5 : 6, written.width, written.height);
        std::fwrite(&written.pixels[frame * written.frame_size()], 1, written.frame_size(), to.get());
    }
    if (std::fflush(to.get()) != 0 || std::ferror(to.get())) throw std::runtime_error("cannot write " + path);
}

const char* ending_of(const images& written) { return written.film ? ".y4m" : written.channels == 1 ? ".pgm" : ".ppm"; }

images make_images(int width, int height, int channels, std::size_t count) {
    images made{width, height, channels, false, {}};
    made.pixels.reserve(made.frame_size() * count);
    unsigned noise = 1;
    for (std::size_t frame = 0; frame < count; ++frame)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const long dx = x - long(frame * 7 % std::size_t(width)), dy = y - height / 2;
                const bool inside = dx * dx + dy * dy < long(height) * height / 16;
                noise = noise * 1664525 + 1013904223;
                for (int channel = 0; channel < channels; ++channel)
                    made.pixels.push_back(
                        static_cast<unsigned char>((inside ? 200 - 40 * channel : (x / 3 + y) % 120) + (noise >> 28)));
            }
    return made;
}

} // namespace filters

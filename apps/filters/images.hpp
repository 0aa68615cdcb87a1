// SPDX-License-Identifier: Apache-2.0
// Binary PGM and PPM files of 8 bits, alone or as a sequence of frames in one file, and the luma of Y4M films.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace filters {

struct images {
    int width = 0, height = 0, channels = 0; ///< 1: grey, 3: red, green, blue
    bool film = false;                       ///< from a Y4M file, or for one
    std::vector<unsigned char> pixels;       ///< all frames

    [[nodiscard]] std::size_t frame_size() const { return std::size_t(width) * height * channels; }
    [[nodiscard]] std::size_t count() const { return frame_size() == 0 ? 0 : pixels.size() / frame_size(); }
};

/// All images of a file, which must have one size and kind. Throws std::runtime_error.
[[nodiscard]] images read_images(const std::string& path);
/// Writes PGM, PPM or, for a film, grey Y4M.
void write_images(const std::string& path, const images& written);
[[nodiscard]] const char* ending_of(const images& written);
/// A disc that moves over a pattern with a little noise.
[[nodiscard]] images make_images(int width, int height, int channels, std::size_t count);

} // namespace filters

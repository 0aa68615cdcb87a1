// SPDX-License-Identifier: Apache-2.0
// YUV4MPEG2 files (Y4M): one header line, then frames of 8-bit planes, each behind the line "FRAME".
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace apps {

struct video_format {
    enum class chroma { none, quarter, full };

    int width = 0, height = 0;
    chroma planes = chroma::quarter; ///< of the two planes of colour: none, of half the size in each direction, or as
                         ///< luma
    std::string header;              ///< the first line, with its end

    static constexpr std::size_t frame_header_size = 6; ///< "FRAME\n"

    [[nodiscard]] int chroma_width() const {
        return planes == chroma::none ? 0 : planes == chroma::full ? width : (width + 1) / 2;
    }
    [[nodiscard]] int chroma_height() const {
        return planes == chroma::none ? 0 : planes == chroma::full ? height : (height + 1) / 2;
    }
    [[nodiscard]] std::size_t luma_size() const { return std::size_t(width) * height; }
    [[nodiscard]] std::size_t pixels_size() const {
        return luma_size() + 2 * std::size_t(chroma_width()) * chroma_height();
    }
    /// A frame with its line.
    [[nodiscard]] std::size_t frame_size() const { return frame_header_size + pixels_size(); }
};

/// Reads the first line; the stream is at the first frame then. Throws std::runtime_error, with `name`, for what is no
/// Y4M file of 8 bits in 4:2:0, 4:4:4 or grey.
[[nodiscard]] video_format read_video_header(std::FILE* from, const std::string& name);
/// Of a film with 25 frames in a second.
[[nodiscard]] video_format make_video_format(int width, int height, video_format::chroma planes);

} // namespace apps

// SPDX-License-Identifier: Apache-2.0
// Understands the first line of a Y4M file.
#include "common/y4m.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace apps {

video_format read_video_header(std::FILE* from, const std::string& name) {
    video_format format;
    for (int letter = std::fgetc(from); letter != EOF && format.header.size() < 1024; letter = std::fgetc(from)) {
        format.header += static_cast<char>(letter);
        if (letter == '\n') break;
    }
    std::istringstream words(format.header);
    std::string word;
    words >> word;
    if (word != "YUV4MPEG2" || format.header.back() != '\n') throw std::runtime_error(name + " is no Y4M file");
    while (words >> word) {
        const std::string value = word.substr(1);
        if (word[0] == 'W')
            format.width = std::atoi(value.c_str());
        else if (word[0] == 'H')
            format.height = std::atoi(value.c_str());
        else if (word[0] == 'C') {
            if (value == "mono")
                format.planes = video_format::chroma::none;
            else if (value == "444")
                format.planes = video_format::chroma::full;
            else if (value == "420" || value == "420jpeg" || value == "420mpeg2" || value == "420paldv")
                format.planes = video_format::chroma::quarter;
            else
                throw std::runtime_error(name + ": colours of the kind " + value +
                                         " are not supported (420, 444, mono)");
        }
    }
    if (format.width < 1 || format.height < 1 || format.width > 32768 || format.height > 32768)
        throw std::runtime_error(name + ": the header gives no size");
    return format;
}

video_format make_video_format(int width, int height, video_format::chroma planes) {
    video_format format{width, height, planes, {}};
    const char* kind = planes == video_format::chroma::none   ? "mono"
                       : planes == video_format::chroma::full ? "444"
                                                              : "420jpeg";
    format.header = "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " F25:1 Ip A1:1 C" + kind +
                    "\n";
    return format;
}

} // namespace apps

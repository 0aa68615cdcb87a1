// SPDX-License-Identifier: Apache-2.0
// The problem that both versions solve: a film without noise, its edges drawn on top of it.
#pragma once

#include "common/opencl.hpp"
#include "common/y4m.hpp"

#include <cstdio>
#include <string>

namespace video {

/// What every kernel gets by value. As in kernels.cpp.
struct shape {
    int header, width, height, chroma_width, chroma_height, threshold;
};

extern const char *const kernel_source;

struct film {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    cl_program program = nullptr;
    apps::video_format format;
    shape of{};
    std::FILE *input = nullptr, *output = nullptr; // both at their first frame
};

/// Frame by frame: read, copy in, three kernels, copy out, write.
void run_plain(const film &work);
/// The same as one graph between the two files. Returns what the graph says of itself.
std::string run_graph(const film &work);

/// Writes a film of a ball over a wall, with noise.
void make_film(const std::string &path, int width, int height, int frames);

} // namespace video

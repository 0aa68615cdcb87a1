// SPDX-License-Identifier: Apache-2.0
// The problem that both versions solve: a film without noise, its edges drawn on top of it.
#pragma once

#include "common/opencl.hpp"
#include "common/y4m.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace video {

/// What every kernel gets by value. As in kernels.cpp.
struct shape {
    int header, width, height, chroma_width, chroma_height, threshold;
};

extern const char* const kernel_source;

struct film {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    cl_program program = nullptr;
    apps::video_format format;
    shape of{};
    std::FILE *input = nullptr, *output = nullptr; // both at their first frame
    /// Shows progress for as long as its result lives; `done` says how many frames there are.
    std::function<std::shared_ptr<void>(std::function<std::uint64_t()> done)> watch;
};

struct outcome {
    std::uint64_t frames = 0;
    std::string explained; ///< what a graph says of itself
};

/// Frame by frame: read, copy in, three kernels, copy out, write.
outcome run_plain(const film& work);
/// The same as one graph between the two files.
outcome run_graph(const film& work);

struct made_film {
    int width, height;
    std::uint64_t frames;
    /// If not 0, after so many frames the pictures come again from memory, as fast as they can be written, and each
    /// frame bears its number in black and white, so that all differ.
    int cycle;
};
/// Writes a film of a ball over a wall, with noise.
void make_film(std::FILE* to, const made_film& wanted);

struct film_sum {
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t sum = 0; ///< of all bytes, in their order
};
/// Reads a film to its end and sums it up.
film_sum sum_film(std::FILE* from, const std::string& name);

} // namespace video

// SPDX-License-Identifier: Apache-2.0
// A stream graph: frames of a film are blurred and their edges found, without a line about buffers, copies or queues.
// docs/graph.md explains it step by step.
#include "example.h"

#include <causeway/graph.hpp>

#include <algorithm>
#include <vector>

namespace {

constexpr int width = 320, height = 180, frames = 48;
constexpr size_t frame_size = size_t(width) * height;

const char* const source = R"(
struct picture { int width, height; };

int pixel(global const uchar *frame, struct picture of, int x, int y)
{
    return frame[clamp(y, 0, of.height - 1) * of.width + clamp(x, 0, of.width - 1)];
}

kernel void blur(struct picture of, global const uchar *frame, global uchar *blurred)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum += pixel(frame, of, x + dx, y + dy);
    blurred[y * of.width + x] = sum / 9;
}

kernel void edges(struct picture of, global const uchar *frame, global uchar *found)
{
    int x = get_global_id(0), y = get_global_id(1);
    int across = pixel(frame, of, x + 1, y) - pixel(frame, of, x - 1, y);
    int down = pixel(frame, of, x, y + 1) - pixel(frame, of, x, y - 1);
    found[y * of.width + x] = min(255u, abs(across) + abs(down));
}
)";

struct picture {
    int width, height;
};

using film = std::vector<unsigned char>;

int pixel(const unsigned char* frame, int x, int y) {
    return frame[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
}

// What the graph must find, computed the slow way.
film expected_edges(const film& input) {
    film found(input.size());
    film blurred(frame_size);
    for (size_t first = 0; first < input.size(); first += frame_size) {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                int sum = 0;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) sum += pixel(&input[first], x + dx, y + dy);
                blurred[y * width + x] = static_cast<unsigned char>(sum / 9);
            }
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const int across = pixel(blurred.data(), x + 1, y) - pixel(blurred.data(), x - 1, y);
                const int down = pixel(blurred.data(), x, y + 1) - pixel(blurred.data(), x, y - 1);
                found[first + y * width + x] = static_cast<unsigned char>(
                    std::min(255, std::abs(across) + std::abs(down)));
            }
    }
    return found;
}

// A disc that moves over a pattern.
film make_film() {
    film made(frames * frame_size);
    for (int frame = 0; frame < frames; ++frame)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const int dx = x - frame * 6, dy = y - height / 2;
                made[frame * frame_size + y * width + x] = static_cast<unsigned char>(
                    dx * dx + dy * dy < 40 * 40 ? 220 : (x * x / 40 + y * 3) % 120);
            }
    return made;
}

} // namespace

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    const film input = make_film();
    film found(input.size());

    causeway_kernel blur = {}, edges = {};
    blur.source = edges.source = source;
    blur.function = "blur";
    edges.function = "edges";
    for (causeway_kernel* each : {&blur, &edges}) {
        each->work_dim = 2;
        each->global_size[0] = width;
        each->global_size[1] = height;
    }

    try {
        causeway::stream_graph graph(with.context, with.device);
        graph.add_input_stream("film", input.data(), input.size(), frame_size);
        graph.add_output_stream("found", found.data(), found.size(), frame_size);
        graph.add_kernel("blur", blur, picture{width, height});
        graph.add_kernel("edges", edges, picture{width, height});
        graph.connect("film", "blur", frame_size);
        graph.connect("blur", "edges", frame_size);
        graph.connect("edges", "found", frame_size);
        graph.initialize();
        graph.execute();
        if (with.rank == 0) printf("%s", graph.explain().c_str());
    } catch (const causeway::graph_error& error) {
        fprintf(stderr, "%s (%d)\n", error.what(), error.code());
        example_abort();
    }

    return example_end(&with, "stream graph", found == expected_edges(input));
}

// SPDX-License-Identifier: Apache-2.0
// From file to file as one graph: frames are tokens, read ahead and written behind.
#include "video/video.hpp"

#include <causeway/graph.hpp>

namespace video {

outcome run_graph(const film& work) {
    const std::size_t frame = work.format.frame_size(), luma = work.format.luma_size();
    const auto denoise = apps::create_kernel(work.program, "denoise");
    const auto edges = apps::create_kernel(work.program, "edges");
    const auto overlay = apps::create_kernel(work.program, "overlay");
    const auto code = [&](const apps::kernel& kernel) {
        causeway_kernel made{};
        made.kernel = kernel.get();
        made.device = work.device;
        made.item_size = 1; // one work item for each byte
        return made;
    };
    causeway::stream_graph graph(work.context, work.device);
    graph.add_input_stream("film", work.input, frame);
    graph.add_output_stream("result", work.output, frame);
    graph.add_kernel("denoise", code(denoise), work.of);
    graph.add_kernel("edges", code(edges), work.of);
    graph.add_kernel("overlay", code(overlay), work.of);
    graph.connect("film", "denoise", frame);
    graph.connect("denoise", "edges", frame);
    graph.connect("denoise", 0, "overlay", 0, frame);
    graph.connect("edges", 0, "overlay", 1, luma);
    graph.connect("overlay", "result", frame);
    graph.initialize();
    const auto shown = work.watch([&graph] { return graph.token_count("result"); });
    graph.execute();
    return {graph.token_count("result"), graph.explain()};
}

} // namespace video

// SPDX-License-Identifier: Apache-2.0
// As stream graphs: what there is to say is which kernel follows which.
#include "filters/filter.hpp"

#include <causeway/graph.hpp>

namespace filters::graph {

namespace {

causeway_kernel code(const workload& work, const apps::kernel& kernel, std::initializer_list<std::size_t> global) {
    causeway_kernel made{};
    made.kernel = kernel.get();
    made.context = work.context;
    made.device = work.device;
    for (const std::size_t size : global) made.global_size[made.work_dim++] = size;
    return made;
}

} // namespace

double box(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto rows = apps::create_kernel(work.program, "box_rows");
    const auto columns = apps::create_kernel(work.program, "box_columns");
    // communication begin box
    causeway::stream_graph graph(work.context, work.device);
    graph.add_input_stream("input", work.input, work.frames * size, size);
    graph.add_output_stream("output", work.output, work.frames * size, size);
    graph.use_page_locked("input");
    graph.use_page_locked("output");
    graph.add_kernel("rows", code(work, rows, {work.row_size(), height}), work.of);
    graph.add_kernel("columns", code(work, columns, {work.row_size(), height}), work.of);
    graph.connect("input", "rows", size);
    graph.connect("rows", "columns", size);
    graph.connect("columns", "output", size);
    graph.initialize();
    const stopwatch watch;
    graph.execute();
    const double seconds = watch.seconds();
    // communication end box
    return seconds;
}

double median(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto middle = apps::create_kernel(work.program, "median");
    // communication begin median
    causeway::stream_graph graph(work.context, work.device);
    graph.add_input_stream("input", work.input, work.frames * size, size);
    graph.add_output_stream("output", work.output, work.frames * size, size);
    graph.use_page_locked("input");
    graph.use_page_locked("output");
    graph.add_kernel("middle", code(work, middle, {work.row_size(), height}), work.of);
    graph.connect("input", "middle", size);
    graph.connect("middle", "output", size);
    graph.initialize();
    const stopwatch watch;
    graph.execute();
    const double seconds = watch.seconds();
    // communication end median
    return seconds;
}

double recursive_gaussian(const workload& work) {
    const gaussian by = gaussian_of(work.of, work.sigma);
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto rows = apps::create_kernel(work.program, "gaussian_rows");
    const auto columns = apps::create_kernel(work.program, "gaussian_columns");
    const auto bytes = apps::create_kernel(work.program, "to_bytes");
    // communication begin recursive_gaussian
    causeway::stream_graph graph(work.context, work.device);
    graph.add_input_stream("input", work.input, work.frames * size, size);
    graph.add_output_stream("output", work.output, work.frames * size, size);
    graph.use_page_locked("input");
    graph.use_page_locked("output");
    graph.add_kernel("rows", code(work, rows, {height * work.of.channels}), by);
    graph.add_kernel("columns", code(work, columns, {work.row_size()}), by);
    graph.add_kernel("bytes", code(work, bytes, {size}));
    graph.connect("input", "rows", size);
    graph.connect("rows", "columns", size * sizeof(float));
    graph.connect("columns", "bytes", size * sizeof(float));
    graph.connect("bytes", "output", size);
    graph.initialize();
    const stopwatch watch;
    graph.execute();
    const double seconds = watch.seconds();
    // communication end recursive_gaussian
    return seconds;
}

double sobel(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto edges = apps::create_kernel(work.program, "sobel");
    // communication begin sobel
    causeway::stream_graph graph(work.context, work.device);
    graph.add_input_stream("input", work.input, work.frames * size, size);
    graph.add_output_stream("output", work.output, work.frames * size, size);
    graph.use_page_locked("input");
    graph.use_page_locked("output");
    graph.add_kernel("edges", code(work, edges, {work.row_size(), height}), work.of);
    graph.connect("input", "edges", size);
    graph.connect("edges", "output", size);
    graph.initialize();
    const stopwatch watch;
    graph.execute();
    const double seconds = watch.seconds();
    // communication end sobel
    return seconds;
}

} // namespace filters::graph

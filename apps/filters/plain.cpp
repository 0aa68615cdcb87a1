// SPDX-License-Identifier: Apache-2.0
// As anybody writes it: one queue, one buffer for each thing, blocking copies.
#include "filters/filter.hpp"

namespace filters::plain {

double box(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto queue = apps::create_in_order_queue(work.context, work.device);
    const auto rows = apps::create_kernel(work.program, "box_rows");
    const auto columns = apps::create_kernel(work.program, "box_columns");
    // communication begin box
    const auto input = apps::create_buffer(work.context, size);
    const auto after_rows = apps::create_buffer(work.context, size);
    const auto output = apps::create_buffer(work.context, size);
    apps::set_arguments(rows.get(), work.of, input.get(), after_rows.get());
    apps::set_arguments(columns.get(), work.of, after_rows.get(), output.get());
    const std::size_t rows_work[] = {work.row_size(), height};
    const std::size_t columns_work[] = {work.row_size(), height};
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        apps::check(clEnqueueWriteBuffer(queue.get(), input.get(), CL_TRUE, 0, size, work.input + frame * size, 0,
                                         nullptr, nullptr),
                    "writing a frame");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), rows.get(), 2, nullptr, rows_work, nullptr, 0, nullptr, nullptr),
            "box_rows");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), columns.get(), 2, nullptr, columns_work, nullptr, 0, nullptr, nullptr),
            "box_columns");
        apps::check(clEnqueueReadBuffer(queue.get(), output.get(), CL_TRUE, 0, size, work.output + frame * size, 0,
                                        nullptr, nullptr),
                    "reading a frame");
    }
    const double seconds = watch.seconds();
    // communication end box
    return seconds;
}

double median(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto queue = apps::create_in_order_queue(work.context, work.device);
    const auto middle = apps::create_kernel(work.program, "median");
    // communication begin median
    const auto input = apps::create_buffer(work.context, size);
    const auto output = apps::create_buffer(work.context, size);
    apps::set_arguments(middle.get(), work.of, input.get(), output.get());
    const std::size_t middle_work[] = {work.row_size(), height};
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        apps::check(clEnqueueWriteBuffer(queue.get(), input.get(), CL_TRUE, 0, size, work.input + frame * size, 0,
                                         nullptr, nullptr),
                    "writing a frame");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), middle.get(), 2, nullptr, middle_work, nullptr, 0, nullptr, nullptr),
            "median");
        apps::check(clEnqueueReadBuffer(queue.get(), output.get(), CL_TRUE, 0, size, work.output + frame * size, 0,
                                        nullptr, nullptr),
                    "reading a frame");
    }
    const double seconds = watch.seconds();
    // communication end median
    return seconds;
}

double recursive_gaussian(const workload& work) {
    const gaussian by = gaussian_of(work.of, work.sigma);
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto queue = apps::create_in_order_queue(work.context, work.device);
    const auto rows = apps::create_kernel(work.program, "gaussian_rows");
    const auto columns = apps::create_kernel(work.program, "gaussian_columns");
    const auto bytes = apps::create_kernel(work.program, "to_bytes");
    // communication begin recursive_gaussian
    const auto input = apps::create_buffer(work.context, size);
    const auto after_rows = apps::create_buffer(work.context, size * sizeof(float));
    const auto after_columns = apps::create_buffer(work.context, size * sizeof(float));
    const auto output = apps::create_buffer(work.context, size);
    apps::set_arguments(rows.get(), by, input.get(), after_rows.get());
    apps::set_arguments(columns.get(), by, after_rows.get(), after_columns.get());
    apps::set_arguments(bytes.get(), after_columns.get(), output.get());
    const std::size_t rows_work[] = {height * work.of.channels};
    const std::size_t columns_work[] = {work.row_size()};
    const std::size_t bytes_work[] = {size};
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        apps::check(clEnqueueWriteBuffer(queue.get(), input.get(), CL_TRUE, 0, size, work.input + frame * size, 0,
                                         nullptr, nullptr),
                    "writing a frame");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), rows.get(), 1, nullptr, rows_work, nullptr, 0, nullptr, nullptr),
            "gaussian_rows");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), columns.get(), 1, nullptr, columns_work, nullptr, 0, nullptr, nullptr),
            "gaussian_columns");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), bytes.get(), 1, nullptr, bytes_work, nullptr, 0, nullptr, nullptr),
            "to_bytes");
        apps::check(clEnqueueReadBuffer(queue.get(), output.get(), CL_TRUE, 0, size, work.output + frame * size, 0,
                                        nullptr, nullptr),
                    "reading a frame");
    }
    const double seconds = watch.seconds();
    // communication end recursive_gaussian
    return seconds;
}

double sobel(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto queue = apps::create_in_order_queue(work.context, work.device);
    const auto edges = apps::create_kernel(work.program, "sobel");
    // communication begin sobel
    const auto input = apps::create_buffer(work.context, size);
    const auto output = apps::create_buffer(work.context, size);
    apps::set_arguments(edges.get(), work.of, input.get(), output.get());
    const std::size_t edges_work[] = {work.row_size(), height};
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        apps::check(clEnqueueWriteBuffer(queue.get(), input.get(), CL_TRUE, 0, size, work.input + frame * size, 0,
                                         nullptr, nullptr),
                    "writing a frame");
        apps::check(
            clEnqueueNDRangeKernel(queue.get(), edges.get(), 2, nullptr, edges_work, nullptr, 0, nullptr, nullptr),
            "sobel");
        apps::check(clEnqueueReadBuffer(queue.get(), output.get(), CL_TRUE, 0, size, work.output + frame * size, 0,
                                        nullptr, nullptr),
                    "reading a frame");
    }
    const double seconds = watch.seconds();
    // communication end sobel
    return seconds;
}

} // namespace filters::plain

// SPDX-License-Identifier: Apache-2.0
// By hand: three queues, two buffers at each end, events between copies and kernels.
#include "filters/filter.hpp"

#include <array>

namespace filters::double_buffered {

double box(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto to_device = apps::create_in_order_queue(work.context, work.device);
    const auto compute = apps::create_in_order_queue(work.context, work.device);
    const auto from_device = apps::create_in_order_queue(work.context, work.device);
    // communication begin box
    std::array<apps::buffer, 2> input, output;
    std::array<apps::kernel, 2> rows;
    std::array<apps::kernel, 2> columns;
    const auto after_rows = apps::create_buffer(work.context, size);
    for (int slot = 0; slot < 2; ++slot) {
        input[slot] = apps::create_buffer(work.context, size);
        output[slot] = apps::create_buffer(work.context, size);
        rows[slot] = apps::create_kernel(work.program, "box_rows");
        apps::set_arguments(rows[slot].get(), work.of, input[slot].get(), after_rows.get());
        columns[slot] = apps::create_kernel(work.program, "box_columns");
        apps::set_arguments(columns[slot].get(), work.of, after_rows.get(), output[slot].get());
    }
    const std::size_t rows_work[] = {work.row_size(), height};
    const std::size_t columns_work[] = {work.row_size(), height};
    std::array<apps::event, 2> written, computed, read;
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        const std::size_t slot = frame % 2;
        cl_event event = nullptr;
        cl_event before[] = {computed[slot].get(), nullptr};
        const cl_uint used = frame < 2 ? 0 : 1;
        apps::check(clEnqueueWriteBuffer(to_device.get(), input[slot].get(), CL_FALSE, 0, size,
                                         work.input + frame * size, used, used ? before : nullptr, &event),
                    "writing a frame");
        written[slot].reset(event);
        before[0] = written[slot].get();
        before[1] = read[slot].get();
        apps::check(clEnqueueNDRangeKernel(compute.get(), rows[slot].get(), 2, nullptr, rows_work, nullptr, 1 + used,
                                           before, nullptr),
                    "box_rows");
        apps::check(clEnqueueNDRangeKernel(compute.get(), columns[slot].get(), 2, nullptr, columns_work, nullptr, 0,
                                           nullptr, &event),
                    "box_columns");
        computed[slot].reset(event);
        before[0] = computed[slot].get();
        apps::check(clEnqueueReadBuffer(from_device.get(), output[slot].get(), CL_FALSE, 0, size,
                                        work.output + frame * size, 1, before, &event),
                    "reading a frame");
        read[slot].reset(event);
        apps::check(clFlush(to_device.get()), "clFlush");
        apps::check(clFlush(compute.get()), "clFlush");
        apps::check(clFlush(from_device.get()), "clFlush");
    }
    apps::check(clFinish(from_device.get()), "clFinish");
    const double seconds = watch.seconds();
    // communication end box
    return seconds;
}

double median(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto to_device = apps::create_in_order_queue(work.context, work.device);
    const auto compute = apps::create_in_order_queue(work.context, work.device);
    const auto from_device = apps::create_in_order_queue(work.context, work.device);
    // communication begin median
    std::array<apps::buffer, 2> input, output;
    std::array<apps::kernel, 2> middle;
    for (int slot = 0; slot < 2; ++slot) {
        input[slot] = apps::create_buffer(work.context, size);
        output[slot] = apps::create_buffer(work.context, size);
        middle[slot] = apps::create_kernel(work.program, "median");
        apps::set_arguments(middle[slot].get(), work.of, input[slot].get(), output[slot].get());
    }
    const std::size_t middle_work[] = {work.row_size(), height};
    std::array<apps::event, 2> written, computed, read;
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        const std::size_t slot = frame % 2;
        cl_event event = nullptr;
        cl_event before[] = {computed[slot].get(), nullptr};
        const cl_uint used = frame < 2 ? 0 : 1;
        apps::check(clEnqueueWriteBuffer(to_device.get(), input[slot].get(), CL_FALSE, 0, size,
                                         work.input + frame * size, used, used ? before : nullptr, &event),
                    "writing a frame");
        written[slot].reset(event);
        before[0] = written[slot].get();
        before[1] = read[slot].get();
        apps::check(clEnqueueNDRangeKernel(compute.get(), middle[slot].get(), 2, nullptr, middle_work, nullptr,
                                           1 + used, before, &event),
                    "median");
        computed[slot].reset(event);
        before[0] = computed[slot].get();
        apps::check(clEnqueueReadBuffer(from_device.get(), output[slot].get(), CL_FALSE, 0, size,
                                        work.output + frame * size, 1, before, &event),
                    "reading a frame");
        read[slot].reset(event);
        apps::check(clFlush(to_device.get()), "clFlush");
        apps::check(clFlush(compute.get()), "clFlush");
        apps::check(clFlush(from_device.get()), "clFlush");
    }
    apps::check(clFinish(from_device.get()), "clFinish");
    const double seconds = watch.seconds();
    // communication end median
    return seconds;
}

double recursive_gaussian(const workload& work) {
    const gaussian by = gaussian_of(work.of, work.sigma);
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto to_device = apps::create_in_order_queue(work.context, work.device);
    const auto compute = apps::create_in_order_queue(work.context, work.device);
    const auto from_device = apps::create_in_order_queue(work.context, work.device);
    // communication begin recursive_gaussian
    std::array<apps::buffer, 2> input, output;
    std::array<apps::kernel, 2> rows;
    std::array<apps::kernel, 2> columns;
    std::array<apps::kernel, 2> bytes;
    const auto after_rows = apps::create_buffer(work.context, size * sizeof(float));
    const auto after_columns = apps::create_buffer(work.context, size * sizeof(float));
    for (int slot = 0; slot < 2; ++slot) {
        input[slot] = apps::create_buffer(work.context, size);
        output[slot] = apps::create_buffer(work.context, size);
        rows[slot] = apps::create_kernel(work.program, "gaussian_rows");
        apps::set_arguments(rows[slot].get(), by, input[slot].get(), after_rows.get());
        columns[slot] = apps::create_kernel(work.program, "gaussian_columns");
        apps::set_arguments(columns[slot].get(), by, after_rows.get(), after_columns.get());
        bytes[slot] = apps::create_kernel(work.program, "to_bytes");
        apps::set_arguments(bytes[slot].get(), after_columns.get(), output[slot].get());
    }
    const std::size_t rows_work[] = {height * work.of.channels};
    const std::size_t columns_work[] = {work.row_size()};
    const std::size_t bytes_work[] = {size};
    std::array<apps::event, 2> written, computed, read;
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        const std::size_t slot = frame % 2;
        cl_event event = nullptr;
        cl_event before[] = {computed[slot].get(), nullptr};
        const cl_uint used = frame < 2 ? 0 : 1;
        apps::check(clEnqueueWriteBuffer(to_device.get(), input[slot].get(), CL_FALSE, 0, size,
                                         work.input + frame * size, used, used ? before : nullptr, &event),
                    "writing a frame");
        written[slot].reset(event);
        before[0] = written[slot].get();
        before[1] = read[slot].get();
        apps::check(clEnqueueNDRangeKernel(compute.get(), rows[slot].get(), 1, nullptr, rows_work, nullptr, 1 + used,
                                           before, nullptr),
                    "gaussian_rows");
        apps::check(clEnqueueNDRangeKernel(compute.get(), columns[slot].get(), 1, nullptr, columns_work, nullptr, 0,
                                           nullptr, nullptr),
                    "gaussian_columns");
        apps::check(clEnqueueNDRangeKernel(compute.get(), bytes[slot].get(), 1, nullptr, bytes_work, nullptr, 0,
                                           nullptr, &event),
                    "to_bytes");
        computed[slot].reset(event);
        before[0] = computed[slot].get();
        apps::check(clEnqueueReadBuffer(from_device.get(), output[slot].get(), CL_FALSE, 0, size,
                                        work.output + frame * size, 1, before, &event),
                    "reading a frame");
        read[slot].reset(event);
        apps::check(clFlush(to_device.get()), "clFlush");
        apps::check(clFlush(compute.get()), "clFlush");
        apps::check(clFlush(from_device.get()), "clFlush");
    }
    apps::check(clFinish(from_device.get()), "clFinish");
    const double seconds = watch.seconds();
    // communication end recursive_gaussian
    return seconds;
}

double sobel(const workload& work) {
    const std::size_t size = work.frame_size();
    const std::size_t height = std::size_t(work.of.height);
    const auto to_device = apps::create_in_order_queue(work.context, work.device);
    const auto compute = apps::create_in_order_queue(work.context, work.device);
    const auto from_device = apps::create_in_order_queue(work.context, work.device);
    // communication begin sobel
    std::array<apps::buffer, 2> input, output;
    std::array<apps::kernel, 2> edges;
    for (int slot = 0; slot < 2; ++slot) {
        input[slot] = apps::create_buffer(work.context, size);
        output[slot] = apps::create_buffer(work.context, size);
        edges[slot] = apps::create_kernel(work.program, "sobel");
        apps::set_arguments(edges[slot].get(), work.of, input[slot].get(), output[slot].get());
    }
    const std::size_t edges_work[] = {work.row_size(), height};
    std::array<apps::event, 2> written, computed, read;
    const stopwatch watch;
    for (std::size_t frame = 0; frame < work.frames; ++frame) {
        const std::size_t slot = frame % 2;
        cl_event event = nullptr;
        cl_event before[] = {computed[slot].get(), nullptr};
        const cl_uint used = frame < 2 ? 0 : 1;
        apps::check(clEnqueueWriteBuffer(to_device.get(), input[slot].get(), CL_FALSE, 0, size,
                                         work.input + frame * size, used, used ? before : nullptr, &event),
                    "writing a frame");
        written[slot].reset(event);
        before[0] = written[slot].get();
        before[1] = read[slot].get();
        apps::check(clEnqueueNDRangeKernel(compute.get(), edges[slot].get(), 2, nullptr, edges_work, nullptr, 1 + used,
                                           before, &event),
                    "sobel");
        computed[slot].reset(event);
        before[0] = computed[slot].get();
        apps::check(clEnqueueReadBuffer(from_device.get(), output[slot].get(), CL_FALSE, 0, size,
                                        work.output + frame * size, 1, before, &event),
                    "reading a frame");
        read[slot].reset(event);
        apps::check(clFlush(to_device.get()), "clFlush");
        apps::check(clFlush(compute.get()), "clFlush");
        apps::check(clFlush(from_device.get()), "clFlush");
    }
    apps::check(clFinish(from_device.get()), "clFinish");
    const double seconds = watch.seconds();
    // communication end sobel
    return seconds;
}

} // namespace filters::double_buffered

// SPDX-License-Identifier: Apache-2.0
// The way without a library: every step waits for the one before.
#include "video/video.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

namespace video {

outcome run_plain(const film& work) {
    const std::size_t size = work.format.frame_size(), luma = work.format.luma_size();
    const auto queue = apps::create_in_order_queue(work.context, work.device);
    const auto input = apps::create_buffer(work.context, size), clean = apps::create_buffer(work.context, size);
    const auto found = apps::create_buffer(work.context, luma), output = apps::create_buffer(work.context, size);
    const auto denoise = apps::create_kernel(work.program, "denoise");
    const auto edges = apps::create_kernel(work.program, "edges");
    const auto overlay = apps::create_kernel(work.program, "overlay");
    apps::set_arguments(denoise.get(), work.of, input.get(), clean.get());
    apps::set_arguments(edges.get(), work.of, clean.get(), found.get());
    apps::set_arguments(overlay.get(), work.of, clean.get(), found.get(), output.get());
    const auto run = [&](cl_kernel kernel, std::size_t items) {
        apps::check(clEnqueueNDRangeKernel(queue.get(), kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    };
    std::atomic<std::uint64_t> frames = 0;
    const auto shown = work.watch([&frames] { return frames.load(); });
    std::vector<unsigned char> frame(size);
    while (const std::size_t got = std::fread(frame.data(), 1, size, work.input)) {
        if (got != size) throw std::runtime_error("the film ends within a frame");
        apps::check(clEnqueueWriteBuffer(queue.get(), input.get(), CL_TRUE, 0, size, frame.data(), 0, nullptr, nullptr),
                    "writing a frame");
        run(denoise.get(), size);
        run(edges.get(), luma);
        run(overlay.get(), size);
        apps::check(clEnqueueReadBuffer(queue.get(), output.get(), CL_TRUE, 0, size, frame.data(), 0, nullptr, nullptr),
                    "reading a frame");
        if (std::fwrite(frame.data(), 1, size, work.output) != size) throw std::runtime_error("cannot write a frame");
        ++frames;
    }
    if (std::fflush(work.output) != 0) throw std::runtime_error("cannot write the last frames");
    return {frames, {}};
}

} // namespace video

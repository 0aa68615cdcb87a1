// SPDX-License-Identifier: Apache-2.0
// Calls with arguments by chance, most of them wrong: what is refused has moved nothing, what is not has done what it
// says, and no byte is read or written that a call does not name. CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a
// run.
#include "platform_fixture.hpp"
#include "support/random_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>

using namespace support;

namespace {

class random_arguments : public platform_test, protected random_numbers {
  protected:
    static constexpr std::size_t size = 1024, host_size = 2048;

    void SetUp() override {
        platform_test::SetUp();
        const auto seed = number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, size);
        RecordProperty("seed", std::to_string(seed));
    }
    static std::uint64_t calls() { return number_of("CAUSEWAY_TEST_CALLS", 4000); }
};

/// A buffer, what it must have in it, and the program's memory.
struct buffer_and_model {
    buffer_handle buffer;
    std::vector<unsigned char> model;
};

TEST_F(random_arguments, of_commands_on_buffers_do_what_they_say_or_nothing) {
    std::vector<unsigned char> start(size);
    for (auto& one : start) one = static_cast<unsigned char>(below(256));
    std::array<buffer_and_model, 2> both;
    for (auto& one : both) {
        one.buffer = new_buffer(size);
        one.model = start;
        ASSERT_EQ(clEnqueueWriteBuffer(queue(), one.buffer.get(), CL_TRUE, 0, size, start.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
    }
    const guarded_memory memory(host_size);
    auto* const host = reinterpret_cast<unsigned char*>(memory.last(host_size));
    std::vector<unsigned char> host_model(host_size, 0x5a);
    std::memcpy(host, host_model.data(), host_size);
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& one = both[below(2)];
        auto& other = both[below(2)];
        auto* const in = queue(below(devices().size()));
        const auto region = any_region();
        const auto in_buffer = any_box(region);
        const auto second = any_box(region);
        const auto which = below(8);
        const std::string what = "call " + std::to_string(i) + " (" + std::to_string(which) + ") with " +
                                 text_of(in_buffer) + " and " + text_of(second);
        cl_int code = CL_SUCCESS;
        bool fits = false;
        bool is_moderate = true;
        switch (which) {
        case 0:
        case 1: {
            // The program says where its memory is, not how large: what would leave it is not tried.
            if (second.fits(SIZE_MAX / 2) && !second.fits(host_size)) continue;
            fits = in_buffer.fits(size) && second.fits(host_size);
            is_moderate = in_buffer.is_moderate() && second.is_moderate();
            const auto call = [&](auto function) {
                return function(in, one.buffer.get(), CL_TRUE, in_buffer.origin.data(), second.origin.data(),
                                region.data(), in_buffer.row, in_buffer.slice, second.row, second.slice, host, 0,
                                nullptr, nullptr);
            };
            code = which == 0 ? call(clEnqueueReadBufferRect) : call(clEnqueueWriteBufferRect);
            if (code != CL_SUCCESS) break;
            visit(region, [&](auto x, auto y, auto z) {
                auto& here = one.model[in_buffer.at(x, y, z)];
                auto& there = host_model[second.at(x, y, z)];
                which == 0 ? there = here : here = there;
            });
            break;
        }
        case 2: {
            if (&one == &other) continue; // whether boxes overlap is another question
            fits = in_buffer.fits(size) && second.fits(size);
            is_moderate = in_buffer.is_moderate() && second.is_moderate();
            code = clEnqueueCopyBufferRect(in, one.buffer.get(), other.buffer.get(), in_buffer.origin.data(),
                                           second.origin.data(), region.data(), in_buffer.row, in_buffer.slice,
                                           second.row, second.slice, 0, nullptr, nullptr);
            if (code != CL_SUCCESS) break;
            visit(region,
                  [&](auto x, auto y, auto z) { other.model[second.at(x, y, z)] = one.model[in_buffer.at(x, y, z)]; });
            break;
        }
        default: {
            const auto offset = number();
            const auto bytes = number();
            fits = bytes != 0 && large(offset) + bytes <= large(size);
            if (which == 3) {
                code = clEnqueueReadBuffer(in, one.buffer.get(), CL_TRUE, offset, bytes, host, 0, nullptr, nullptr);
                if (code == CL_SUCCESS)
                    std::copy_n(one.model.begin() + static_cast<long>(offset), bytes, host_model.begin());
            } else if (which == 4) {
                code = clEnqueueWriteBuffer(in, one.buffer.get(), CL_TRUE, offset, bytes, host, 0, nullptr, nullptr);
                if (code == CL_SUCCESS)
                    std::copy_n(host_model.begin(), bytes, one.model.begin() + static_cast<long>(offset));
            } else if (which == 5) {
                const auto to = number();
                if (&one == &other) continue;
                fits = fits && large(to) + bytes <= large(size);
                code = clEnqueueCopyBuffer(in, one.buffer.get(), other.buffer.get(), offset, to, bytes, 0, nullptr,
                                           nullptr);
                if (code == CL_SUCCESS)
                    std::copy_n(one.model.begin() + static_cast<long>(offset), bytes,
                                other.model.begin() + static_cast<long>(to));
            } else if (which == 6) {
                const auto pattern_size = one_of(4) ? number() : std::size_t{1} << below(8);
                const guarded_memory pattern(128);
                const bool is_pattern = pattern_size != 0 && pattern_size <= 128 &&
                                        (pattern_size & (pattern_size - 1)) == 0;
                auto* const first = pattern.last(is_pattern ? pattern_size : 1);
                for (std::size_t k = 0; k < (is_pattern ? pattern_size : 1); ++k)
                    first[k] = static_cast<std::byte>(below(256));
                fits = fits && is_pattern && offset % pattern_size == 0 && bytes % pattern_size == 0;
                code = clEnqueueFillBuffer(in, one.buffer.get(), first, pattern_size, offset, bytes, 0, nullptr,
                                           nullptr);
                if (code == CL_SUCCESS) {
                    EXPECT_EQ(clFinish(in), CL_SUCCESS);
                    for (std::size_t k = 0; k < bytes; ++k)
                        one.model[offset + k] = static_cast<unsigned char>(first[k % pattern_size]);
                }
            } else {
                auto* const mapped = static_cast<unsigned char*>(clEnqueueMapBuffer(
                    in, one.buffer.get(), CL_TRUE, CL_MAP_READ, offset, bytes, 0, nullptr, nullptr, &code));
                if (code == CL_SUCCESS) {
                    EXPECT_TRUE(std::equal(mapped, mapped + bytes, one.model.begin() + static_cast<long>(offset)))
                        << what;
                    EXPECT_EQ(clEnqueueUnmapMemObject(in, one.buffer.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
                }
            }
            break;
        }
        }
        ASSERT_TRUE(code != CL_SUCCESS || fits) << what;
        ASSERT_TRUE(code == CL_SUCCESS || !fits || !is_moderate) << what << ": " << code;
        if (code != CL_SUCCESS) continue;
        ++accepted;
        ASSERT_EQ(clFinish(in), CL_SUCCESS);
        ASSERT_EQ(std::memcmp(host, host_model.data(), host_size), 0) << what;
        for (const auto& each : both) {
            std::vector<unsigned char> found(size);
            ASSERT_EQ(clEnqueueReadBuffer(in, each.buffer.get(), CL_TRUE, 0, size, found.data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            ASSERT_EQ(found, each.model) << what;
        }
    }
    EXPECT_GT(accepted, calls() / 20);
    EXPECT_LT(accepted, calls() * 3 / 4);
}

TEST_F(random_arguments, of_commands_on_images_are_checked_against_the_image) {
    if (!all_have_images()) GTEST_SKIP() << "a device has no images";
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    struct shaped {
        cl_mem_object_type type;
        triple whole;
    };
    const std::array<shaped, 4> shapes{shaped{CL_MEM_OBJECT_IMAGE2D, {8, 5, 1}},
                                       {CL_MEM_OBJECT_IMAGE3D, {4, 3, 5}},
                                       {CL_MEM_OBJECT_IMAGE1D_ARRAY, {8, 5, 1}},
                                       {CL_MEM_OBJECT_IMAGE2D_ARRAY, {4, 3, 5}}};
    std::vector<buffer_handle> images;
    for (const auto& [type, whole] : shapes) {
        cl_image_desc shape{};
        shape.image_type = type;
        shape.image_width = whole[0];
        shape.image_height = whole[1];
        shape.image_depth = whole[2];
        shape.image_array_size = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? whole[1] : whole[2];
        cl_int code = CL_SUCCESS;
        images.emplace_back(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
    }
    const auto buffer = new_buffer(size);
    const guarded_memory memory(host_size);
    auto* const host = memory.last(host_size);
    std::memset(host, 0x77, host_size);
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls() / 4; ++i) {
        const auto which_image = below(images.size());
        const auto& whole = shapes[which_image].whole;
        const auto type = shapes[which_image].type;
        const bool has_lines = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        const bool has_slices = type != CL_MEM_OBJECT_IMAGE2D;
        auto* const image = images[which_image].get();
        auto* const in = queue(below(devices().size()));
        box at{};
        for (std::size_t k = 0; k < 3; ++k) {
            at.origin[k] = one_of(12) ? number() : below(whole[k]);
            at.region[k] = one_of(12) ? number() : 1 + below(whole[k]);
        }
        if (one_of(3)) at.row = one_of(4) ? number() : 4 * (at.region[0] + below(4));
        if (one_of(3))
            at.slice = one_of(4) ? number()
                                 : std::max(at.row, 4 * at.region[0]) * (has_lines ? 1 : at.region[1] + below(2));
        bool in_image = true;
        for (std::size_t k = 0; k < 3; ++k)
            in_image = in_image && at.region[k] != 0 && large(at.origin[k]) + at.region[k] <= large(whole[k]);
        // In host memory, in bytes.
        const box rows{{},
                       has_lines ? triple{4 * at.region[0], 1, at.region[1]}
                                 : triple{4 * at.region[0], at.region[1], at.region[2]},
                       at.row,
                       at.slice};
        const auto pitch = large(rows.row_pitch()) * rows.region[1];
        const bool pitches_fit = rows.row_pitch() >= rows.region[0] &&
                                 (at.slice == 0 || (has_slices && pitch <= large(at.slice)));
        const auto slice = at.slice == 0 ? pitch : large(at.slice);
        const auto end = large(rows.region[2] - 1) * slice + large(rows.region[1] - 1) * rows.row_pitch() +
                         rows.region[0];
        const auto which = below(5);
        const auto what = "call " + std::to_string(i) + " (" + std::to_string(which) + ") on image " +
                          std::to_string(which_image) + " with " + text_of(at);
        bool fits = in_image;
        cl_int code = CL_SUCCESS;
        if (which < 2) {
            if (!(pitch <= large(SIZE_MAX / 2))) continue; // may be of one row
            fits = in_image && pitches_fit && end <= large(host_size);
            if (in_image && pitches_fit && !fits && end <= large(SIZE_MAX / 2)) continue; // the program's own memory
            code = which == 0 ? clEnqueueReadImage(in, image, CL_TRUE, at.origin.data(), at.region.data(), at.row,
                                                   at.slice, host, 0, nullptr, nullptr)
                              : clEnqueueWriteImage(in, image, CL_TRUE, at.origin.data(), at.region.data(), at.row,
                                                    at.slice, host, 0, nullptr, nullptr);
        } else if (which == 2) {
            const std::array<cl_uint, 4> colour{1, 2, 3, 4};
            code = clEnqueueFillImage(in, image, colour.data(), at.origin.data(), at.region.data(), 0, nullptr,
                                      nullptr);
        } else {
            const auto offset = number();
            fits = in_image && large(4) * at.region[0] * at.region[1] * at.region[2] + offset <= large(size);
            code = which == 3 ? clEnqueueCopyImageToBuffer(in, image, buffer.get(), at.origin.data(), at.region.data(),
                                                           offset, 0, nullptr, nullptr)
                              : clEnqueueCopyBufferToImage(in, buffer.get(), image, offset, at.origin.data(),
                                                           at.region.data(), 0, nullptr, nullptr);
        }
        ASSERT_TRUE(code != CL_SUCCESS || fits) << what;
        // Intel's CPU runtime wants offsets into buffers that fit pixels, which the specification does not.
        ASSERT_TRUE(code == CL_SUCCESS || !fits || !at.is_moderate() || which >= 3) << what << ": " << code;
        accepted += code == CL_SUCCESS;
        ASSERT_EQ(clFinish(in), CL_SUCCESS) << what;
    }
    EXPECT_GT(accepted, calls() / 80);
}

TEST_F(random_arguments, of_kernels_are_judged_before_a_byte_is_read) {
    const auto program = build(
        "typedef struct { int a; float b[5]; } settings;"
        "__kernel void take(int one, float4 four, char tiny, uint3 three, settings all, __global int* to,"
        "                   __local int* room) {"
        "    room[0] = one; to[0] = room[0] + (int)four.x + tiny + (int)three.y + all.a;"
        "}");
    const auto kernel = kernel_of(program, "take");
    const std::array<std::size_t, 5> right{4, 16, 1, 16, 24};
    const std::array<std::size_t, 12> sizes{0, 1, 2, 4, 8, 12, 16, 24, 1024, 1U << 20, SIZE_MAX / 2, SIZE_MAX};
    const auto buffer = new_buffer(64);
    const guarded_memory memory(64);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        const auto index = below(9);
        const auto bytes = one_of(3) ? number() : sizes[below(sizes.size())];
        const auto what = "argument " + std::to_string(index) + " of " + std::to_string(bytes) + " bytes";
        if (index > 6) {
            EXPECT_EQ(clSetKernelArg(kernel.get(), static_cast<cl_uint>(index), 4, memory.last(4)),
                      CL_INVALID_ARG_INDEX);
        } else if (index == 6) {
            const auto code = clSetKernelArg(kernel.get(), 6, bytes, nullptr);
            ASSERT_TRUE(bytes != 0 ? bytes > 1U << 16 || code == CL_SUCCESS : code == CL_INVALID_ARG_SIZE)
                << what << ": " << code;
            ASSERT_EQ(clSetKernelArg(kernel.get(), 6, 64, nullptr), CL_SUCCESS);
        } else if (index == 5) {
            auto* const place = memory.last(sizeof(cl_mem));
            auto* const raw = buffer.get();
            std::memcpy(place, &raw, sizeof raw);
            ASSERT_EQ(clSetKernelArg(kernel.get(), 5, bytes, place),
                      bytes == sizeof raw ? CL_SUCCESS : CL_INVALID_ARG_SIZE)
                << what;
        } else {
            auto* const place = memory.last(right[index]);
            std::memset(place, 0, right[index]);
            const auto code = clSetKernelArg(kernel.get(), static_cast<cl_uint>(index), bytes, place);
            // PoCL 3.1 takes too little for a structure.
            if (index != 4 || bytes == 0 || bytes >= right[4] || code != CL_SUCCESS) {
                ASSERT_EQ(code, bytes == right[index] ? CL_SUCCESS : CL_INVALID_ARG_SIZE) << what;
            }
            ASSERT_EQ(clSetKernelArg(kernel.get(), static_cast<cl_uint>(index), right[index], nullptr),
                      CL_INVALID_ARG_VALUE);
        }
    }
    for (cl_uint index = 0; index < right.size(); ++index)
        ASSERT_EQ(clSetKernelArg(kernel.get(), index, right[index], memory.last(right[index])), CL_SUCCESS);
    auto* const raw = buffer.get();
    ASSERT_EQ(clSetKernelArg(kernel.get(), 5, sizeof raw, &raw), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(kernel.get(), 6, 64, nullptr), CL_SUCCESS);
    for (std::uint64_t i = 0; i < calls() / 40; ++i) {
        const auto dimensions = static_cast<cl_uint>(below(5));
        const bool has_local = one_of(2), has_offset = one_of(3);
        triple global{}, local{}, offset{};
        for (std::size_t k = 0; k < 3; ++k) {
            global[k] = one_of(6) ? 0 : std::size_t{1} << below(3);
            local[k] = one_of(6) ? 0 : std::size_t{1} << below(3);
            offset[k] = one_of(8) ? SIZE_MAX - below(2) : below(4);
        }
        cl_int expected = CL_SUCCESS;
        for (std::size_t k = 0; k < dimensions && k < 3 && expected == CL_SUCCESS; ++k) {
            if (global[k] == 0)
                expected = CL_INVALID_GLOBAL_WORK_SIZE;
            else if (has_offset && offset[k] > SIZE_MAX - global[k])
                expected = CL_INVALID_GLOBAL_OFFSET;
            else if (has_local && local[k] == 0)
                expected = CL_INVALID_WORK_GROUP_SIZE;
        }
        if (dimensions == 0 || dimensions > 3) expected = CL_INVALID_WORK_DIMENSION;
        if (expected == CL_SUCCESS && has_local) { // what only its driver knows is another question
            local = {1, 1, 1};
        }
        auto* const in = queue(below(devices().size()));
        EXPECT_EQ(clEnqueueNDRangeKernel(in, kernel.get(), dimensions, has_offset ? offset.data() : nullptr,
                                         global.data(), has_local ? local.data() : nullptr, 0, nullptr, nullptr),
                  expected);
        EXPECT_EQ(clFinish(in), CL_SUCCESS);
    }
}

} // namespace

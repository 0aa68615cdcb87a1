// SPDX-License-Identifier: Apache-2.0
// Images of all shapes on every device: regions, pitches, maps, and what is said of them.
#include "platform_fixture.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

using namespace support;

namespace {

using triple = std::array<size_t, 3>;
constexpr triple none{};

class images : public platform_test {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        for (auto* const device : devices()) {
            cl_bool has = CL_FALSE;
            ASSERT_EQ(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, nullptr), CL_SUCCESS);
            if (has == CL_FALSE) GTEST_SKIP() << "a device without images";
        }
    }

    [[nodiscard]] buffer_handle new_image(const cl_image_desc& shape, cl_mem_flags flags = CL_MEM_READ_WRITE,
                                          void* host = nullptr) {
        cl_int code = CL_SUCCESS;
        buffer_handle made(clCreateImage(context(), flags, &format, &shape, host, &code));
        EXPECT_EQ(code, CL_SUCCESS);
        return made;
    }
    /// Every rank has this number, or the record of calls says that it has not.
    void expect_everywhere(cl_uint number) {
        const auto buffer = new_buffer(4);
        ASSERT_EQ(clEnqueueFillBuffer(queue(), buffer.get(), &number, 4, 0, 4, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    }

    static constexpr cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    static constexpr size_t pixel = 4;
};

cl_image_desc shape_of(cl_mem_object_type type, size_t width, size_t height, size_t depth, size_t layers) {
    cl_image_desc shape{};
    shape.image_type = type;
    shape.image_width = width;
    shape.image_height = height;
    shape.image_depth = depth;
    shape.image_array_size = layers;
    return shape;
}

TEST_F(images, arrays_of_lines_are_read_and_written_with_pitches_between_lines) {
    constexpr size_t width = 5, lines = 3, pitch = 32;
    const auto image = new_image(shape_of(CL_MEM_OBJECT_IMAGE1D_ARRAY, width, 0, 0, lines));
    const triple region{width, lines, 1};
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto pixels = pattern(pitch * lines);
        ASSERT_EQ(clEnqueueWriteImage(queue(i), image.get(), CL_TRUE, none.data(), region.data(), 0, pitch,
                                      pixels.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        bytes back(pitch * lines, 9);
        auto expected = back;
        for (size_t line = 0; line < lines; ++line)
            std::copy_n(&pixels[line * pitch], width * pixel, &expected[line * pitch]);
        ASSERT_EQ(clEnqueueReadImage(last_queue(), image.get(), CL_TRUE, none.data(), region.data(), 0, pitch,
                                     back.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_TRUE(same_bytes(expected, back));
        const triple second{1, 1, 0}, part{3, 2, 1};
        size_t row_pitch = 0, slice_pitch = 0;
        cl_int code = CL_SUCCESS;
        auto* const mapped = static_cast<unsigned char*>(clEnqueueMapImage(queue(i), image.get(), CL_TRUE, CL_MAP_READ,
                                                                           second.data(), part.data(), &row_pitch,
                                                                           &slice_pitch, 0, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        for (size_t line = 0; line < 2; ++line)
            EXPECT_TRUE(std::equal(mapped + line * slice_pitch, mapped + line * slice_pitch + 3 * pixel,
                                   &pixels[(line + 1) * pitch + pixel]))
                << "line " << line + 1;
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), image.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
}

TEST_F(images, boxes_of_solid_images_move_between_devices) {
    constexpr size_t width = 6, height = 5, depth = 4;
    const auto image = new_image(shape_of(CL_MEM_OBJECT_IMAGE3D, width, height, depth, 0));
    const auto pixels = pattern(width * height * depth * pixel);
    const triple whole{width, height, depth};
    ASSERT_EQ(clEnqueueWriteImage(queue(), image.get(), CL_TRUE, none.data(), whole.data(), 0, 0, pixels.data(), 0,
                                  nullptr, nullptr),
              CL_SUCCESS);
    const triple corner{1, 2, 1}, box{3, 2, 2};
    constexpr size_t row = 16, slice = 48;
    const auto at = [](size_t x, size_t y, size_t z) { return ((z * height + y) * width + x) * pixel; };
    for (std::size_t i = 0; i < devices().size(); ++i) {
        bytes back(2 * slice, 9);
        auto expected = back;
        for (size_t z = 0; z < box[2]; ++z)
            for (size_t y = 0; y < box[1]; ++y)
                std::copy_n(&pixels[at(1, 2 + y, 1 + z)], box[0] * pixel, &expected[z * slice + y * row]);
        ASSERT_EQ(clEnqueueReadImage(queue(i), image.get(), CL_TRUE, corner.data(), box.data(), row, slice, back.data(),
                                     0, nullptr, nullptr),
                  CL_SUCCESS);
        EXPECT_TRUE(same_bytes(expected, back));
    }
}

TEST_F(images, pitches_that_do_not_fit_are_refused_in_the_call) {
    const auto image = new_image(shape_of(CL_MEM_OBJECT_IMAGE2D, 8, 4, 0, 0));
    const triple region{8, 4, 1};
    bytes memory(4096);
    const auto gate = new_user_event();
    auto* const wait = gate.get();
    for (const auto& [row, slice] : {std::pair<size_t, size_t>{31, 0}, {0, 128}}) {
        EXPECT_EQ(clEnqueueReadImage(queue(), image.get(), CL_FALSE, none.data(), region.data(), row, slice,
                                     memory.data(), 1, &wait, nullptr),
                  CL_INVALID_VALUE);
        EXPECT_EQ(clEnqueueWriteImage(queue(), image.get(), CL_FALSE, none.data(), region.data(), row, slice,
                                      memory.data(), 1, &wait, nullptr),
                  CL_INVALID_VALUE);
    }
    ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
}

TEST_F(images, the_programs_own_memory_keeps_its_pitch_where_it_is_mapped) {
    constexpr size_t width = 8, height = 4, pitch = 64;
    auto memory = pattern(pitch * height);
    const auto start = memory;
    auto shape = shape_of(CL_MEM_OBJECT_IMAGE2D, width, height, 0, 0);
    shape.image_row_pitch = pitch;
    const auto image = new_image(shape, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory.data());
    const triple corner{2, 1, 0}, part{3, 2, 1};
    for (std::size_t i = 0; i < devices().size(); ++i) {
        size_t row_pitch = 0;
        cl_int code = CL_SUCCESS;
        auto* const mapped = static_cast<unsigned char*>(
            clEnqueueMapImage(queue(i), image.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, corner.data(), part.data(),
                              &row_pitch, nullptr, 0, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        EXPECT_EQ(row_pitch, pitch);
        EXPECT_EQ(mapped, memory.data() + pitch + 2 * pixel);
        EXPECT_TRUE(std::equal(mapped + row_pitch, mapped + row_pitch + 3 * pixel, &start[2 * pitch + 2 * pixel]));
        ASSERT_EQ(clEnqueueUnmapMemObject(queue(i), image.get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
    bytes back(width * height * pixel);
    const triple whole{width, height, 1};
    ASSERT_EQ(clEnqueueReadImage(last_queue(), image.get(), CL_TRUE, none.data(), whole.data(), 0, 0, back.data(), 0,
                                 nullptr, nullptr),
              CL_SUCCESS);
    for (size_t y = 0; y < height; ++y)
        EXPECT_TRUE(std::equal(&back[y * width * pixel], &back[(y + 1) * width * pixel], &start[y * pitch]))
            << "row " << y;
}

TEST_F(images, what_is_said_of_them_is_the_same_on_every_rank) {
    cl_uint count = 0;
    ASSERT_EQ(clGetSupportedImageFormats(context(), CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count),
              CL_SUCCESS);
    ASSERT_GT(count, 0U);
    std::vector<cl_image_format> formats(count);
    ASSERT_EQ(
        clGetSupportedImageFormats(context(), CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, count, formats.data(), nullptr),
        CL_SUCCESS);
    cl_uint sum = 0;
    for (const auto& one : formats) sum = sum * 31 + one.image_channel_order * 17 + one.image_channel_data_type;
    expect_everywhere(sum);
    const auto image = new_image(shape_of(CL_MEM_OBJECT_IMAGE2D, 7, 3, 0, 0));
    for (const cl_image_info what : {CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT,
                                     CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_ELEMENT_SIZE}) {
        size_t value = 99;
        ASSERT_EQ(clGetImageInfo(image.get(), what, sizeof value, &value, nullptr), CL_SUCCESS);
        expect_everywhere(static_cast<cl_uint>(value));
        if (what == CL_IMAGE_WIDTH) {
            EXPECT_EQ(value, 7U);
        }
        if (what == CL_IMAGE_HEIGHT) {
            EXPECT_EQ(value, 3U);
        }
        if (what == CL_IMAGE_DEPTH || what == CL_IMAGE_SLICE_PITCH) {
            EXPECT_EQ(value, 0U);
        }
        if (what == CL_IMAGE_ELEMENT_SIZE) {
            EXPECT_EQ(value, pixel);
        }
        if (what == CL_IMAGE_ROW_PITCH) {
            EXPECT_GE(value, 7 * pixel);
        }
    }
}

TEST_F(images, of_a_format_that_one_driver_has_are_refused_in_the_call) {
    const auto formats_of = [](cl_context of) {
        cl_uint count = 0;
        EXPECT_EQ(clGetSupportedImageFormats(of, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count),
                  CL_SUCCESS);
        std::vector<cl_image_format> formats(count);
        EXPECT_EQ(
            clGetSupportedImageFormats(of, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, count, formats.data(), nullptr),
            CL_SUCCESS);
        return formats;
    };
    const auto shape = shape_of(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0);
    for (const bool backwards : {false, true}) {
        auto list = devices();
        if (backwards) std::reverse(list.begin(), list.end());
        cl_int code = CL_SUCCESS;
        const context_handle all(
            clCreateContext(nullptr, static_cast<cl_uint>(list.size()), list.data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const auto common = formats_of(all.get());
        const context_handle one(clCreateContext(nullptr, 1, list.data(), nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        for (const auto& own : formats_of(one.get())) {
            const bool is_common = std::any_of(common.begin(), common.end(), [&](const auto& other) {
                return other.image_channel_order == own.image_channel_order &&
                       other.image_channel_data_type == own.image_channel_data_type;
            });
            const buffer_handle made(clCreateImage(all.get(), CL_MEM_READ_WRITE, &own, &shape, nullptr, &code));
            EXPECT_EQ(code == CL_SUCCESS, is_common) // PoCL 3.1 refuses with CL_INVALID_OPERATION
                << std::hex << own.image_channel_order << ' ' << own.image_channel_data_type;
        }
    }
}

TEST_F(images, of_a_buffer_may_do_what_the_buffer_may) {
    const auto buffer = new_buffer(256, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
    auto shape = shape_of(CL_MEM_OBJECT_IMAGE1D_BUFFER, 16, 0, 0, 0);
    shape.buffer = buffer.get();
    const auto image = new_image(shape, 0);
    cl_mem_flags flags = 0;
    ASSERT_EQ(clGetMemObjectInfo(image.get(), CL_MEM_FLAGS, sizeof flags, &flags, nullptr), CL_SUCCESS);
    EXPECT_EQ(flags, cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY});
    for (const cl_mem_flags wrong :
         {CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_ALLOC_HOST_PTR}) {
        cl_int code = CL_SUCCESS;
        EXPECT_EQ(clCreateImage(context(), wrong, &format, &shape, nullptr, &code), nullptr);
        EXPECT_EQ(code, CL_INVALID_VALUE) << wrong;
    }
}

TEST_F(images, of_a_buffer_of_another_context_are_refused) {
    cl_int code = CL_SUCCESS;
    const context_handle other(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    const buffer_handle theirs(clCreateBuffer(other.get(), CL_MEM_READ_WRITE, 256, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    auto shape = shape_of(CL_MEM_OBJECT_IMAGE1D_BUFFER, 16, 0, 0, 0);
    shape.buffer = theirs.get();
    EXPECT_EQ(clCreateImage(context(), CL_MEM_READ_WRITE, &format, &shape, nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_IMAGE_DESCRIPTOR);
}

// Each rank has junk of its own, which is no difference between their programs.
TEST_F(images, members_that_a_type_does_not_use_may_hold_anything) {
    const auto junk = static_cast<size_t>(::getpid());
    const std::array<std::pair<cl_image_desc, triple>, 4> all{
        std::pair{shape_of(CL_MEM_OBJECT_IMAGE1D, 5, junk, junk, junk), triple{5, 1, 1}},
        {shape_of(CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, junk, junk, 3), triple{5, 3, 1}},
        {shape_of(CL_MEM_OBJECT_IMAGE2D, 5, 4, junk, junk), triple{5, 4, 1}},
        {shape_of(CL_MEM_OBJECT_IMAGE3D, 5, 4, 3, junk), triple{5, 4, 3}}};
    for (auto [shape, region] : all) {
        if (shape.image_type == CL_MEM_OBJECT_IMAGE1D || shape.image_type == CL_MEM_OBJECT_IMAGE3D)
            shape.buffer = reinterpret_cast<cl_mem>(junk * 16);
        const auto image = new_image(shape);
        ASSERT_NE(image.get(), nullptr);
        const auto pixels = pattern(5 * 4 * 3 * pixel);
        ASSERT_EQ(clEnqueueWriteImage(queue(), image.get(), CL_TRUE, none.data(), region.data(), 0, 0, pixels.data(), 0,
                                      nullptr, nullptr),
                  CL_SUCCESS);
        auto found = pixels;
        found.assign(found.size(), 0);
        ASSERT_EQ(clEnqueueReadImage(last_queue(), image.get(), CL_TRUE, none.data(), region.data(), 0, 0, found.data(),
                                     0, nullptr, nullptr),
                  CL_SUCCESS);
        const auto bytes = static_cast<long>(pixel * region[0] * region[1] * region[2]);
        EXPECT_TRUE(std::equal(found.begin(), found.begin() + bytes, pixels.begin()));
        ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
    }
    // Nor is the room for a list that is not there.
    cl_uint count = 0;
    const std::array<cl_device_partition_property, 3> halves{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    (void)clCreateSubDevices(devices().front(), halves.data(), static_cast<cl_uint>(junk), nullptr, &count);
    const auto program = build("__kernel void nothing(int a) {}");
    EXPECT_EQ(clCreateKernelsInProgram(program.get(), static_cast<cl_uint>(junk), nullptr, &count), CL_SUCCESS);
    EXPECT_EQ(count, 1U);
    ASSERT_EQ(clFinish(queue()), CL_SUCCESS);
}

} // namespace

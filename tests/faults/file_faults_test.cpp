// SPDX-License-Identifier: Apache-2.0
// Transfers between devices and files, with every call that they make failing once.
#include "faults/scenes.hpp"
#include "support/files.hpp"

#include <mpi.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

using namespace faults;
using support::bytes;

namespace {

constexpr std::size_t size = (300 << 10) + 5;
constexpr std::size_t head = 1000; // of the file, before the transfer's bytes

class file_faults : public shaped_test {
  protected:
    void SetUp() override {
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (ranks > 1) GTEST_SKIP() << "needs no second rank";
    }
};
INSTANTIATE_TEST_SUITE_P(devices, file_faults,
                         testing::Combine(testing::ValuesIn(one_device_each()), testing::ValuesIn(all_shapes())),
                         shaped_name);

/// What transfers of a file have in common.
class file_scenario : public scenario {
  public:
    explicit file_scenario(cl_device_id device, support::queue_order order = support::queue_order::in_order)
        : m_scene(device, order), m_range(m_scene, size) {}

    void touch() override { m_range.touch(); }
    [[nodiscard]] std::vector<cl_context> contexts() const override { return {m_scene.context()}; }
    [[nodiscard]] std::vector<cl_command_queue> queues() const override { return {m_scene.queue()}; }

  protected:
    [[nodiscard]] const device_scene& scene() const { return m_scene; }
    [[nodiscard]] framed_range& range() { return m_range; }
    [[nodiscard]] std::string path() const { return m_folder.path("data"); }
    /// What is in the file, or in the buffer, before the transfer.
    [[nodiscard]] const bytes& source() const { return m_source; }
    [[nodiscard]] const bytes& heading() const { return m_heading; }

    void expect_in_file(const ending& result) const {
        const auto moved = result.moved;
        ASSERT_LE(moved, size);
        EXPECT_TRUE(
            support::same_bytes(support::slice(m_source, 0, moved), support::file_contents(path(), head, moved)));
        if (result.succeeded()) {
            EXPECT_EQ(moved, size);
        }
    }
    void expect_in_buffer(const ending& result, const fault_point* failed) {
        m_range.expect(m_source, result.moved, result.refused != CL_SUCCESS, failed);
        if (result.succeeded()) {
            EXPECT_EQ(result.moved, size);
        }
    }

  private:
    device_scene m_scene;
    framed_range m_range;
    support::temporary_folder m_folder;
    bytes m_source = support::pattern(size), m_heading = support::pattern(head, 2);
};

class descriptor_read final : public file_scenario {
  public:
    explicit descriptor_read(cl_device_id device, support::queue_order order = support::queue_order::in_order,
                             cl_bool blocking = CL_FALSE)
        : file_scenario(device, order), m_blocking(blocking) {
        support::write_file(path(), support::join(heading(), source()));
        m_file = support::open_descriptor(path(), O_RDONLY);
    }
    void reset() override { range().fill(support::pattern(size, 3)); }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one(
            [&](cl_event* event) {
                return clEnqueueWriteBufferFromFile(scene().queue(), range().buffer(), m_blocking, range().offset(),
                                                    size, m_file.get(), head, 0, nullptr, event);
            },
            m_blocking));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_buffer(endings[0], failed);
    }

  private:
    cl_bool m_blocking;
    support::descriptor m_file;
};

class descriptor_write final : public file_scenario {
  public:
    descriptor_write(cl_device_id device, int extra_flags, cl_bool blocking = CL_FALSE)
        : file_scenario(device), m_blocking(blocking) {
        m_file = support::open_descriptor(path(), O_RDWR | O_CREAT | extra_flags);
    }
    void reset() override {
        range().fill(source());
        EXPECT_EQ(ftruncate(m_file.get(), 0), 0);
    }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one(
            [&](cl_event* event) {
                return clEnqueueReadBufferToFile(scene().queue(), range().buffer(), m_blocking, range().offset(), size,
                                                 m_file.get(), head, 0, nullptr, event);
            },
            m_blocking));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_file(endings[0]);
        range().expect(source(), size, true, failed);
    }

  private:
    cl_bool m_blocking;
    support::descriptor m_file;
};

/// A stream in the middle of which the transfer begins.
class stream_scenario : public file_scenario {
  public:
    stream_scenario(cl_device_id device, const char* mode) : file_scenario(device) {
        support::write_file(path(), support::join(heading(), source()));
        m_file = support::open_stream(path(), mode);
    }

  protected:
    [[nodiscard]] std::FILE* file() const { return m_file.get(); }

    void expect_position(const ending& result, const fault_point* failed) const {
        // The position of a stream that cannot be positioned is where it is.
        for (const char* const name : {"fseeko64", "lseek64"})
            if (failed != nullptr && std::strcmp(failed->name, name) == 0) return;
        EXPECT_EQ(std::ftell(file()), static_cast<long>(head + result.moved));
    }

  private:
    support::stream m_file;
};

class stream_read final : public stream_scenario {
  public:
    explicit stream_read(cl_device_id device) : stream_scenario(device, "rb") {}
    void reset() override {
        range().fill(support::pattern(size, 3));
        std::rewind(file());
        bytes skipped(head);
        EXPECT_EQ(std::fread(skipped.data(), 1, head, file()), head);
    }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueWriteBufferFromStdioFile(scene().queue(), range().buffer(), CL_FALSE, range().offset(),
                                                     size, file(), 0, nullptr, event);
        }));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_buffer(endings[0], failed);
        expect_position(endings[0], failed);
    }
};

class stream_write final : public stream_scenario {
  public:
    stream_write(cl_device_id device, const char* mode) : stream_scenario(device, mode) {}
    void reset() override {
        range().fill(source());
        std::rewind(file());
        EXPECT_EQ(ftruncate(fileno(file()), 0), 0);
        EXPECT_EQ(std::fwrite(heading().data(), 1, head, file()), head);
    }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueReadBufferToStdioFile(scene().queue(), range().buffer(), CL_FALSE, range().offset(), size,
                                                  file(), 0, nullptr, event);
        }));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_file(endings[0]);
        expect_position(endings[0], failed);
        range().expect(source(), size, true, failed);
    }
};

/// A pipe that holds all bytes already.
class pipe_read final : public file_scenario {
  public:
    static constexpr std::size_t held = 60000;

    explicit pipe_read(cl_device_id device) : file_scenario(device) { reset(); }
    void reset() override {
        range().fill(support::pattern(size, 3));
        auto both = support::make_pipe();
        EXPECT_TRUE(support::write_all(both.writing.get(), support::slice(source(), 0, held)));
        m_file = support::open_stream(std::move(both.reading), "rb");
        m_writing = std::move(both.writing);
    }
    std::vector<started> start() override {
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueWriteBufferFromStdioFile(scene().queue(), range().buffer(), CL_FALSE, range().offset(),
                                                     held, m_file.get(), 0, nullptr, event);
        }));
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        range().expect(source(), endings[0].moved, endings[0].refused != CL_SUCCESS, failed);
        if (endings[0].succeeded()) {
            EXPECT_EQ(endings[0].moved, held);
        }
    }

  private:
    support::stream m_file;
    support::descriptor m_writing;
};

/// A transfer that waits for a user event until it has asked to be called back.
class gated_read final : public file_scenario {
  public:
    explicit gated_read(cl_device_id device) : file_scenario(device) {
        support::write_file(path(), support::join(heading(), source()));
        m_file = support::open_descriptor(path(), O_RDONLY);
    }
    void reset() override { range().fill(support::pattern(size, 3)); }
    std::vector<started> start() override {
        support::gate gate(scene().context());
        const cl_event waits[] = {gate.event()};
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueWriteBufferFromFile(scene().queue(), range().buffer(), CL_FALSE, range().offset(), size,
                                                m_file.get(), head, 1, waits, event);
        }));
        if (all[0].refused == CL_SUCCESS) {
            EXPECT_TRUE(support::eventually([&] {
                return point("clSetEventCallback").calls > 0 || support::status_of(all[0].event.get()) <= CL_COMPLETE;
            }));
        }
        gate.open();
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_buffer(endings[0], failed);
    }

  private:
    support::descriptor m_file;
};

/// A transfer that waits for a command, behind which the device may read the first block already.
class gated_write final : public file_scenario {
  public:
    explicit gated_write(cl_device_id device) : file_scenario(device) {
        m_file = support::open_descriptor(path(), O_RDWR | O_CREAT);
    }
    void reset() override {
        range().fill(source());
        EXPECT_EQ(ftruncate(m_file.get(), 0), 0);
    }
    std::vector<started> start() override {
        support::gate gate(scene().context());
        const cl_event waits[] = {gate.event()};
        support::event_handle held;
        EXPECT_EQ(clEnqueueMarkerWithWaitList(scene().own_queue(), 1, waits, held.out()), CL_SUCCESS);
        const cl_event waits_for_command[] = {held.get()};
        std::vector<started> all;
        all.push_back(start_one([&](cl_event* event) {
            return clEnqueueReadBufferToFile(scene().queue(), range().buffer(), CL_FALSE, range().offset(), size,
                                             m_file.get(), head, 1, waits_for_command, event);
        }));
        if (all[0].refused == CL_SUCCESS) {
            EXPECT_TRUE(support::eventually([&] {
                return point("clSetEventCallback").calls > 0 || support::status_of(all[0].event.get()) <= CL_COMPLETE;
            }));
        }
        gate.open();
        EXPECT_EQ(clFinish(scene().own_queue()), CL_SUCCESS);
        return all;
    }
    void check(const std::vector<ending>& endings, const fault_point* failed) override {
        expect_in_file(endings[0]);
        range().expect(source(), size, true, failed);
    }

  private:
    support::descriptor m_file;
};

} // namespace

/// Blocking calls on a device that says it has memory of its own (pretend_discrete.c): their copies go into the
/// program's queue, if no plan is forced.
class blocking_faults : public testing::TestWithParam<support::device_under_test> {
  protected:
    void SetUp() override {
        cl_bool in_host_memory = CL_TRUE;
        (void)clGetDeviceInfo(device(), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof in_host_memory, &in_host_memory, nullptr);
        if (in_host_memory != CL_FALSE) GTEST_SKIP() << "the device's memory is the host's";
    }
    [[nodiscard]] static cl_device_id device() { return GetParam().device; }

    support::option_scope m_keep{"keep", "0"};
};
INSTANTIATE_TEST_SUITE_P(devices, blocking_faults, testing::ValuesIn(one_device_each()), support::name_of);

TEST_P(blocking_faults, a_read_of_a_descriptor) {
    descriptor_read run(device(), support::queue_order::in_order, CL_TRUE);
    fail_every_call(run);
}

TEST_P(blocking_faults, a_write_to_a_descriptor) {
    descriptor_write run(device(), 0, CL_TRUE);
    fail_every_call(run);
}

TEST_P(file_faults, a_read_of_a_descriptor) {
    descriptor_read run(device());
    fail_every_call(run);
}

TEST_P(file_faults, a_read_of_a_descriptor_in_an_out_of_order_queue) {
    if (!support::supports_out_of_order(device())) GTEST_SKIP() << "the device has no out-of-order queues";
    descriptor_read run(device(), support::queue_order::out_of_order);
    fail_every_call(run);
}

TEST_P(file_faults, a_read_that_waits_for_an_event) {
    gated_read run(device());
    fail_every_call(run);
}

TEST_P(file_faults, a_write_that_waits_for_a_command) {
    gated_write run(device());
    fail_every_call(run);
}

TEST_P(file_faults, a_write_to_a_descriptor) {
    descriptor_write run(device(), 0);
    fail_every_call(run);
}

TEST_P(file_faults, a_write_to_a_descriptor_in_append_mode) {
    descriptor_write run(device(), O_APPEND);
    fail_every_call(run);
}

TEST_P(file_faults, a_read_of_a_stream) {
    stream_read run(device());
    fail_every_call(run);
}

TEST_P(file_faults, a_write_to_a_stream) {
    stream_write run(device(), "w+b");
    fail_every_call(run);
}

TEST_P(file_faults, a_write_to_a_stream_in_append_mode) {
    stream_write run(device(), "a+b");
    fail_every_call(run);
}

TEST_P(file_faults, a_read_of_a_pipe) {
    pipe_read run(device());
    fail_every_call(run);
}

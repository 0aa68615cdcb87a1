// SPDX-License-Identifier: Apache-2.0
// Random commands of all kinds over devices, buffers, parts of buffers, host memory and queues of both kinds, ordered
// by events alone, against the same on the host. CAUSEWAY_TEST_GRAPHS says how many, CAUSEWAY_TEST_COMMANDS of which
// kinds (their numbers below, as "0,2,3"), CAUSEWAY_TEST_SEED which ones.
#include "platform_fixture.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

using namespace support;

namespace {

constexpr std::size_t buffer_count = 4;
constexpr std::size_t length = 256;         // elements of a buffer and of host memory
constexpr std::size_t half = length / 2; // where the part of a buffer begins: NVIDIA asks for multiples of 512 bytes
constexpr std::size_t row = 8; // elements, where buffers and host memory are planes
constexpr std::size_t host_count = 2; // that reads go to; writes come from them or from one more
using values = std::vector<cl_uint>;
using triple = std::array<std::size_t, 3>;

/// A box of elements in a plane, in bytes, and how the host copies it.
struct plane_box {
    triple from, to, region;

    explicit plane_box(std::mt19937& random) {
        const auto rows = random() % 4 + 1, columns = random() % 4 + 1;
        const auto place = [&](std::size_t columns_left) {
            return triple{random() % (columns_left + 1) * sizeof(cl_uint), random() % (length / row - rows + 1), 0};
        };
        from = place(row - columns);
        to = place(row - columns);
        region = {columns * sizeof(cl_uint), rows, 1};
    }
    void copy(const values& source, values& target) const {
        for (std::size_t y = 0; y < region[1]; ++y)
            std::copy_n(&source[(from[1] + y) * row + from[0] / 4], region[0] / 4,
                        &target[(to[1] + y) * row + to[0] / 4]);
    }
};

class random_graphs : public platform_test {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        m_program = build(add_source);
        m_add = kernel_of(m_program, "add");
        m_scale = kernel_of(m_program, "scale");
        for (auto* const device : devices())
            for (const cl_command_queue_properties kind : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE})
                m_others.push_back(new_queue(device, kind));
        m_takes_early = has_early_writes();
    }

    void begin_graph() {
        m_held.clear();
        m_parts.clear();
        m_buffers.clear();
        m_last.assign(buffer_count, nullptr);
        m_last_host.assign(host_count, nullptr);
        m_host.assign(host_count + 1, values(length));
        std::iota(m_host.back().begin(), m_host.back().end(), 1000U);
        m_expected_host = m_host;
        m_expected.assign(buffer_count, values(length));
        for (std::size_t i = 0; i < buffer_count; ++i) {
            std::iota(m_expected[i].begin(), m_expected[i].end(), static_cast<cl_uint>(i * 10));
            m_buffers.push_back(new_buffer(length * 4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, m_expected[i].data()));
            const cl_buffer_region region{half * 4, (length - half) * 4};
            cl_int code = CL_SUCCESS;
            m_parts.emplace_back(
                clCreateSubBuffer(m_buffers[i].get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
            ASSERT_EQ(code, CL_SUCCESS);
        }
    }

    [[nodiscard]] cl_command_queue any_queue() {
        const auto which = m_random() % (devices().size() + m_others.size());
        return which < devices().size() ? queue(which) : m_others[which - devices().size()].get();
    }

    /// One command, behind all that use what it uses, and behind `gate` if it is not null.
    void enqueue_one(cl_event gate) {
        auto* const on = any_queue();
        const auto place = m_random() % host_count;
        const auto first = m_random() % buffer_count;
        const auto second = (first + 1 + m_random() % (buffer_count - 1)) % buffer_count;
        const auto value = static_cast<cl_uint>(m_random() % 5 + 1);
        std::vector<cl_event> waits;
        for (auto* const event : {m_last[first], m_last[second], m_last_host[place], gate})
            if (event != nullptr) waits.push_back(event);
        const auto count = static_cast<cl_uint>(waits.size());
        auto* const list = waits.empty() ? nullptr : waits.data();
        auto* const from = m_buffers[first].get();
        auto* const to = m_buffers[second].get();
        auto& host = m_host[place];
        const auto sent = m_takes_early ? host_count : place;
        const plane_box box(m_random);
        constexpr std::size_t pitch = row * 4;
        event_handle made;
        cl_int code = CL_SUCCESS;
        switch (m_kinds[m_random() % m_kinds.size()]) {
        case 0:
            launch(on, m_add, m_buffers[first], value, length, waits, made.out());
            for (auto& x : m_expected[first]) x += value;
            break;
        case 1:
            code = scale(on, from, to, value, waits, made.out());
            for (std::size_t i = 0; i < length; ++i) m_expected[second][i] = m_expected[first][i] * value;
            break;
        case 2:
            code = clEnqueueReadBuffer(on, from, CL_FALSE, 0, length * 4, host.data(), count, list, made.out());
            m_expected_host[place] = m_expected[first];
            break;
        case 3:
            code = clEnqueueWriteBuffer(on, to, CL_FALSE, 0, length * 4, m_host[sent].data(), count, list, made.out());
            m_expected[second] = m_expected_host[sent];
            break;
        case 4:
            code = clEnqueueCopyBuffer(on, from, to, 16, 32, 128, count, list, made.out());
            std::copy_n(m_expected[first].begin() + 4, 32, m_expected[second].begin() + 8);
            break;
        case 5: // a part of a buffer
            launch(on, m_add, m_parts[first], value, length - half, waits, made.out());
            for (std::size_t i = half; i < length; ++i) m_expected[first][i] += value;
            break;
        case 6:
            code = clEnqueueCopyBuffer(on, m_parts[first].get(), to, 0, 0, (length - half) * 4, count, list,
                                       made.out());
            std::copy(m_expected[first].begin() + half, m_expected[first].end(), m_expected[second].begin());
            break;
        case 7:
            code = clEnqueueReadBuffer(on, m_parts[first].get(), CL_FALSE, 0, (length - half) * 4, host.data(), count,
                                       list, made.out());
            std::copy(m_expected[first].begin() + half, m_expected[first].end(), m_expected_host[place].begin());
            break;
        case 8:
            code = clEnqueueCopyBufferRect(on, from, to, box.from.data(), box.to.data(), box.region.data(), pitch, 0,
                                           pitch, 0, count, list, made.out());
            box.copy(m_expected[first], m_expected[second]);
            break;
        case 9:
            code = clEnqueueReadBufferRect(on, from, CL_FALSE, box.from.data(), box.to.data(), box.region.data(), pitch,
                                           0, pitch, 0, host.data(), count, list, made.out());
            box.copy(m_expected[first], m_expected_host[place]);
            break;
        case 10:
            code = clEnqueueWriteBufferRect(on, to, CL_FALSE, box.to.data(), box.from.data(), box.region.data(), pitch,
                                            0, pitch, 0, m_host[sent].data(), count, list, made.out());
            box.copy(m_expected_host[sent], m_expected[second]);
            break;
        case 11: {
            const std::array both{from, to};
            code = clEnqueueMigrateMemObjects(on, 2, both.data(), value == 1 ? CL_MIGRATE_MEM_OBJECT_HOST : 0, count,
                                              list, made.out());
            break;
        }
        default: { // what is mapped and not touched comes back as it was
            event_handle mapped;
            void* const address = clEnqueueMapBuffer(on, from, CL_FALSE, CL_MAP_READ | (value > 2 ? CL_MAP_WRITE : 0),
                                                     16, 128, count, list, mapped.out(), &code);
            ASSERT_EQ(code, CL_SUCCESS);
            auto* const wait = mapped.get();
            code = clEnqueueUnmapMemObject(any_queue(), from, address, 1, &wait, made.out());
            m_held.push_back(std::move(mapped));
        }
        }
        ASSERT_EQ(code, CL_SUCCESS);
        m_last[first] = m_last[second] = m_last_host[place] = made.get();
        m_held.push_back(std::move(made));
    }

    /// Now that nothing is held back: host memory, and each buffer as a device, a part of it and a map show it.
    void check(int graph) {
        const auto wait = [](cl_event event) { return event == nullptr ? CL_SUCCESS : clWaitForEvents(1, &event); };
        for (std::size_t i = 0; i < host_count; ++i) {
            ASSERT_EQ(wait(m_last_host[i]), CL_SUCCESS);
            ASSERT_EQ(m_host[i], m_expected_host[i]) << "graph " << graph << ", host memory " << i;
        }
        for (std::size_t i = 0; i < buffer_count; ++i) {
            ASSERT_EQ(wait(m_last[i]), CL_SUCCESS);
            ASSERT_EQ(read(any_queue(), m_buffers[i], length), m_expected[i]) << "graph " << graph << ", buffer " << i;
            write_by_map(i);
            const values part(m_expected[i].begin() + half, m_expected[i].end());
            ASSERT_EQ(read(any_queue(), m_parts[i], part.size()), part)
                << "graph " << graph << ", part of buffer " << i;
            ASSERT_EQ(read(any_queue(), m_buffers[i], length), m_expected[i])
                << "graph " << graph << ", mapped buffer " << i;
        }
    }

    void write_by_map(std::size_t i) {
        const auto begin = m_random() % half, size = m_random() % half + 1;
        const bool anew = m_random() % 2 == 0;
        cl_int code = CL_SUCCESS;
        auto* const on = any_queue();
        auto* const mapped = static_cast<cl_uint*>(clEnqueueMapBuffer(
            on, m_buffers[i].get(), CL_TRUE, anew ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ | CL_MAP_WRITE,
            begin * 4, size * 4, 0, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        for (std::size_t k = 0; k < size; ++k) {
            auto& expected = m_expected[i][begin + k];
            if (!anew) {
                ASSERT_EQ(mapped[k], expected);
            }
            mapped[k] = ++expected;
        }
        ASSERT_EQ(clEnqueueUnmapMemObject(on, m_buffers[i].get(), mapped, 0, nullptr, nullptr), CL_SUCCESS);
        ASSERT_EQ(clFinish(on), CL_SUCCESS);
    }

    std::mt19937 m_random{numbers_of("CAUSEWAY_TEST_SEED", {7}).front()};

  private:
    static std::vector<unsigned> numbers_of(const char* variable, std::vector<unsigned> otherwise) {
        const char* const given = std::getenv(variable);
        if (given == nullptr) return otherwise;
        std::vector<unsigned> numbers;
        std::istringstream text(given);
        for (std::string one; std::getline(text, one, ',');) numbers.push_back(static_cast<unsigned>(std::stoul(one)));
        return numbers;
    }

    /// Whether a driver may take what a write sends when that is enqueued, and so before the end of a read into the
    /// same memory that comes before it (NVIDIA 580, also in one in-order queue). OpenCL lets it: that memory is not
    /// the program's to change.
    [[nodiscard]] bool has_early_writes() const {
        return std::any_of(devices().begin(), devices().end(), [](cl_device_id device) {
            char vendor[256] = "";
            EXPECT_EQ(clGetDeviceInfo(device, CL_DEVICE_VENDOR, sizeof vendor, vendor, nullptr), CL_SUCCESS);
            return std::string_view(vendor).starts_with("NVIDIA");
        });
    }
    [[nodiscard]] cl_int scale(cl_command_queue on, cl_mem from, cl_mem to, cl_uint value,
                               const std::vector<cl_event>& waits, cl_event* made) {
        EXPECT_EQ(clSetKernelArg(m_scale.get(), 0, sizeof from, &from), CL_SUCCESS);
        EXPECT_EQ(clSetKernelArg(m_scale.get(), 1, sizeof to, &to), CL_SUCCESS);
        EXPECT_EQ(clSetKernelArg(m_scale.get(), 2, sizeof value, &value), CL_SUCCESS);
        return clEnqueueNDRangeKernel(on, m_scale.get(), 1, nullptr, &length, nullptr,
                                      static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), made);
    }

    program_handle m_program;
    kernel_handle m_add, m_scale;
    std::vector<queue_handle> m_others;
    bool m_takes_early = false;
    const std::vector<unsigned> m_kinds = numbers_of("CAUSEWAY_TEST_COMMANDS",
                                                     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    // Of one graph.
    std::vector<buffer_handle> m_buffers, m_parts;
    std::vector<values> m_expected, m_host, m_expected_host;
    std::vector<cl_event> m_last, m_last_host;
    std::vector<event_handle> m_held;
};

TEST_F(random_graphs, give_the_serial_result) {
    const char* const wanted = std::getenv("CAUSEWAY_TEST_GRAPHS");
    const int graphs = wanted == nullptr ? 60 : std::atoi(wanted);
    ASSERT_GT(graphs, 0) << "CAUSEWAY_TEST_GRAPHS=" << wanted << " is no number of graphs";
    for (int graph = 0; graph < graphs && !HasFatalFailure(); ++graph) {
        begin_graph();
        const auto gate = new_user_event();
        for (int step = 0; step < 25 && !HasFatalFailure(); ++step) enqueue_one(step == 3 ? gate.get() : nullptr);
        ASSERT_EQ(clSetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
        check(graph);
    }
    begin_graph(); // lets go of the last one
}

} // namespace

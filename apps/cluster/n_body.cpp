// SPDX-License-Identifier: Apache-2.0
// Bodies that attract each other, each of them all others. Devices share the bodies that they move; at the end of a
// step each gives the positions of its bodies to all others.
#include "cluster/application.hpp"

#include <cmath>

namespace cluster {

namespace {

/// As in the kernel.
constexpr std::size_t group = 256;
constexpr float softening = 1e-3f, time_step = 1e-3f;

constexpr const char* source = R"(
#define GROUP 256
#define SOFTENING 1e-3f
#define TIME_STEP 1e-3f

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void move(global const float4 *positions, int count, int first, global float4 *moved, global float4 *velocities)
{
    local float4 tile[GROUP];
    const int item = get_local_id(0), mine = get_global_id(0);
    const float4 here = positions[first + mine];
    float ax = 0, ay = 0, az = 0;
    for (int other = 0; other < count; other += GROUP) {
        tile[item] = positions[other + item];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 16
        for (int i = 0; i < GROUP; ++i) {
            const float dx = tile[i].x - here.x, dy = tile[i].y - here.y, dz = tile[i].z - here.z;
            const float near = rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
            const float pull = tile[i].w * near * near * near;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float4 velocity = velocities[mine] + TIME_STEP * (float4)(ax, ay, az, 0);
    velocities[mine] = velocity;
    moved[mine] = (float4)(here.xyz + TIME_STEP * velocity.xyz, here.w);
})";

class n_body final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_count, "bodies, rounded up to 256"}, {"--steps", &m_steps, "of time"}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        m_count = whole(m_count, group);
        m_shares = devices.shares_of(m_count / group);
        for (std::size_t i = 0; i < m_count; ++i) {
            m_start.push_back({{random_number(0, i, -1, 1), random_number(1, i, -1, 1), random_number(2, i, -1, 1),
                                random_number(3, i, 0.5f, 1.5f) / float(m_count)}});
            m_start_velocities.push_back({{random_number(4, i, -0.1f, 0.1f), random_number(5, i, -0.1f, 0.1f),
                                           random_number(6, i, -0.1f, 0.1f), 0}});
        }
        m_state.resize(2 * m_count);
        m_kernels = devices.create_kernels(source, "move");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            const std::size_t own = bodies_of(device) * sizeof(cl_float4);
            auto& made = m_buffers.emplace_back();
            made.positions = devices.create_buffer(device, m_count * sizeof(cl_float4));
            made.velocities = devices.create_buffer(device, own);
            for (auto& moved : made.moved) moved = devices.create_buffer(device, own);
        }
    }

    std::string size() const override {
        return std::to_string(m_count) + " bodies, " + std::to_string(m_steps) + " steps";
    }
    amount work() const override { return {double(m_count) * double(m_count) * m_steps, "Ginteractions", 1e9}; }

    void load() override {
        m_step = 0;
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            m_devices->write(device, m_buffers[device].positions, m_start.data(), m_count);
            m_devices->write(device, m_buffers[device].velocities, &m_start_velocities[m_shares[device].first * group],
                             bodies_of(device));
        }
    }

    void compute() override {
        for (std::size_t step = 0; step < m_steps; ++step) move();
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            const std::size_t first = m_shares[device].first * group;
            m_devices->read(device, m_buffers[device].moved[(m_step + 1) % 2], &m_state[first], bodies_of(device));
            m_devices->read(device, m_buffers[device].velocities, &m_state[m_count + first], bodies_of(device));
        }
    }

    std::span<const std::byte> result() const override { return std::as_bytes(std::span(m_state)); }

    /// One step more, from the state that the devices' bodies have: it is right if each device has got all positions.
    std::string verify() override {
        const auto before = m_state;
        move();
        read();
        m_devices->finish();
        comparison velocities;
        const std::size_t samples = std::min<std::size_t>(m_count, 256);
        for (std::size_t i = 0; i < samples; ++i) {
            const std::size_t at = i * m_count / samples;
            double pull[3] = {}, sizes = 0;
            for (std::size_t other = 0; other < m_count; ++other) {
                double distance[3], square = softening;
                for (int axis = 0; axis < 3; ++axis) {
                    distance[axis] = double(before[other].s[axis]) - before[at].s[axis];
                    square += distance[axis] * distance[axis];
                }
                const double strength = before[other].s[3] / (square * std::sqrt(square));
                for (int axis = 0; axis < 3; ++axis) pull[axis] += strength * distance[axis];
                sizes += strength * std::sqrt(square);
            }
            for (int axis = 0; axis < 3; ++axis) {
                const double old = before[m_count + at].s[axis];
                // A velocity is rounded once; its change is a sum of many numbers that have been rounded some times.
                velocities.add(m_state[m_count + at].s[axis], old + time_step * pull[axis],
                               0x1p-23 * std::abs(old) + 1e-5 * time_step * sizes);
            }
        }
        return velocities.verdict("components of velocities after a further step, in double precision");
    }

  private:
    struct buffers {
        apps::buffer positions; ///< of all bodies
        apps::buffer velocities, moved[2];
    };

    [[nodiscard]] std::size_t bodies_of(std::size_t device) const { return m_shares[device].count * group; }

    /// A kernel need not wait for those that copied what it overwrites, the step before the last: it has got what they
    /// computed after that.
    void move() {
        const int now = m_step++ % 2;
        std::vector<apps::event> over;
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            const auto& own = m_buffers[device];
            apps::set_arguments(m_kernels[device].get(), own.positions.get(), cl_int(m_count),
                                cl_int(m_shares[device].first * group), own.moved[now].get(), own.velocities.get());
            cl_event event = nullptr;
            m_devices->run(device, m_kernels[device], {bodies_of(device)}, {group}, &event);
            over.emplace_back(event);
            apps::check(clFlush(m_devices->queue(device)), "clFlush"); // others wait for it
        }
        for (std::size_t to = 0; to < m_devices->size(); ++to)
            for (std::size_t from = 0; from < m_devices->size(); ++from) {
                cl_event moved = over[from].get();
                apps::check(clEnqueueCopyBuffer(m_devices->queue(to), m_buffers[from].moved[now].get(),
                                                m_buffers[to].positions.get(), 0,
                                                m_shares[from].first * group * sizeof(cl_float4),
                                                bodies_of(from) * sizeof(cl_float4), 1, &moved, nullptr),
                            "clEnqueueCopyBuffer");
            }
    }

    std::size_t m_count = 4096;
    std::size_t m_steps = 10;
    int m_step = 0;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of groups
    std::vector<cl_float4> m_start, m_start_velocities;
    std::vector<cl_float4> m_state; // positions, then velocities
    std::vector<apps::kernel> m_kernels;
    std::vector<buffers> m_buffers;
};

} // namespace

std::unique_ptr<application> make_n_body() { return std::make_unique<n_body>(); }

} // namespace cluster

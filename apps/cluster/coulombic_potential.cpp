// SPDX-License-Identifier: Apache-2.0
// The potential that charged atoms cause at the points of a plane, as in Parboil's CP. Devices share the rows of
// points; atoms come in batches, each a kernel.
#include "cluster/application.hpp"

#include <cmath>

namespace cluster {

namespace {

/// As in the kernel.
constexpr std::size_t group_x = 32, group_y = 4, points_of_item = 4, points_x = group_x * points_of_item, batch = 1024;
constexpr float spacing = 0.1f;

constexpr const char* source = R"(
#define GROUP_X 32
#define GROUP_Y 4
#define POINTS 4
#define BATCH 1024
#define SPACING 0.1f

/* The points of a work-item stand a group apart, so that neighbours write to neighbours. */
kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1)))
void add_potential(global const float4 *atoms, int first_atom, int first_row, global float *potential)
{
    local float4 tile[GROUP_X * GROUP_Y];
    const int item = get_local_id(1) * GROUP_X + get_local_id(0);
    const int column = get_group_id(0) * GROUP_X * POINTS + get_local_id(0);
    const float x = column * SPACING, y = (first_row + (int)get_global_id(1)) * SPACING;
    float sums[POINTS] = {0};
    for (int batch = 0; batch < BATCH; batch += GROUP_X * GROUP_Y) {
        tile[item] = atoms[first_atom + batch + item];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < GROUP_X * GROUP_Y; ++i) {
            const float dx = tile[i].x - x, dy = tile[i].y - y;
            const float beside = dy * dy + tile[i].z * tile[i].z;
#pragma unroll
            for (int point = 0; point < POINTS; ++point) {
                const float along = dx - point * GROUP_X * SPACING;
                sums[point] += tile[i].w * rsqrt(along * along + beside);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    global float *const row = potential + get_global_id(1) * (get_global_size(0) * POINTS) + column;
#pragma unroll
    for (int point = 0; point < POINTS; ++point)
        row[point * GROUP_X] = (first_atom == 0 ? 0 : row[point * GROUP_X]) + sums[point];
})";

class coulombic_potential final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_points, "points of a side, rounded up to 128"},
                {"--atoms", &m_count, "rounded up to 1024, a kernel each"}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        m_points = whole(m_points, points_x);
        m_count = whole(m_count, batch);
        m_shares = devices.shares_of(m_points / group_y);
        for (std::size_t i = 0; i < m_count; ++i)
            // None is on the plane, where a potential would be infinite.
            m_atoms.push_back({{random_number(0, i, 0, side()), random_number(1, i, 0, side()),
                                random_number(2, i, 0.5f, 10), random_number(3, i, -1, 1)}});
        m_potential.resize(m_points * m_points);
        m_kernels = devices.create_kernels(source, "add_potential");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            m_inputs.push_back(devices.create_buffer(device, m_count * sizeof(cl_float4)));
            m_outputs.push_back(devices.create_buffer(device, points_of(device) * sizeof(float)));
        }
    }

    std::string size() const override {
        return std::to_string(m_points) + " x " + std::to_string(m_points) + " points, " + std::to_string(m_count) +
               " atoms";
    }
    amount work() const override {
        return {double(m_points) * double(m_points) * double(m_count), "Gatoms*points", 1e9};
    }

    void load() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->write(device, m_inputs[device], m_atoms.data(), m_count);
    }

    void compute() override {
        for (cl_int atom = 0; atom < cl_int(m_count); atom += cl_int(batch))
            for (std::size_t device = 0; device < m_devices->size(); ++device) {
                const auto [first, count] = m_shares[device];
                apps::set_arguments(m_kernels[device].get(), m_inputs[device].get(), atom, cl_int(first * group_y),
                                    m_outputs[device].get());
                m_devices->run(device, m_kernels[device], {m_points / points_of_item, count * group_y},
                               {group_x, group_y});
            }
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->read(device, m_outputs[device], &m_potential[m_shares[device].first * group_y * m_points],
                            points_of(device));
    }

    std::span<const std::byte> result() const override { return std::as_bytes(std::span(m_potential)); }

    std::string verify() override {
        comparison potentials;
        constexpr std::size_t samples = 1024;
        for (std::size_t i = 0; i < samples; ++i) {
            const std::size_t at = std::size_t(random_number(4, i, 0, 1) * double(m_potential.size()));
            const double x = double(at % m_points) * spacing, y = double(at / m_points) * spacing;
            double sum = 0, tolerance = 0;
            for (const auto& atom : m_atoms) {
                const double distance = std::hypot(atom.s[0] - x, atom.s[1] - y, double(atom.s[2]));
                sum += atom.s[3] / distance;
                // Terms and sums are rounded; and so are the coordinates, before they are subtracted.
                tolerance += std::abs(atom.s[3]) / distance * (5e-7 + 0x1p-24 * side() / distance);
            }
            potentials.add(m_potential[at], sum, tolerance);
        }
        return potentials.verdict("potentials, summed up in double precision");
    }

  private:
    [[nodiscard]] float side() const { return float(m_points) * spacing; }
    [[nodiscard]] std::size_t points_of(std::size_t device) const {
        return m_shares[device].count * group_y * m_points;
    }

    std::size_t m_points = 512, m_count = 4096;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of rows of groups
    std::vector<cl_float4> m_atoms;
    std::vector<float> m_potential;
    std::vector<apps::kernel> m_kernels;
    std::vector<apps::buffer> m_inputs, m_outputs;
};

} // namespace

std::unique_ptr<application> make_coulombic_potential() { return std::make_unique<coulombic_potential>(); }

} // namespace cluster

// SPDX-License-Identifier: Apache-2.0
// C = A B of square matrices in single precision. Devices share the rows of A and C; each has all of B.
#include "cluster/application.hpp"

#include <cstdint>
#include <stdexcept>

namespace cluster {

namespace {

/// As in the kernel.
constexpr std::size_t tile = 128, group = 16;

// A work-group has 128 x 128 elements of C, eight by eight of them in the registers of a work-item. 16 columns of A,
// turned round, and 16 rows of B lie in local memory.
constexpr const char* source = R"(
#define TILE 128
#define DEPTH 16
#define GROUP 16
/* With it PoCL 3.1 takes six times as long; graphics cards need it to keep sums in registers. */
#ifdef ON_GPUS
#define EACH_ROW _Pragma("unroll") for (int i = 0; i < 8; ++i)
#else
#define EACH_ROW for (int i = 0; i < 8; ++i)
#endif

kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1)))
void multiply(global const float4 *restrict a, global const float4 *restrict b, global float4 *restrict c, int size)
{
    local float4 a_tile[DEPTH][TILE / 4 + 1], b_tile[DEPTH][TILE / 4];
    const int x = get_local_id(0), y = get_local_id(1), item = y * GROUP + x;
    const size_t row = get_group_id(1) * TILE, pitch = size / 4, column = get_group_id(0) * (TILE / 4);
    float4 sums[8][2];
    EACH_ROW
        sums[i][0] = sums[i][1] = 0;
    for (int k = 0; k < size; k += DEPTH) {
        for (int i = item; i < TILE * DEPTH / 4; i += GROUP * GROUP) {
            const float4 of_a = a[(row + i / 4) * pitch + k / 4 + i % 4];
            local float *const turned = (local float *)&a_tile[i % 4 * 4][0] + i / 4;
            turned[0] = of_a.x;
            turned[TILE + 4] = of_a.y;
            turned[2 * (TILE + 4)] = of_a.z;
            turned[3 * (TILE + 4)] = of_a.w;
            b_tile[i / 32][i % 32] = b[(k + i / 32) * pitch + column + i % 32];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int depth = 0; depth < DEPTH; ++depth) {
            const float4 upper = a_tile[depth][y], lower = a_tile[depth][GROUP + y];
            const float4 left = b_tile[depth][x], right = b_tile[depth][GROUP + x];
            const float of_rows[8] = {upper.x, upper.y, upper.z, upper.w, lower.x, lower.y, lower.z, lower.w};
            EACH_ROW {
                sums[i][0] += of_rows[i] * left;
                sums[i][1] += of_rows[i] * right;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    EACH_ROW {
        global float4 *const to = c + (row + i / 4 * (TILE / 2) + y * 4 + i % 4) * pitch + column;
        to[x] = sums[i][0];
        to[GROUP + x] = sums[i][1];
    }
})";

/// Small whole numbers: so are all sums, which single precision holds without rounding up to size 2^18.
float element(unsigned sequence, std::size_t index) { return float(int(random_number(sequence, index, 0, 17)) - 8); }

class matrix_product final : public application {
  public:
    [[nodiscard]] std::vector<setting> settings() override {
        return {{"--size", &m_size, "rows and columns, rounded up to 128", std::size_t{1} << 18}};
    }

    void prepare(const device_group& devices) override {
        m_devices = &devices;
        m_size = whole(m_size, tile);
        m_shares = devices.shares_of(m_size / tile);
        const std::size_t elements = m_size * m_size;
        for (auto* const matrix : {&m_a, &m_b, &m_c}) matrix->resize(elements);
        for (std::size_t i = 0; i < elements; ++i) {
            m_a[i] = element(0, i);
            m_b[i] = element(1, i);
        }
        m_kernels = devices.create_kernels(source, "multiply");
        for (std::size_t device = 0; device < devices.size(); ++device) {
            auto& made = m_buffers.emplace_back();
            made.a = devices.create_buffer(device, elements_of(device) * sizeof(float));
            made.b = devices.create_buffer(device, elements * sizeof(float));
            made.c = devices.create_buffer(device, elements_of(device) * sizeof(float));
            apps::set_arguments(m_kernels[device].get(), made.a.get(), made.b.get(), made.c.get(), cl_int(m_size));
        }
    }

    std::string size() const override { return std::to_string(m_size) + " x " + std::to_string(m_size); }
    amount work() const override { return {2.0 * double(m_size) * double(m_size) * double(m_size), "GFLOP", 1e9}; }

    void load() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device) {
            m_devices->write(device, m_buffers[device].a, &m_a[m_shares[device].first * tile * m_size],
                             elements_of(device));
            m_devices->write(device, m_buffers[device].b, m_b.data(), m_b.size());
        }
    }

    void compute() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->run(device, m_kernels[device], {m_size / tile * group, m_shares[device].count * group},
                           {group, group});
    }

    void read() override {
        for (std::size_t device = 0; device < m_devices->size(); ++device)
            m_devices->read(device, m_buffers[device].c, &m_c[m_shares[device].first * tile * m_size],
                            elements_of(device));
    }

    std::span<const std::byte> result() const override { return std::as_bytes(std::span(m_c)); }

    /// Freivalds' check: C x = A (B x), here without any rounding. A wrong row is missed once in 17 times, by one x.
    std::string verify() override {
        constexpr unsigned vectors = 4;
        for (unsigned vector = 0; vector < vectors; ++vector) {
            std::vector<std::int64_t> x(m_size);
            for (std::size_t i = 0; i < m_size; ++i) x[i] = std::int64_t(element(2 + vector, i));
            const auto expected = times(m_a, times(m_b, x)), computed = times(m_c, x);
            for (std::size_t row = 0; row < m_size; ++row)
                if (computed[row] != expected[row])
                    throw std::runtime_error("row " + std::to_string(row) + " of the product is wrong");
        }
        return "all rows are exact (Freivalds' check with " + std::to_string(vectors) + " vectors)";
    }

  private:
    struct buffers {
        apps::buffer a, b, c;
    };

    [[nodiscard]] std::size_t elements_of(std::size_t device) const { return m_shares[device].count * tile * m_size; }

    [[nodiscard]] std::vector<std::int64_t> times(const std::vector<float>& matrix,
                                                  const std::vector<std::int64_t>& x) const {
        std::vector<std::int64_t> product(m_size);
        for (std::size_t row = 0; row < m_size; ++row)
            for (std::size_t column = 0; column < m_size; ++column)
                product[row] += std::int64_t(matrix[row * m_size + column]) * x[column];
        return product;
    }

    std::size_t m_size = 512;
    const device_group* m_devices = nullptr;
    std::vector<share> m_shares; // of rows of tiles
    std::vector<float> m_a, m_b, m_c;
    std::vector<apps::kernel> m_kernels;
    std::vector<buffers> m_buffers;
};

} // namespace

std::unique_ptr<application> make_matrix_product() { return std::make_unique<matrix_product>(); }

} // namespace cluster

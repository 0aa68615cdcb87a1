// SPDX-License-Identifier: Apache-2.0
// The paper's programs as task graphs: Table 4, with the inputs of Figures 7 and 9.
#include "tasks/simulator/program.hpp"

#include "base/error.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace causeway::tasks::simulator {

std::uintptr_t program::allocate(std::uint64_t bytes, distribution how, std::uint32_t by) {
    const auto begin = m_next;
    if (bytes <= most_bytes) m_next += (bytes + 4095) / 4096 * 4096;
    if (bytes > most_bytes || m_next - first_address > most_bytes)
        throw transfer_error(status::invalid_value,
                             "the program " + name + " allocates more than " + bytes_text(most_bytes));
    allocations.push_back({bytes, how, by, begin});
    return begin;
}

namespace {

constexpr std::array<const char*, 7> names = {"map", "reduction", "vecmul", "matmul", "jacobi", "sparselu", "strassen"};

region in(std::uintptr_t begin, std::uint64_t bytes) { return {begin, bytes, access::in, false}; }
region out(std::uintptr_t begin, std::uint64_t bytes) { return {begin, bytes, access::out, false}; }
region inout(std::uintptr_t begin, std::uint64_t bytes, bool most_used = false) {
    return {begin, bytes, access::inout, most_used};
}

void add(program& to, work its, std::vector<region> regions, std::vector<double> passes = {}) {
    auto& made = to.tasks.emplace_back();
    made.its = its;
    made.regions = std::move(regions);
    made.passes = std::move(passes);
}

/// Vectors that each have a task. What is written is read and written back; the tiles write each word through to its
/// home.
void vectors(program& to, distribution how, unsigned count, std::uint64_t bytes, double multiplies, double others) {
    std::vector<std::uintptr_t> begins;
    for (unsigned each = 0; each < count; ++each) begins.push_back(to.allocate(bytes, how));
    const double elements = static_cast<double>(bytes) / 4;
    for (const auto begin : begins) add(to, {multiplies * elements, others * elements, 0}, {inout(begin, bytes)}, {2});
}

/// Cross products of pairs of vectors, each into the first one of its pair.
void pairs(program& to, distribution how, unsigned count, std::uint64_t bytes) {
    std::vector<std::uintptr_t> begins;
    for (unsigned each = 0; each < 2 * count; ++each) begins.push_back(to.allocate(bytes, how));
    const double elements = static_cast<double>(bytes) / 4;
    for (unsigned each = 0; each < count; ++each)
        add(to, {2 * elements, 5 * elements, 0}, {inout(begins[2 * each], bytes), in(begins[2 * each + 1], bytes)},
            {2, 1});
}

/// Merging sorted runs, level by level, each level in as many parts as there are runs at first. One allocation: the
/// array and its copy.
void reduction(program& to, distribution how, std::uint64_t bytes, unsigned depth) {
    const auto array = to.allocate(2 * bytes, how);
    const std::uint64_t parts = std::uint64_t{1} << depth, part = bytes / parts / 64 * 64;
    for (unsigned level = 0; level < depth; ++level) {
        const auto source = array + (level % 2 == 0 ? 0 : bytes), target = array + (level % 2 == 0 ? bytes : 0);
        const auto run = std::uint64_t{1} << level; // parts of a sorted run
        for (std::uint64_t each = 0; each < parts; ++each) {
            const auto pair = each / (2 * run) * 2 * run, within = each % (2 * run);
            // Part `within` of the result comes from about half a part of each of both runs.
            const auto left = source + (pair * part + within * part / 2) / 64 * 64, right = left + run * part;
            const double elements = static_cast<double>(part) / 4;
            add(to, {0, 6 * elements, 0}, {in(left, part / 2), in(right, part / 2), out(target + each * part, part)},
                {1, 1, 1});
        }
    }
}

void matmul(program& to, distribution how, unsigned size, unsigned block) {
    const unsigned blocks = size / block;
    const std::uint64_t bytes = std::uint64_t{4} * block * block;
    std::array<std::vector<std::uintptr_t>, 3> matrices;
    // The authors' program allocates a block of each matrix in turn.
    for (unsigned each = 0; each < blocks * blocks; ++each)
        for (auto& matrix : matrices) matrix.push_back(to.allocate(bytes, how));
    const double operations = std::pow(static_cast<double>(block), 3) * blocks;
    for (unsigned row = 0; row < blocks; ++row)
        for (unsigned column = 0; column < blocks; ++column) {
            std::vector<region> regions{inout(matrices[2][row * blocks + column], bytes)};
            std::vector<double> passes(2 * blocks + 1, 1);
            passes[0] = 2;
            for (unsigned each = 0; each < blocks; ++each) {
                regions.push_back(in(matrices[0][row * blocks + each], bytes));
                regions.push_back(in(matrices[1][each * blocks + column], bytes));
            }
            add(to, {operations, operations, 0}, std::move(regions), std::move(passes));
            to.tasks.back().steps = blocks; // a product of two blocks after the other
        }
}

/// Two grids in blocks, in one allocation; each block reads the edges of its neighbours.
void jacobi(program& to, distribution how, unsigned size, unsigned block, unsigned steps) {
    const unsigned blocks = size / block;
    const std::uint64_t bytes = std::uint64_t{4} * block * block, edge = std::uint64_t{4} * block;
    const auto grids = to.allocate(2 * bytes * blocks * blocks, how);
    const auto begin_of = [&](unsigned grid, unsigned row, unsigned column) {
        return grids + (std::uint64_t{grid} * blocks * blocks + std::uint64_t{row} * blocks + column) * bytes;
    };
    for (unsigned step = 0; step < steps; ++step)
        for (unsigned row = 0; row < blocks; ++row)
            for (unsigned column = 0; column < blocks; ++column) {
                const unsigned from = step % 2, target = 1 - from;
                std::vector<region> regions{in(begin_of(from, row, column), bytes),
                                            out(begin_of(target, row, column), bytes)};
                std::vector<double> passes{1, 2};
                const auto neighbour = [&](unsigned r, unsigned c) {
                    regions.push_back(in(begin_of(from, r, c), edge));
                    passes.push_back(1);
                };
                if (row > 0) neighbour(row - 1, column);
                if (row + 1 < blocks) neighbour(row + 1, column);
                if (column > 0) neighbour(row, column - 1);
                if (column + 1 < blocks) neighbour(row, column + 1);
                const double elements = static_cast<double>(block) * block;
                add(to, {elements, 4 * elements, 0}, std::move(regions), std::move(passes));
            }
}

/// As sparse as the Barcelona suite's: of rows and columns the even ones, of those off the diagonal every third.
bool is_empty_at_first(unsigned row, unsigned column) {
    if (row == column || row + 1 == column || row == column + 1) return false;
    if ((row < column && row % 3 != 0) || (row > column && column % 3 != 0)) return true;
    return row % 2 == 1 || column % 2 == 1;
}

void sparselu(program& to, distribution how, unsigned size, unsigned block, bool marked) {
    const unsigned blocks = size / block;
    const std::uint64_t bytes = std::uint64_t{4} * block * block;
    const double cube = std::pow(static_cast<double>(block), 3);
    std::vector<std::uintptr_t> matrix(static_cast<std::size_t>(blocks) * blocks, 0);
    const auto at = [&](unsigned row, unsigned column) -> std::uintptr_t& {
        return matrix[static_cast<std::size_t>(row) * blocks + column];
    };
    for (unsigned row = 0; row < blocks; ++row)
        for (unsigned column = 0; column < blocks; ++column)
            if (!is_empty_at_first(row, column)) at(row, column) = to.allocate(bytes, how);
    for (unsigned step = 0; step < blocks; ++step) {
        add(to, {cube / 3, cube / 3, 0}, {inout(at(step, step), bytes)});
        for (unsigned each = step + 1; each < blocks; ++each)
            if (at(step, each))
                add(to, {cube / 2, cube / 2, 0}, {in(at(step, step), bytes), inout(at(step, each), bytes)});
        for (unsigned each = step + 1; each < blocks; ++each)
            if (at(each, step))
                add(to, {cube / 2, cube / 2, 0}, {in(at(step, step), bytes), inout(at(each, step), bytes)});
        for (unsigned row = step + 1; row < blocks; ++row)
            for (unsigned column = step + 1; column < blocks; ++column) {
                if (!at(row, step) || !at(step, column)) continue;
                if (!at(row, column)) at(row, column) = to.allocate(bytes, how);
                add(to, {cube, cube, 0},
                    {in(at(row, step), bytes), in(at(step, column), bytes), inout(at(row, column), bytes, marked)});
            }
    }
}

/// A matrix is multiplied by seven products of half its size, whose operands the task allocates itself.
void strassen_below(program& to, distribution how, std::uint32_t parent, double size, unsigned depth,
                    const std::vector<region>& operands) {
    const auto self = static_cast<std::uint32_t>(to.tasks.size());
    {
        auto& made = to.tasks.emplace_back();
        made.parent = parent;
        made.group = self; // siblings differ in their regions anyway
        made.waits_for_children = true;
        made.regions = operands;
    }
    if (depth == 0) {
        to.tasks[self].its = {size * size * size, size * size * size, 0};
        return;
    }
    const auto half_bytes = static_cast<std::uint64_t>(size * size);
    to.tasks[self].its = {0, 22 * size * size / 4, 0};
    std::array<std::array<region, 3>, 7> products;
    for (auto& product : products)
        for (unsigned each = 0; each < 3; ++each) {
            const auto begin = to.allocate(half_bytes, how, self);
            product[each] = {begin, half_bytes, access::footprint, false};
        }
    // What it allocates, it writes: a task's regions may be allocated by the task itself.
    for (const auto& product : products)
        for (const auto& each : product) to.tasks[self].regions.push_back(each);
    for (const auto& product : products)
        strassen_below(to, how, self, size / 2, depth - 1, {product.begin(), product.end()});
}

} // namespace

std::span<const char* const> paper_program_names() { return names; }

distribution advised_distribution(const std::string& name) {
    if (name == "strassen") return distribution::standard;
    return name == "reduction" || name == "jacobi" ? distribution::fine : distribution::coarse;
}

program paper_program(const std::string& name, distribution how, bool tiles) {
    program made;
    made.name = name;
    if (name == "map") {
        vectors(made, how, tiles ? 63 : 48, tiles ? 32u << 10 : 1u << 20, 1, 4);
    } else if (name == "vecmul") {
        pairs(made, how, tiles ? 64 : 48, tiles ? 28u << 10 : 1u << 20);
    } else if (name == "reduction") {
        reduction(made, how, tiles ? 700u << 10 : 256u << 20, tiles ? 6 : 10);
    } else if (name == "matmul") {
        matmul(made, how, tiles ? 512 : 4096, tiles ? 32 : 128);
    } else if (name == "jacobi") {
        jacobi(made, how, tiles ? 512 : 16384, tiles ? 64 : 512, 10);
    } else if (name == "sparselu") {
        sparselu(made, how, tiles ? 1152 : 8192, tiles ? 36 : 256, tiles);
    } else if (name == "strassen") {
        strassen_below(made, how, none, tiles ? 256 : 2048, 3, {});
    } else {
        throw transfer_error(status::invalid_value,
                             "no program " + name +
                                 ": there are map, reduction, vecmul, matmul, jacobi, sparselu, strassen");
    }
    return made;
}

} // namespace causeway::tasks::simulator

// SPDX-License-Identifier: Apache-2.0
// The search on a device: buffers, kernels, best hits.
#include "smith_waterman/problem.hpp"

#include "smith_waterman/kernels.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace smith_waterman {

namespace {

bool better(const hit& one, const hit& other) {
    return one.score != other.score ? one.score > other.score : one.sequence < other.sequence;
}

cl_uint compute_units(cl_device_id device) {
    cl_uint units = 1;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), "clGetDeviceInfo");
    return units;
}

} // namespace

problem::problem(const smith_waterman::database& database, const std::vector<sequence>& queries, gaps gaps,
                 std::size_t hits, kernel_form form, cl_device_id device)
    : m_database(database), m_queries(queries.size()), m_kept_hits(hits),
      m_vectors(form == kernel_form::automatic ? (apps::device_type(device) & CL_DEVICE_TYPE_CPU) != 0
                                               : form == kernel_form::vectors),
      // A few for each core: what an item does takes long enough, and each needs columns of its own.
      m_items(4 * std::size_t(compute_units(device))), m_score_bytes(database.most_groups() * lanes * sizeof(cl_short)),
      m_context(apps::create_context(device)), m_queue(apps::create_in_order_queue(m_context.get(), device)),
      m_transfer_queue(apps::create_in_order_queue(m_context.get(), device)),
      m_program(apps::build_program(
          m_context.get(), device, kernel_source,
          "-D CODES=" + std::to_string(codes) + " -D LETTERS=" + std::to_string(alphabet.size()) +
              " -D LANES=" + std::to_string(lanes) + " -D GAP_FIRST=" + std::to_string(gaps.open + gaps.extend) +
              " -D GAP_NEXT=" + std::to_string(gaps.extend))),
      m_matrix(make_constant(blosum62().data(), sizeof(matrix))), m_slots(slots), m_hits(queries.size()) {
    constexpr std::size_t highest_score = 11; // of two residues
    constexpr std::size_t longest = std::numeric_limits<cl_short>::max() / highest_score;
    std::size_t most_residues = 0;
    for (const sequence& query : queries) {
        if (query.residues.empty() || query.residues.size() > longest)
            throw std::invalid_argument("the query " + query.name + " has " + std::to_string(query.residues.size()) +
                                        " residues; it must have 1 to " + std::to_string(longest));
        m_query_residues += query.residues.size();
        most_residues = std::max(most_residues, query.residues.size());
    }
    m_scratch = apps::create_buffer(m_context.get(), m_vectors ? m_items * 2 * most_residues * lanes * sizeof(cl_short)
                                                               : database.chunk_size() * sizeof(cl_short2));
    for (slot& slot : m_slots) {
        slot.chunk = apps::create_buffer(m_context.get(), database.chunk_size());
        slot.scores = apps::create_buffer(m_context.get(), m_queries * m_score_bytes);
        slot.scores_on_host = std::make_unique<apps::pinned_memory>(m_context.get(), m_queue.get(),
                                                                    m_queries * m_score_bytes);
    }
    for (std::size_t number = 0; number < queries.size(); ++number) bind(queries[number], number);
}

apps::buffer problem::make_constant(const void* data, std::size_t size) const {
    cl_int code = CL_SUCCESS;
    apps::buffer made(
        clCreateBuffer(m_context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, size, const_cast<void*>(data), &code));
    apps::check(code, "clCreateBuffer");
    return made;
}

void problem::bind(const sequence& query, std::size_t number) {
    const auto length = query.residues.size();
    const auto tiles = (length + tile_rows - 1) / tile_rows;
    if (m_vectors) {
        m_constants.push_back(make_constant(query.residues.data(), length));
    } else {
        std::vector<cl_char> profile;
        for (const auto& row : blosum62())
            for (std::size_t at = 0; at < tiles * tile_rows; ++at)
                profile.push_back(at < length ? row[std::uint8_t(query.residues[at])] : cl_char(padding_score));
        m_constants.push_back(make_constant(profile.data(), profile.size()));
    }
    for (slot& slot : m_slots) {
        slot.kernels.push_back(apps::create_kernel(m_program.get(), m_vectors ? "search_lanes" : "search_tiles"));
        cl_kernel kernel = slot.kernels.back().get();
        // Scores of the queries lie one behind the other.
        const auto first_score = cl_uint(number * m_score_bytes / sizeof(cl_short));
        if (m_vectors)
            apps::set_arguments(kernel, slot.chunk.get(), m_constants.back().get(), cl_int(length), m_matrix.get(),
                                m_scratch.get(), slot.scores.get(), first_score);
        else
            apps::set_arguments(kernel, slot.chunk.get(), m_constants.back().get(), cl_int(tiles), m_scratch.get(),
                                slot.scores.get(), first_score);
    }
}

void problem::reset(parts wanted) {
    m_parts = wanted;
    m_collected = 0;
    for (auto& kept : m_hits) kept.clear();
}

apps::event problem::enqueue_search(std::size_t chunk, int slot, std::initializer_list<cl_event> wait_list) {
    auto& used = m_slots[std::size_t(slot)];
    const std::vector<cl_event> events(wait_list);
    const auto count = cl_uint(events.size());
    const cl_event* before = events.empty() ? nullptr : events.data();
    cl_event complete = nullptr;
    if (m_parts == parts::transfers) {
        apps::check(clEnqueueMarkerWithWaitList(m_queue.get(), count, before, &complete),
                    "clEnqueueMarkerWithWaitList");
        return apps::event(complete);
    }
    const std::size_t local = m_vectors ? 1 : 4 * lanes;
    const std::size_t groups = m_database.chunks()[chunk].groups;
    const std::size_t items = m_vectors ? std::min(m_items, groups) : (groups * lanes + local - 1) / local * local;
    for (std::size_t query = 0; query < m_queries; ++query)
        apps::check(clEnqueueNDRangeKernel(m_queue.get(), used.kernels[query].get(), 1, nullptr, &items, &local,
                                           query == 0 ? count : 0, query == 0 ? before : nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    apps::check(clEnqueueReadBuffer(m_queue.get(), used.scores.get(), CL_FALSE, 0, m_queries * m_score_bytes,
                                    used.scores_on_host->data(), 0, nullptr, &complete),
                "reading scores");
    apps::check(clFlush(m_queue.get()), "clFlush");
    return apps::event(complete);
}

void problem::collect(std::size_t chunk, int slot) {
    const auto& from = m_database.chunks()[chunk];
    const std::uint64_t count = std::min<std::uint64_t>(from.groups * lanes,
                                                        m_database.sequences() - from.first_sequence);
    const auto* scores = static_cast<const cl_short*>(m_slots[std::size_t(slot)].scores_on_host->data());
    for (std::size_t query = 0; query < m_queries && m_parts == parts::both; ++query) {
        auto& kept = m_hits[query];
        for (std::uint64_t at = 0; at < count; ++at) {
            const hit found{scores[query * m_score_bytes / sizeof(cl_short) + at], from.first_sequence + at};
            if (kept.size() == m_kept_hits) {
                if (!better(found, kept.front())) continue;
                std::ranges::pop_heap(kept, better);
                kept.pop_back();
            }
            kept.push_back(found);
            std::ranges::push_heap(kept, better);
        }
    }
    ++m_collected;
}

std::vector<hit> problem::hits(std::size_t query) const {
    std::vector<hit> sorted = m_hits[query];
    std::ranges::sort(sorted, better);
    return sorted;
}

double problem::cells() const { return double(m_query_residues) * double(m_database.residues()); }

} // namespace smith_waterman

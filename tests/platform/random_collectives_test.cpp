// SPDX-License-Identifier: Apache-2.0
// Collectives with arguments by chance, a good part of them wrong, against a model of every byte: what is refused has
// moved nothing, what is not leaves what the same does on the host. CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a
// run.
#include "platform_fixture.hpp"
#include "support/random_arguments.hpp"

#include <CL/cl_cluster.h>

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

using namespace support;

namespace {

enum class kind { broadcast, scatter, gather, all_gather, all_to_all, reduce, all_reduce, reduce_scatter, scan };
constexpr std::size_t kinds = 9, size = 1024;
constexpr cl_uint most_parts = 5;

bool is_reduction(kind what) { return what >= kind::reduce; }
bool has_one_source(kind what) { return what == kind::broadcast || what == kind::scatter; }
bool has_one_target(kind what) { return what == kind::gather || what == kind::reduce; }
bool source_has_all_pieces(kind what) {
    return what == kind::scatter || what == kind::all_to_all || what == kind::reduce_scatter;
}
bool target_has_all_pieces(kind what) {
    return what == kind::gather || what == kind::all_gather || what == kind::all_to_all;
}

using bytes = std::vector<unsigned char>;

template <class Element> Element combined(cl_reduction_op op, Element one, Element other) {
    using unsigned_element = std::make_unsigned_t<Element>;
    const auto first = static_cast<unsigned_element>(one), second = static_cast<unsigned_element>(other);
    switch (op) {
    case CL_REDUCTION_SUM: return static_cast<Element>(static_cast<unsigned_element>(first + second));
    case CL_REDUCTION_MIN: return std::min(one, other);
    case CL_REDUCTION_MAX: return std::max(one, other);
    default: return static_cast<Element>(first ^ second);
    }
}

template <class Element> void combine_as(cl_reduction_op op, bytes& into, const bytes& with) {
    for (std::size_t at = 0; at + sizeof(Element) <= into.size(); at += sizeof(Element)) {
        Element one, other;
        std::memcpy(&one, into.data() + at, sizeof one);
        std::memcpy(&other, with.data() + at, sizeof other);
        one = combined(op, one, other);
        std::memcpy(into.data() + at, &one, sizeof one);
    }
}

struct element {
    cl_channel_type type;
    std::size_t size;
    void (*combine)(cl_reduction_op, bytes&, const bytes&);
};
// A program is built for each of these and each operator.
constexpr std::array<element, 3> elements{element{CL_SIGNED_INT8, 1, combine_as<std::int8_t>},
                                          {CL_UNSIGNED_INT16, 2, combine_as<std::uint16_t>},
                                          {CL_SIGNED_INT32, 4, combine_as<std::int32_t>}};
constexpr std::array<cl_reduction_op, 4> operators{CL_REDUCTION_SUM, CL_REDUCTION_MIN, CL_REDUCTION_MAX,
                                                   CL_REDUCTION_XOR};

/// A buffer as calls name it, and where it lies in one of the models.
struct named_buffer {
    cl_mem raw;
    std::size_t model, begin, size;
};

class random_collectives : public platform_test, protected random_numbers {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        const auto seed = number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, size);
        RecordProperty("seed", std::to_string(seed));
        for (std::size_t i = 0; i < m_models.size(); ++i) {
            for (auto& each : m_models[i]) each = static_cast<unsigned char>(below(256));
            m_buffers.push_back(new_buffer(size));
            ASSERT_EQ(clEnqueueWriteBuffer(queue(i % devices().size()), m_buffers[i].get(), CL_TRUE, 0, size,
                                           m_models[i].data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            m_named.push_back({m_buffers[i].get(), i, 0, size});
        }
        const cl_buffer_region second_half{size / 2, size / 2};
        cl_int code = CL_SUCCESS;
        m_buffers.emplace_back(clCreateSubBuffer(m_buffers[0].get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                                 &second_half, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        m_named.push_back({m_buffers.back().get(), 0, size / 2, size / 2});
        for (cl_uint i = 0; i < most_parts; ++i) m_queues.push_back(queue(i % devices().size()));
    }
    static std::uint64_t calls() { return number_of("CAUSEWAY_TEST_CALLS", 300); }

    /// Where the parts of one side are.
    struct side {
        std::vector<named_buffer> where;
        std::vector<cl_mem> list;
        std::vector<std::size_t> offsets;
        bool has_offsets = true;

        [[nodiscard]] std::size_t first_of(std::size_t part) const { return where[part].begin + offsets[part]; }
        [[nodiscard]] bool has_range(std::size_t bytes) const {
            for (std::size_t i = 0; i < where.size(); ++i)
                if (where[i].raw == nullptr || !(large(offsets[i]) + bytes <= large(where[i].size))) return false;
            return true;
        }
    };
    side any_side(std::size_t count, std::size_t from, std::size_t of, bool has_place_for_offsets) {
        side made;
        made.has_offsets = has_place_for_offsets && !one_of(5);
        for (std::size_t i = 0; i < count; ++i) {
            made.where.push_back(one_of(60) ? named_buffer{nullptr, 0, 0, 0} : m_named[from + below(of)]);
            made.list.push_back(made.where.back().raw);
            made.offsets.push_back(has_place_for_offsets && !made.has_offsets ? 0
                                   : one_of(40)                               ? number()
                                                                              : 4 * below(96));
        }
        return made;
    }
    [[nodiscard]] bytes contents(const named_buffer& of, std::size_t first, std::size_t count) const {
        const auto& model = m_models[of.model];
        return {model.begin() + static_cast<std::ptrdiff_t>(first),
                model.begin() + static_cast<std::ptrdiff_t>(first + count)};
    }
    static bool meet(const named_buffer& one, std::size_t first, std::size_t bytes_of_one, const named_buffer& other,
                     std::size_t second, std::size_t bytes_of_other) {
        return one.model == other.model && first < second + bytes_of_other && second < first + bytes_of_one;
    }
    void finish_all() {
        for (std::size_t i = 0; i < devices().size(); ++i) ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
    }
    void expect_models(const std::string& what) {
        for (std::size_t i = 0; i < m_models.size(); ++i) {
            bytes found(size);
            ASSERT_EQ(clEnqueueReadBuffer(queue(below(devices().size())), m_buffers[i].get(), CL_TRUE, 0, size,
                                          found.data(), 0, nullptr, nullptr),
                      CL_SUCCESS);
            ASSERT_EQ(found, m_models[i]) << what << ", buffer " << i;
        }
    }

    std::array<bytes, 4> m_models{bytes(size), bytes(size), bytes(size), bytes(size)};
    std::vector<buffer_handle> m_buffers;
    std::vector<named_buffer> m_named;
    std::vector<cl_command_queue> m_queues;
};

} // namespace

TEST_F(random_collectives, leave_what_the_same_does_on_the_host_or_nothing) {
    std::array<std::uint64_t, kinds> accepted{};
    for (std::uint64_t call = 0; call < calls(); ++call) {
        const auto what = static_cast<kind>(below(kinds));
        const auto count = one_of(60) ? 0 : static_cast<cl_uint>(1 + below(most_parts));
        const auto& of = elements[below(elements.size())];
        const bool knows_type = !one_of(40);
        const auto op = one_of(40) ? static_cast<cl_reduction_op>(8 + below(3)) : operators[below(operators.size())];
        const auto amount = one_of(30) ? number() : of.size * (1 + below(32)) + (one_of(30) ? 1 : 0);
        // Mostly not the same buffers on both sides, which mostly overlap.
        const bool is_apart = !one_of(3);
        auto source = any_side(has_one_source(what) ? 1 : count, 0, is_apart ? 2 : m_named.size(),
                               !has_one_source(what));
        auto target = any_side(has_one_target(what) ? 1 : count, is_apart ? 2 : 0, is_apart ? 2 : m_named.size(),
                               !has_one_target(what));
        const auto all = large(amount) * count <= large(SIZE_MAX / 4) ? amount * count : SIZE_MAX;
        const auto source_bytes = source_has_all_pieces(what) ? all : amount,
                   target_bytes = target_has_all_pieces(what) ? all : amount;
        bool fits = count != 0 && amount != 0 && source.has_range(source_bytes) && target.has_range(target_bytes);
        if (is_reduction(what)) fits = fits && knows_type && op <= CL_REDUCTION_XOR && amount % of.size == 0;
        bool has_order = true; // what parts of targets hold that two of them write depends on who is first
        for (std::size_t j = 0; fits && j < target.where.size(); ++j) {
            for (std::size_t i = 0; i < source.where.size(); ++i)
                if (what != kind::reduce && what != kind::all_reduce && !(what == kind::scan && i == j) &&
                    meet(source.where[i], source.first_of(i), source_bytes, target.where[j], target.first_of(j),
                         target_bytes))
                    fits = false;
            for (std::size_t i = 0; i < j; ++i)
                has_order = has_order && !meet(target.where[i], target.first_of(i), target_bytes, target.where[j],
                                               target.first_of(j), target_bytes);
        }
        if (fits && !has_order) continue;

        auto* const from = source.has_offsets ? source.offsets.data() : nullptr;
        auto* const to = target.has_offsets ? target.offsets.data() : nullptr;
        auto* const queues = m_queues.data();
        auto *const sources = source.list.data(), *const targets = target.list.data();
        const auto type = knows_type ? of.type : cl_channel_type{0x4242};
        cl_int code = CL_SUCCESS;
        const auto all_parts = [&](auto function) {
            return function(queues, count, sources, targets, from, to, amount, 0, nullptr, nullptr);
        };
        const auto all_combined = [&](auto function) {
            return function(queues, count, sources, targets, from, to, amount, type, op, nullptr, 0, nullptr, nullptr);
        };
        switch (what) {
        case kind::broadcast:
            code = clEnqueueBroadcastBuffer(queues, sources[0], count, targets, source.offsets[0], to, amount, 0,
                                            nullptr, nullptr);
            break;
        case kind::scatter:
            code = clEnqueueScatterBuffer(queues, sources[0], count, targets, source.offsets[0], to, amount, 0, nullptr,
                                          nullptr);
            break;
        case kind::gather:
            code = clEnqueueGatherBuffer(queues[0], count, sources, targets[0], from, target.offsets[0], amount, 0,
                                         nullptr, nullptr);
            break;
        case kind::all_gather: code = all_parts(clEnqueueAllGatherBuffer); break;
        case kind::all_to_all: code = all_parts(clEnqueueAlltoAllBuffer); break;
        case kind::reduce:
            code = clEnqueueReduceBufferWithOp(queues[0], count, sources, targets[0], from, target.offsets[0], amount,
                                               type, op, nullptr, 0, nullptr, nullptr);
            break;
        case kind::all_reduce: code = all_combined(clEnqueueAllReduceBufferWithOp); break;
        case kind::reduce_scatter: code = all_combined(clEnqueueReduceScatterBufferWithOp); break;
        case kind::scan: code = all_combined(clEnqueueScanBufferWithOp); break;
        }
        std::string text = "call " + std::to_string(call) + ": " + std::to_string(static_cast<int>(what)) + " of " +
                           std::to_string(count) + " x " + std::to_string(amount) + ", op " + std::to_string(op) +
                           ", element " + std::to_string(of.size);
        for (const auto* const each : {&source, &target})
            for (std::size_t i = 0; i < each->where.size(); ++i)
                text += (i == 0 ? "; " : " ") + std::to_string(each->where[i].model) + "@" +
                        std::to_string(each->first_of(i));
        ASSERT_EQ(code == CL_SUCCESS, fits) << text << ": " << code;
        if (fits) {
            ++accepted[static_cast<std::size_t>(what)];
            std::vector<bytes> pieces; // of all sources, one behind the other
            for (std::size_t i = 0; i < source.where.size(); ++i)
                for (std::size_t at = 0; at < source_bytes; at += amount)
                    pieces.push_back(contents(source.where[i], source.first_of(i) + at, amount));
            const auto reduced = [&](std::size_t first, std::size_t step, std::size_t parts) {
                auto result = pieces[first];
                for (std::size_t i = 1; i < parts; ++i) of.combine(op, result, pieces[first + i * step]);
                return result;
            };
            for (std::size_t j = 0; j < target.where.size(); ++j) {
                bytes result;
                const auto append = [&](const bytes& piece) {
                    result.insert(result.end(), piece.begin(), piece.end());
                };
                switch (what) {
                case kind::broadcast: append(pieces[0]); break;
                case kind::scatter: append(pieces[j]); break;
                case kind::gather:
                case kind::all_gather:
                    for (const auto& piece : pieces) append(piece);
                    break;
                case kind::all_to_all:
                    for (std::size_t i = 0; i < count; ++i) append(pieces[i * count + j]);
                    break;
                case kind::reduce:
                case kind::all_reduce: append(reduced(0, 1, count)); break;
                case kind::reduce_scatter: append(reduced(j, count, count)); break;
                case kind::scan: append(reduced(0, 1, j + 1)); break;
                }
                std::copy(result.begin(), result.end(),
                          m_models[target.where[j].model].begin() + static_cast<std::ptrdiff_t>(target.first_of(j)));
            }
        }
        ASSERT_NO_FATAL_FAILURE(finish_all());
        ASSERT_NO_FATAL_FAILURE(expect_models(text));
    }
    for (std::size_t i = 0; i < kinds; ++i) EXPECT_GT(accepted[i], calls() / 200) << "kind " << i;
}

// SPDX-License-Identifier: Apache-2.0
// One-sided commands with arguments by chance: ranges, boxes, strides, words, operations, PEs and addresses. What is
// refused has a documented code and has moved nothing, what is not does what it says, and nothing beside it changes.
// CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a run.
#include "support/random_arguments.hpp"

#include "ranks.hpp"

#include <causeway/symmetric.h>

#include <climits>

namespace symmetric_test {
namespace {

using namespace system_test;
using support::box;
using support::large;
using support::text_of;
using support::triple;

constexpr std::size_t size = 1024;

class symmetric_random_arguments : public ranks_test, protected support::random_numbers {
  protected:
    void SetUp() override {
        ranks_test::SetUp();
        const auto seed = support::number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, size);
        RecordProperty("seed", std::to_string(seed));
        // Each rank is a job of its own: what one draws the others do not.
        ASSERT_EQ(causeway_symmetric_init(own().context(), own().device(), MPI_COMM_SELF, 1 << 20), CL_SUCCESS)
            << causeway_error_last_message();
        m_before = static_cast<unsigned char*>(causeway_symmetric_calloc(1, size));
        m_place = static_cast<unsigned char*>(causeway_symmetric_calloc(1, size));
        m_behind = static_cast<unsigned char*>(causeway_symmetric_calloc(1, size));
        ASSERT_TRUE(m_before != nullptr && m_place != nullptr && m_behind != nullptr);
        for (auto* const each : {&m_heap, &m_buffer_model})
            for (auto& one : *each) one = static_cast<unsigned char>(below(256));
        ASSERT_EQ(causeway_symmetric_put(m_place, m_heap.data(), size, 0), CL_SUCCESS);
        m_buffer = own().make_buffer(m_buffer_model);
        cl_int code = CL_SUCCESS;
        m_foreign_context = own().make_context();
        m_foreign_queue = queue(clCreateCommandQueue(m_foreign_context.get(), own().device(), 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        m_foreign = buffer(clCreateBuffer(m_foreign_context.get(), CL_MEM_READ_WRITE, size, nullptr, &code));
        m_queue = own().make_queue(0);
        m_done = own().make_user_event();
        ASSERT_EQ(clSetUserEventStatus(m_done.get(), CL_COMPLETE), CL_SUCCESS);
        m_list = {m_done.get(), m_done.get()};
    }
    void TearDown() override {
        if (causeway_symmetric_pe() >= 0) {
            EXPECT_EQ(causeway_symmetric_finalize(), CL_SUCCESS);
        }
        ranks_test::TearDown();
    }
    static std::uint64_t calls() { return support::number_of("CAUSEWAY_TEST_CALLS", 1000); }

    /// An address of which most are in the middle allocation, and how many bytes of that are left there.
    struct place {
        unsigned char* address;
        std::size_t offset, left;
        bool is_known;
    };
    place any_place() {
        if (one_of(16)) {
            const std::array<unsigned char*, 6> odd{nullptr,
                                                    m_heap.data(), // ordinary memory
                                                    reinterpret_cast<unsigned char*>(UINTPTR_MAX - below(64)),
                                                    reinterpret_cast<unsigned char*>(std::uintptr_t{1} + below(64)),
                                                    m_place + (std::size_t{1} << 19),
                                                    m_place + (std::size_t{1} << 40)};
            return {odd[below(odd.size())], 0, 0, false};
        }
        const auto offset = below(size);
        return {m_place + offset, offset, size - offset, true};
    }

    void expect_models(const std::string& what) {
        bytes found(size), empty(size, 0);
        ASSERT_EQ(causeway_symmetric_get(found.data(), m_place, size, 0), CL_SUCCESS);
        ASSERT_TRUE(same(found, m_heap)) << what;
        for (auto* const beside : {m_before, m_behind}) {
            ASSERT_EQ(causeway_symmetric_get(found.data(), beside, size, 0), CL_SUCCESS);
            ASSERT_TRUE(same(found, empty)) << what;
        }
        ASSERT_TRUE(same(own().read(m_buffer.get(), 0, size), m_buffer_model)) << what;
    }

    unsigned char *m_before = nullptr, *m_place = nullptr, *m_behind = nullptr;
    bytes m_heap = bytes(size), m_buffer_model = bytes(size);
    buffer m_buffer, m_foreign;
    context m_foreign_context;
    queue m_queue, m_foreign_queue;
    event m_done;
    std::array<cl_event, 2> m_list{};
};

TEST_F(symmetric_random_arguments, of_commands_do_what_they_say_or_nothing) {
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        // What all of them have.
        const auto odd_queue = below(40), odd_list = below(30), odd_buffer = below(40);
        auto* const on = odd_queue == 0 ? nullptr : odd_queue == 1 ? m_foreign_queue.get() : m_queue.get();
        auto* const with = odd_buffer == 0 ? nullptr : odd_buffer == 1 ? m_foreign.get() : m_buffer.get();
        cl_uint count = 0;
        const cl_event* list = nullptr;
        bool list_fits = true;
        if (odd_list == 0) {
            count = 1 + static_cast<cl_uint>(below(3));
            list_fits = false;
        } else if (odd_list == 1) {
            list = m_list.data();
            list_fits = false;
        } else if (odd_list < 6) {
            count = 2;
            list = m_list.data();
        }
        static constexpr std::array<int, 6> odd_pes{1, -1, INT_MAX, INT_MIN, 2, -2};
        const int pe = one_of(24) ? odd_pes[below(odd_pes.size())] : 0;
        const auto blocking = static_cast<cl_bool>(below(3));
        const bool puts = one_of(2);
        const auto which = below(6);
        const auto there = any_place();
        const bool frame_fits = odd_queue > 1 && list_fits && pe == 0;
        const bool buffer_fits = odd_buffer > 1;
        auto* const untouched = reinterpret_cast<cl_event>(0x10);
        cl_event raw = untouched;
        std::string what = "call " + std::to_string(i) + " (" + std::to_string(which) + (puts ? ", put" : ", get") +
                           ") at " + std::to_string(there.offset) + (there.is_known ? "" : " elsewhere");
        cl_int code = CL_SUCCESS;
        bool is_right = frame_fits && there.is_known;
        bytes heap_after = m_heap, buffer_after = m_buffer_model;
        const auto move = [&](std::size_t in_buffer, std::size_t in_heap) {
            puts ? heap_after[in_heap] = m_buffer_model[in_buffer] : buffer_after[in_buffer] = m_heap[in_heap];
        };
        switch (which) {
        case 0:
        case 1: { // ranges, and with a signal
            const auto offset = one_of(3) ? number() : below(size);
            const auto bytes_moved = one_of(3) ? number() : below(size - std::min(size, offset) + 1);
            const bool signals = which == 1 && puts;
            const auto word = any_place();
            const auto value = static_cast<std::uint64_t>(number());
            const auto operation = static_cast<cl_signal_operation>(one_of(12) ? number() : below(2));
            what += ", buffer at " + std::to_string(offset) + " + " + std::to_string(bytes_moved);
            is_right = is_right && buffer_fits && large(offset) + bytes_moved <= large(size) &&
                       bytes_moved <= there.left;
            if (signals) {
                is_right = is_right && word.is_known && word.left >= 8 && word.offset % 8 == 0 && operation < 2;
                code = clEnqueuePutSignal(on, with, blocking, offset, bytes_moved, there.address,
                                          reinterpret_cast<std::uint64_t*>(word.address), value, operation, pe, count,
                                          list, &raw);
            } else {
                code = puts
                           ? clEnqueuePut(on, with, blocking, offset, bytes_moved, there.address, pe, count, list, &raw)
                           : clEnqueueGet(on, with, blocking, offset, bytes_moved, there.address, pe, count, list,
                                          &raw);
            }
            if (!is_right) break;
            for (std::size_t k = 0; k < bytes_moved; ++k) move(offset + k, there.offset + k);
            if (signals) {
                std::uint64_t before = 0;
                std::memcpy(&before, heap_after.data() + word.offset, 8);
                const auto after = operation == CL_SIGNAL_SET ? value : before + value;
                std::memcpy(heap_after.data() + word.offset, &after, 8);
            }
            break;
        }
        case 2: { // boxes
            const auto region = any_region();
            const auto here = any_box(region), other = any_box(region);
            what += ", " + text_of(here) + text_of(other);
            is_right = is_right && buffer_fits && here.fits(size) && other.fits(there.left);
            code = puts ? clEnqueuePutRect(on, with, blocking, here.origin.data(), other.origin.data(), region.data(),
                                           here.row, here.slice, other.row, other.slice, there.address, pe, count, list,
                                           &raw)
                        : clEnqueueGetRect(on, with, blocking, here.origin.data(), other.origin.data(), region.data(),
                                           here.row, here.slice, other.row, other.slice, there.address, pe, count, list,
                                           &raw);
            if (is_right)
                support::visit(
                    region, [&](auto x, auto y, auto z) { move(here.at(x, y, z), there.offset + other.at(x, y, z)); });
            break;
        }
        case 3: { // strides
            const auto element = one_of(12) ? number() : 1 + below(16),
                       elements = one_of(12) ? number() : 1 + below(16);
            const auto offset = one_of(12) ? number() : below(size);
            const auto stride = [&] { return one_of(8) ? number() : one_of(4) ? 0 : element + below(8); };
            const auto here = stride(), other = stride();
            what += ", " + std::to_string(elements) + " of " + std::to_string(element) + " at " +
                    std::to_string(offset) + " by " + std::to_string(here) + " and " + std::to_string(other);
            const auto fits = [&](std::size_t step, std::size_t first, std::size_t room) {
                const auto pitch = step != 0 ? step : element;
                return element != 0 && elements != 0 && pitch >= element &&
                       large(first) + large(elements - 1) * pitch + element <= large(room);
            };
            is_right = is_right && buffer_fits && fits(here, offset, size) && fits(other, 0, there.left);
            code = puts ? clEnqueuePutStrided(on, with, blocking, offset, here, there.address, other, element, elements,
                                              pe, count, list, &raw)
                        : clEnqueueGetStrided(on, with, blocking, offset, here, there.address, other, element, elements,
                                              pe, count, list, &raw);
            if (!is_right) break;
            for (std::size_t k = 0; k < elements; ++k)
                for (std::size_t b = 0; b < element; ++b)
                    move(offset + k * (here != 0 ? here : element) + b,
                         there.offset + k * (other != 0 ? other : element) + b);
            break;
        }
        case 4: { // atomics
            const auto operation = static_cast<cl_atomic_operation>(one_of(12) ? number() : below(9));
            const auto word = one_of(12) ? number() : std::size_t{4} << below(2);
            const auto operand = static_cast<std::uint64_t>(number()), compared = static_cast<std::uint64_t>(number());
            const bool fits = operation != CL_ATOMIC_COMPARE_SWAP || word != 4 || compared <= UINT32_MAX ||
                              compared >= static_cast<std::uint64_t>(INT32_MIN);
            const bool has_result = one_of(2);
            const auto result = one_of(12) ? number() : below(size);
            what += ", operation " + std::to_string(operation) + " on " + std::to_string(word) + ", result at " +
                    std::to_string(result);
            is_right = is_right && operation < 9 && fits && (word == 4 || word == 8) && there.left >= word &&
                       there.offset % word == 0;
            if (has_result && with != nullptr)
                is_right = is_right && buffer_fits && large(result) + word <= large(size);
            code = clEnqueueSymmetricAtomic(on, blocking, operation, word, there.address, operand, compared, pe,
                                            has_result ? with : nullptr, result, count, list, &raw);
            if (!is_right) break;
            const auto mask = word == 4 ? 0xffffffffU : UINT64_MAX;
            std::uint64_t before = 0;
            std::memcpy(&before, m_heap.data() + there.offset, word);
            auto after = before;
            switch (operation) {
            case CL_ATOMIC_SET:
            case CL_ATOMIC_SWAP: after = operand; break;
            case CL_ATOMIC_ADD: after = before + operand; break;
            case CL_ATOMIC_INC: after = before + 1; break;
            case CL_ATOMIC_COMPARE_SWAP: after = before == (compared & mask) ? operand : before; break;
            case CL_ATOMIC_AND: after = before & operand; break;
            case CL_ATOMIC_OR: after = before | operand; break;
            case CL_ATOMIC_XOR: after = before ^ operand; break;
            default: break;
            }
            std::memcpy(heap_after.data() + there.offset, &after, word);
            if (has_result && with != nullptr) std::memcpy(buffer_after.data() + result, &before, word);
            break;
        }
        default: { // a wait for what is so already
            const auto word = one_of(12) ? number() : std::size_t{4} << below(2);
            static constexpr std::array<cl_comparison, 6> odd{6, 7, CL_COMPARE_SIGNED | 6, 0x200, UINT_MAX, INT_MAX};
            const auto comparison = one_of(12) ? odd[below(odd.size())] : cl_comparison{CL_COMPARE_EQ};
            std::uint64_t value = number();
            // A wait names no PE.
            is_right = odd_queue > 1 && list_fits && there.is_known && (word == 4 || word == 8) && there.left >= word &&
                       there.offset % word == 0 && comparison == CL_COMPARE_EQ;
            if (is_right) {
                value = 0;
                std::memcpy(&value, m_heap.data() + there.offset, word);
            }
            what += ", comparison " + std::to_string(comparison) + " of " + std::to_string(word);
            code = clEnqueueWordWait(on, CL_FALSE, there.address, word, comparison, value, count, list, &raw);
            break;
        }
        }
        const event done(raw == untouched ? nullptr : raw);
        ASSERT_EQ(code == CL_SUCCESS && done.get() != nullptr, is_right)
            << what << ": " << code << ", " << causeway_error_last_message();
        if (code != CL_SUCCESS) {
            ASSERT_STRNE(causeway_error_last_message(), "") << what;
            ASSERT_TRUE(code == CL_INVALID_VALUE || code == CL_INVALID_CONTEXT || code == CL_INVALID_COMMAND_QUEUE ||
                        code == CL_INVALID_MEM_OBJECT || code == CL_INVALID_EVENT_WAIT_LIST)
                << what << ": " << code;
        } else {
            ++accepted;
            ASSERT_TRUE(completes(done)) << what;
            m_heap = heap_after;
            m_buffer_model = buffer_after;
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 20);
    EXPECT_LT(accepted, calls() * 3 / 4);
}

TEST_F(symmetric_random_arguments, of_host_calls_do_what_they_say_or_nothing) {
    std::uint64_t accepted = 0;
    bytes host(size, 7);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        const auto there = any_place();
        const int pe = one_of(24) ? static_cast<int>(number()) : 0;
        const auto count = one_of(3) ? number() : below(size);
        const auto which = below(5);
        const auto what = "call " + std::to_string(i) + " (" + std::to_string(which) + ") of " + std::to_string(count) +
                          " at " + std::to_string(there.offset);
        auto after = m_heap;
        // The program says where its memory is, not how large.
        bool is_right = there.is_known && pe == 0 && count <= there.left;
        cl_int code = CL_SUCCESS;
        if (which == 0) {
            code = causeway_symmetric_put(there.address, host.data(), count, pe);
            if (is_right) std::copy_n(host.begin(), count, after.begin() + static_cast<long>(there.offset));
        } else if (which == 1) {
            code = causeway_symmetric_get(host.data(), there.address, count, pe);
            if (is_right) {
                ASSERT_TRUE(std::equal(host.begin(), host.begin() + static_cast<long>(count),
                                       m_heap.begin() + static_cast<long>(there.offset)));
            }
        } else if (which == 2) {
            const auto operation = static_cast<cl_signal_operation>(one_of(12) ? number() : below(2));
            is_right = there.is_known && pe == 0 && there.left >= 8 && there.offset % 8 == 0 && operation < 2;
            code = causeway_symmetric_signal(reinterpret_cast<std::uint64_t*>(there.address), 5, operation, pe);
            std::uint64_t value = 0;
            if (is_right) {
                std::memcpy(&value, m_heap.data() + there.offset, 8);
                value = operation == CL_SIGNAL_SET ? 5 : value + 5;
                std::memcpy(after.data() + there.offset, &value, 8);
            }
        } else if (which == 3) {
            const auto word = one_of(12) ? number() : std::size_t{4} << below(2);
            const auto operation = static_cast<cl_atomic_operation>(one_of(12) ? 9 + number() : 0);
            std::uint64_t before = 0, expected = 0;
            is_right = there.is_known && pe == 0 && (word == 4 || word == 8) && there.left >= word &&
                       there.offset % word == 0 && operation == 0;
            if (operation < 9 && operation != 0) continue; // it came round to a right one
            code = causeway_symmetric_atomic(operation, word, there.address, 0, 0, pe, &before);
            if (is_right) {
                std::memcpy(&expected, m_heap.data() + there.offset, word);
                ASSERT_EQ(before, expected) << what;
            }
        } else {
            std::size_t offset = 77;
            cl_int got = CL_SUCCESS;
            auto* const buffer = causeway_symmetric_buffer(there.address, &offset, &got);
            ASSERT_EQ(buffer != nullptr, there.is_known) << what;
            ASSERT_EQ(got == CL_SUCCESS, there.is_known) << what << ": " << got;
            if (buffer != nullptr) {
                ASSERT_EQ(causeway_symmetric_address(buffer, offset), there.address) << what;
            }
            (void)causeway_symmetric_address(one_of(3) ? nullptr : m_buffer.get(), number());
            continue;
        }
        ASSERT_EQ(code == CL_SUCCESS, is_right) << what << ": " << code << ", " << causeway_error_last_message();
        ASSERT_TRUE(code == CL_SUCCESS || code == CL_INVALID_VALUE) << what << ": " << code;
        if (is_right) m_heap = after;
        accepted += is_right;
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 20);
}

TEST_F(symmetric_random_arguments, of_allocations_fit_or_are_refused) {
    std::vector<unsigned char*> kept;
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls() / 4; ++i) {
        const auto bytes_wanted = number(), alignment = one_of(2) ? std::size_t{1} << below(64) : number();
        const auto count = number();
        const auto which = below(3);
        auto* const made = static_cast<unsigned char*>(which == 0 ? causeway_symmetric_malloc(bytes_wanted)
                                                       : which == 1
                                                           ? causeway_symmetric_calloc(count, bytes_wanted)
                                                           : causeway_symmetric_align(alignment, bytes_wanted));
        if (made == nullptr) {
            (void)causeway_symmetric_free(kept.empty() ? nullptr : kept.back());
            if (!kept.empty()) kept.pop_back();
        } else {
            ++accepted;
            ASSERT_GT(which == 1 ? count : 1, 0u);
            const auto whole = large(which == 1 ? count : 1) * bytes_wanted;
            ASSERT_TRUE(whole <= large(std::size_t{1} << 20)) << count << " * " << bytes_wanted;
            if (which == 2) {
                ASSERT_EQ(reinterpret_cast<std::uintptr_t>(made) % alignment, 0u) << alignment;
            }
            kept.push_back(made);
        }
        // What is no allocation is refused.
        if (one_of(4)) {
            ASSERT_EQ(causeway_symmetric_free(m_place + 1 + below(60)), CL_INVALID_VALUE);
        }
        if (one_of(4)) {
            ASSERT_EQ(causeway_symmetric_free(m_heap.data()), CL_INVALID_VALUE);
        }
    }
    for (auto* const each : kept) ASSERT_EQ(causeway_symmetric_free(each), CL_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(expect_models("after allocations"));
    EXPECT_GT(accepted, 0u);
}

} // namespace
} // namespace symmetric_test

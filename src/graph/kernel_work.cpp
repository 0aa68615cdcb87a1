// SPDX-License-Identifier: Apache-2.0
// A kernel whose arguments are bound once: a cl_kernel for each combination of buffers that its firings meet.
#include "graph/actor_work.hpp"

#include "base/error.hpp"

#include <map>
#include <numeric>

namespace causeway::graph {

namespace {

/// More combinations than this are not worth their memory: one cl_kernel is bound anew for each firing then.
constexpr std::uint64_t most_slots = 512;

/// A piece of a ring and its position in an argument that is not a piece of a ring.
struct joint {
    buffer_piece piece;
    std::size_t offset = 0;
};

/// What a kernel gets as one argument. A range of a ring that no sub-buffer can show (it closes the ring, or begins
/// where the device allows none) is copied before or after the kernel.
struct bound_argument {
    cl_mem buffer = nullptr;
    std::vector<joint> copied; ///< empty if the buffer is part of the ring
};

class argument_source {
  public:
    argument_source(const device& where, device_ring& ring, std::size_t bytes)
        : m_device(where), m_ring(ring), m_bytes(bytes) {}

    [[nodiscard]] bound_argument at(std::int64_t position) {
        bound_argument made;
        m_ring.pieces(position, m_bytes,
                      [&](const buffer_piece& piece, std::size_t done) { made.copied.push_back({piece, done}); });
        const auto& first = made.copied.front().piece;
        if (made.copied.size() == 1 && first.offset == 0 && first.bytes == m_ring.layout().cell_bytes) {
            made.buffer = first.buffer;
        } else if (made.copied.size() == 1 && first.offset % m_device.alignment == 0) {
            made.buffer = m_ring.part(first);
        } else {
            if (!m_joined) m_joined = new_buffer();
            made.buffer = m_joined.get();
            return made;
        }
        made.copied.clear();
        return made;
    }

  private:
    [[nodiscard]] cl::buffer new_buffer() const {
        cl_int code = CL_SUCCESS;
        auto made = cl::buffer::adopt(
            clCreateBuffer(m_device.context.get(), CL_MEM_READ_WRITE, m_bytes, nullptr, &code));
        cl::check(code, "allocating " + bytes_text(m_bytes) + " for a kernel's argument");
        return made;
    }

    const device& m_device;
    device_ring& m_ring;
    std::size_t m_bytes;
    cl::buffer m_joined; // one will do: kernels and copies of one queue come one after another
};

class kernel_work final : public actor_work {
  public:
    kernel_work(const work_parts& parts, std::size_t index)
        : m_self(parts.compiled.actors[index]), m_code(parts.kernels[m_self.node]),
          m_name(parts.described.nodes()[m_self.node].name), m_batch(parts.described.nodes()[m_self.node].batch) {
        const auto& where = parts.devices[parts.compiled.lanes[m_self.lane].where];
        std::uint64_t buffers = 1;
        for (const auto& in : m_self.inputs) {
            auto& ring = *parts.memory.on_device[in.channel];
            m_readers.push_back(&ring.layout().readers[in.reader]);
            m_arguments.emplace_back(where, ring, m_readers.back()->window_bytes());
            buffers = std::lcm(buffers, ring.layout().buffers);
        }
        for (const auto out : m_self.outputs) {
            auto& ring = *parts.memory.on_device[out];
            m_given.push_back(ring.layout().produced_bytes);
            m_arguments.emplace_back(where, ring, m_given.back());
            buffers = std::lcm(buffers, ring.layout().buffers);
        }
        number_arguments();
        choose_work_size();
        const auto combinations = buffers * m_self.repetitions;
        m_fixed = combinations <= most_slots;
        m_slots.resize(m_fixed ? combinations : 1);
        for (std::size_t i = 0; i < m_slots.size(); ++i) make_slot(m_slots[i], i);
    }

    firing_result fire(std::uint64_t number, command_chain& commands) override {
        auto& used = m_slots[number % m_slots.size()];
        if (!m_fixed) bind(used, number);
        for (std::size_t i = 0; i < m_readers.size(); ++i)
            for (const auto& each : used.arguments[i].copied)
                copy(each.piece.buffer, each.piece.offset, used.arguments[i].buffer, each.offset, each.piece.bytes,
                     chain_position::before_others, commands);
        commands.add("enqueueing the kernel",
                     used.copied_after == 0 ? chain_position::last : chain_position::before_others,
                     [&](cl_command_queue queue, cl_uint count, const cl_event* waits, cl_event* event) {
                         return clEnqueueNDRangeKernel(queue, used.kernel.get(), m_dimensions, nullptr, m_global.data(),
                                                       m_code.local[0] == 0 ? nullptr : m_code.local.data(), count,
                                                       waits, event);
                     });
        auto left = used.copied_after;
        for (std::size_t i = m_readers.size(); i < used.arguments.size(); ++i)
            for (const auto& each : used.arguments[i].copied)
                copy(used.arguments[i].buffer, each.offset, each.piece.buffer, each.piece.offset, each.piece.bytes,
                     --left == 0 ? chain_position::last : chain_position::before_others, commands);
        return firing_result::done;
    }

  private:
    struct slot {
        cl::kernel kernel;
        std::vector<bound_argument> arguments; // inputs, then outputs
        std::size_t copied_after = 0;          // pieces of outputs
    };

    static void copy(cl_mem source, std::size_t source_offset, cl_mem target, std::size_t target_offset,
                     std::size_t bytes, chain_position where, command_chain& commands) {
        commands.add("copying part of a window", where,
                     [&](cl_command_queue queue, cl_uint count, const cl_event* waits, cl_event* event) {
                         return clEnqueueCopyBuffer(queue, source, target, source_offset, target_offset, bytes, count,
                                                    waits, event);
                     });
    }

    [[noreturn]] void refuse(const std::string& text) const {
        throw transfer_error(status::invalid_value, std::string("kernel '").append(m_name).append("': ").append(text));
    }

    /// For a call that the author of the graph may have caused.
    [[noreturn]] void refuse(cl_int code, const std::string& text) const {
        const bool shortage = code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
        throw transfer_error(shortage ? code : status::invalid_value,
                             std::string("kernel '").append(m_name).append("': ").append(text).append(": ") +
                                 cl::code_text(code));
    }

    [[nodiscard]] cl::kernel new_kernel() const {
        cl_int code = CL_SUCCESS;
        auto made = cl::kernel::adopt(clCreateKernel(m_code.program.get(), m_code.function.c_str(), &code));
        if (code == CL_INVALID_KERNEL_NAME)
            refuse(code, "it has no function '" + m_code.function + "', but " + functions());
        if (code != CL_SUCCESS) refuse(code, "making the function '" + m_code.function + "'");
        return made;
    }

    /// "a;b;c", as OpenCL 1.2 says it.
    [[nodiscard]] std::string functions() const {
        std::size_t bytes = 0;
        if (clGetProgramInfo(m_code.program.get(), CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS)
            return "others";
        std::string names(bytes, '\0');
        if (clGetProgramInfo(m_code.program.get(), CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr) != CL_SUCCESS)
            return "others";
        return names.c_str();
    }

    /// The arguments that have no value are inputs, then outputs.
    void number_arguments() {
        const auto asked = new_kernel();
        cl_uint count = 0;
        cl::check(clGetKernelInfo(asked.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
                  "asking for a kernel's arguments");
        std::vector<bool> has_value(count, false);
        for (const auto& value : m_code.values) {
            if (value.index >= count)
                refuse("there is no argument " + std::to_string(value.index) + ", the kernel has " +
                       std::to_string(count));
            has_value[value.index] = true;
        }
        for (cl_uint i = 0; i < count; ++i)
            if (!has_value[i]) m_numbers.push_back(i);
        if (m_numbers.size() != m_arguments.size())
            refuse("of its " + std::to_string(count) + " arguments " + std::to_string(m_numbers.size()) +
                   " have no value, but it is connected with " + std::to_string(m_readers.size()) + " inputs and " +
                   std::to_string(m_given.size()) + " outputs");
    }

    void choose_work_size() {
        m_dimensions = m_code.dimensions;
        m_global = m_code.global;
        if (m_dimensions != 0) {
            m_global[m_dimensions - 1] *= m_batch;
            return;
        }
        const auto token = m_given.empty() ? m_readers.front()->consumed_bytes : m_given.front();
        if (m_code.item_bytes == 0) refuse("neither work_dim nor item_size says how many work items it has");
        if (token % m_code.item_bytes != 0)
            refuse("its token of " + bytes_text(token) + " does not divide into work items of " +
                   bytes_text(m_code.item_bytes));
        m_dimensions = 1;
        m_global[0] = token / m_code.item_bytes;
    }

    void make_slot(slot& made, std::uint64_t number) {
        made.kernel = new_kernel();
        for (const auto& value : m_code.values) {
            const auto code = clSetKernelArg(made.kernel.get(), value.index, value.bytes,
                                             value.value.empty() ? nullptr : value.value.data());
            if (code != CL_SUCCESS)
                refuse(code,
                       "argument " + std::to_string(value.index) + " cannot be a value of " + bytes_text(value.bytes));
        }
        bind(made, number);
    }

    void bind(slot& bound, std::uint64_t number) {
        bound.arguments.resize(m_arguments.size());
        bound.copied_after = 0;
        for (std::size_t i = 0; i < m_arguments.size(); ++i) {
            const auto position = i < m_readers.size()
                                      ? m_readers[i]->begin(number)
                                      : static_cast<std::int64_t>(number * m_given[i - m_readers.size()]);
            bound.arguments[i] = m_arguments[i].at(position);
            if (i >= m_readers.size()) bound.copied_after += bound.arguments[i].copied.size();
            const auto code = clSetKernelArg(bound.kernel.get(), m_numbers[i], sizeof(cl_mem),
                                             &bound.arguments[i].buffer);
            if (code != CL_SUCCESS) refuse(code, "argument " + std::to_string(m_numbers[i]) + " cannot be a buffer");
        }
    }

    const actor& m_self;
    const kernel_code& m_code;
    const std::string& m_name;
    std::size_t m_batch;
    std::vector<const channel::reader*> m_readers;
    std::vector<std::size_t> m_given; // bytes of each output
    std::vector<argument_source> m_arguments; // inputs, then outputs
    std::vector<cl_uint> m_numbers;           // of their arguments
    cl_uint m_dimensions = 0;
    std::array<std::size_t, 3> m_global{};
    bool m_fixed = true;
    std::vector<slot> m_slots;
};

} // namespace

std::unique_ptr<actor_work> make_kernel_work(const work_parts& parts, std::size_t actor) {
    return std::make_unique<kernel_work>(parts, actor);
}

} // namespace causeway::graph

// SPDX-License-Identifier: Apache-2.0
// Kernels: one of each driver that has the program, and the arguments that the program has set.
#pragma once

#include "platform/memory.hpp"
#include "platform/program.hpp"
#include "platform/sampler.hpp"

#include <mutex>
#include <vector>

namespace causeway::platform {

/// The value of one argument, as the program gave it.
struct kernel_argument {
    enum class sort { unset, value, local, memory, sampler };
    sort what = sort::unset;
    std::vector<std::byte> value; ///< bytes of a value
    size_t local_bytes = 0;
    cl_mem memory = nullptr; ///< may be null: a kernel may take no buffer
    cl_sampler sampler = nullptr;
    unsigned version = 0; ///< counts the settings
};

/// What a kernel says of an argument.
struct argument_facts {
    enum class sort { unknown, value, local, memory, sampler };
    sort takes = sort::unknown;
    access how = access::write; ///< of memory
    std::uint32_t number_bytes = 0; ///< of a number, or of a vector of numbers; 0 for what is none
    bool every_bit_counts = false;  ///< of these
    bool is_image = false;      ///< memory that is known to be no buffer
};

} // namespace causeway::platform

struct _cl_kernel final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::kernel;

    struct part {
        causeway::platform::driver_object<cl_kernel> raw;
        std::vector<unsigned> applied; ///< version of each argument that the driver has
    };

    /// Throws the driver's code where the kernel cannot be made. Collective in a cluster.
    _cl_kernel(_cl_program& of, const char* name);

    void set(cl_uint index, size_t size, const void* value);
    void take_arguments(_cl_kernel& from);
    /// Sets the arguments that the driver of `at` lacks, and returns its kernel. `mutex` is held, and the context's
    /// order if the context spans driver contexts.
    [[nodiscard]] cl_kernel with_arguments(causeway::platform::driver_context& at);
    /// The memory objects that a launch uses now.
    [[nodiscard]] std::vector<causeway::platform::memory_use> uses();
    /// Another kernel of the driver, without arguments.
    [[nodiscard]] causeway::platform::driver_object<cl_kernel> another(causeway::platform::driver_context& at) const;
    /// Another kernel of the driver with the arguments that are set now, for a launch that comes later. Locks as above.
    [[nodiscard]] std::shared_ptr<causeway::platform::driver_object<cl_kernel>>
    snapshot(causeway::platform::driver_context& at);
    /// What is set, and what the kernel says of it; with `mutex` held.
    [[nodiscard]] const causeway::platform::kernel_argument& argument(cl_uint index) const {
        return m_arguments[index];
    }
    [[nodiscard]] const causeway::platform::argument_facts& facts(cl_uint index) const { return m_facts[index]; }
    /// Whether the argument is known to be a number or a vector of numbers.
    [[nodiscard]] bool takes_number(cl_uint index) const { return m_facts[index].every_bit_counts; }
    /// Whether the argument may be memory: a kernel that came as a binary may not say.
    [[nodiscard]] bool may_take_memory(cl_uint index) const {
        using sort = causeway::platform::argument_facts::sort;
        return m_facts[index].takes == sort::memory || m_facts[index].takes == sort::unknown;
    }
    /// On the rank that is asked.
    [[nodiscard]] part& any_part();
    [[nodiscard]] cl_uint argument_count() const { return static_cast<cl_uint>(m_arguments.size()); }
    /// Whether all arguments are set; with `mutex` held.
    [[nodiscard]] bool complete() const;

    const causeway::platform::ref<_cl_program> program;
    const causeway::platform::ref<_cl_context> context;
    const std::string name;
    std::vector<part> parts; ///< one for each driver context
    int asked; ///< the rank whose driver is asked about the kernel
    std::mutex mutex; ///< guards arguments and what drivers have of them

  private:
    cl_int make_parts();
    void learn(const part& from);
    /// Takes what the first owner of a device of the program says of the kernel, as all ranks do; `code` is what came
    /// out here.
    void agree(cl_int code);
    cl_int give(cl_kernel raw, causeway::platform::driver_context& at, cl_uint index);
    /// Throws CL_INVALID_ARG_SIZE for a size that cannot be the argument's, before anything is read.
    void check_size(cl_uint index, causeway::platform::argument_facts::sort takes, size_t size) const;
    void set_value(cl_uint index, size_t size, const void* value);

    std::vector<causeway::platform::kernel_argument> m_arguments;
    std::vector<causeway::platform::argument_facts> m_facts;
};

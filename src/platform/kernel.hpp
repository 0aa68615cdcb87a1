// SPDX-License-Identifier: Apache-2.0
// Kernels: behind each, one kernel of every driver that has the program, and the arguments set so far.
#pragma once

#include "platform/memory.hpp"
#include "platform/program.hpp"
#include "platform/sampler.hpp"

#include <mutex>
#include <optional>
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
    unsigned version = 0; ///< increases with each clSetKernelArg
};

/// What is known of a kernel argument, from clGetKernelArgInfo.
struct argument_facts {
    enum class sort { unknown, value, local, memory, sampler };
    sort takes = sort::unknown;
    access how = access::write; ///< of memory
    std::uint32_t number_bytes = 0; ///< size of a number or vector of numbers; 0 for other types
    bool every_bit_counts = false;  ///< the value is such a number, without padding bits
    bool is_image = false;      ///< known to be an image, not a buffer
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
    /// Sets the arguments that the driver of `at` lacks, and returns its kernel. Hold `mutex`, and the context's
    /// `order` if it spans driver contexts.
    [[nodiscard]] cl_kernel with_arguments(causeway::platform::driver_context& at);
    /// Memory objects that a launch with the current arguments uses.
    [[nodiscard]] std::vector<causeway::platform::memory_use> uses() const;
    /// That of one argument; none if it is no memory object.
    [[nodiscard]] std::optional<causeway::platform::memory_use> use_of(cl_uint index) const;
    /// A new kernel object of the driver, with no arguments set.
    [[nodiscard]] causeway::platform::driver_object<cl_kernel> another(causeway::platform::driver_context& at) const;
    /// A new kernel object of the driver with the current arguments, for a deferred launch. Locks as with_arguments().
    [[nodiscard]] std::shared_ptr<causeway::platform::driver_object<cl_kernel>>
    snapshot(causeway::platform::driver_context& at);
    /// The value of an argument, and what is known of it. Hold `mutex`.
    [[nodiscard]] const causeway::platform::kernel_argument& argument(cl_uint index) const {
        return m_arguments[index];
    }
    [[nodiscard]] const causeway::platform::argument_facts& facts(cl_uint index) const { return m_facts[index]; }
    /// Whether the argument is known to be a number or a vector of numbers.
    [[nodiscard]] bool takes_number(cl_uint index) const { return m_facts[index].every_bit_counts; }
    /// Whether the argument may be memory; unknown (true) for kernels from binaries without argument info.
    [[nodiscard]] bool may_take_memory(cl_uint index) const {
        using sort = causeway::platform::argument_facts::sort;
        return m_facts[index].takes == sort::memory || m_facts[index].takes == sort::unknown;
    }
    /// A part whose driver can be asked about the kernel. Call on rank `asked` only.
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
    /// Sets `asked` to the first rank with a device of the program whose driver has the kernel; all ranks adopt its
    /// facts. `code` is this rank's result. Collective.
    void agree(cl_int code);
    cl_int give(cl_kernel raw, causeway::platform::driver_context& at, cl_uint index);
    /// Throws CL_INVALID_ARG_SIZE for a size that cannot be the argument's, before anything is read.
    void check_size(cl_uint index, causeway::platform::argument_facts::sort takes, size_t size) const;
    void set_value(cl_uint index, size_t size, const void* value);

    std::vector<causeway::platform::kernel_argument> m_arguments;
    std::vector<causeway::platform::argument_facts> m_facts;
};

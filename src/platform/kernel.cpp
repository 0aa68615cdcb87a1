// SPDX-License-Identifier: Apache-2.0
// Keeps arguments until the driver that runs the kernel needs them.
#include "platform/kernel.hpp"

#include "platform/boundary.hpp"
#include "platform/remote_answer.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <sys/uio.h>
#include <unistd.h>

using namespace causeway::platform;

_cl_kernel::_cl_kernel(_cl_program& of, const char* called)
    : object(own_kind), program(&of), context(of.context), name(called), parts(of.parts.size()), asked(of.asked) {
    agree(guard([&] { return make_parts(); }));
    for (auto& one : parts) one.applied.resize(m_arguments.size());
}

cl_int _cl_kernel::make_parts() {
    cl_int first_failure = CL_INVALID_PROGRAM_EXECUTABLE;
    bool any = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& built = program->parts[i];
        if (!built.raw) continue;
        cl_int code = CL_SUCCESS;
        parts[i].raw = driver_object<cl_kernel>(built.raw.calls().clCreateKernel(built.raw.raw(), name.c_str(), &code));
        if (parts[i].raw) {
            if (!any) learn(parts[i]);
            any = true;
        } else if (first_failure == CL_INVALID_PROGRAM_EXECUTABLE) {
            first_failure = code; // a program may be built for some of its devices only
        }
    }
    return any ? CL_SUCCESS : first_failure;
}

namespace {

/// What came out when a rank made a kernel, as ranks tell each other.
std::string told(cl_int code, const std::vector<argument_facts>& facts) {
    std::string text(reinterpret_cast<const char*>(&code), sizeof code);
    for (const auto& one : facts) {
        text += static_cast<char>(one.takes);
        text += static_cast<char>(one.how);
        text += static_cast<char>(one.number_bytes); // 128 at most
        text += static_cast<char>(one.every_bit_counts);
        text += static_cast<char>(one.is_image);
    }
    return text;
}

cl_int code_of(const std::string& told) {
    cl_int code = CL_SUCCESS;
    std::memcpy(&code, told.data(), sizeof code);
    return code;
}

std::vector<argument_facts> facts_of(const std::string& told) {
    std::vector<argument_facts> facts;
    for (std::size_t at = sizeof(cl_int); at < told.size(); at += 5)
        facts.push_back({static_cast<argument_facts::sort>(told[at]),
                         static_cast<causeway::platform::access>(told[at + 1]),
                         static_cast<unsigned char>(told[at + 2]), told[at + 3] != 0, told[at + 4] != 0});
    return facts;
}

} // namespace

void _cl_kernel::agree(cl_int code) {
    const auto& job = context->job;
    if (!job.asks_ranks()) return check(code);
    const auto mine = told(code, m_facts);
    if (job.all_have(std::hash<std::string>()(mine))) return check(code);
    const auto all = job.gather(mine);
    cl_int first_failure = CL_SUCCESS;
    for (const auto& device : program->devices) {
        const int owner = device->driver.rank;
        const auto& theirs = all[static_cast<std::size_t>(owner)];
        if (code_of(theirs) == CL_SUCCESS) {
            asked = owner;
            if (theirs == mine) return;
            // This rank stands in for others, with a driver unlike theirs, or has not been asked to build.
            m_facts = facts_of(theirs);
            m_arguments.assign(m_facts.size(), {});
            for (auto* const at : context->here())
                if (at->for_queries) parts[at->index] = {};
            return;
        }
        if (first_failure == CL_SUCCESS) first_failure = code_of(theirs);
    }
    throw refusal{first_failure};
}

namespace {

struct number_type {
    std::uint32_t bytes = 0;
    bool every_bit_counts = false;
};

/// Of a number or a vector of numbers. Vectors of three have a fourth element that means nothing.
number_type number_called(std::string_view type) {
    struct scalar {
        std::string_view name;
        std::uint32_t bytes;
    };
    for (const auto& [name, bytes] : {scalar{"char", 1},
                                      {"uchar", 1},
                                      {"short", 2},
                                      {"ushort", 2},
                                      {"int", 4},
                                      {"uint", 4},
                                      {"long", 8},
                                      {"ulong", 8},
                                      {"half", 2},
                                      {"float", 4},
                                      {"double", 8}}) {
        if (!type.starts_with(name)) continue;
        const auto count = type.substr(name.size());
        for (const auto& [text, elements] : {scalar{"", 1}, {"2", 2}, {"3", 4}, {"4", 4}, {"8", 8}, {"16", 16}})
            if (count == text) return {bytes * elements, text != "3"};
    }
    return {};
}

} // namespace

void _cl_kernel::learn(const part& from) {
    const auto& calls = from.raw.calls();
    cl_uint count = 0;
    check(calls.clGetKernelInfo(from.raw.raw(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr));
    m_arguments.resize(count);
    m_facts.resize(count);
    for (cl_uint i = 0; i < count; ++i) {
        auto& facts = m_facts[i];
        const auto ask = [&](cl_kernel_arg_info what, auto& value) {
            return calls.clGetKernelArgInfo(from.raw.raw(), i, what, sizeof value, &value, nullptr) == CL_SUCCESS;
        };
        cl_kernel_arg_address_qualifier address = 0;
        if (!ask(CL_KERNEL_ARG_ADDRESS_QUALIFIER, address)) continue;
        cl_kernel_arg_access_qualifier image = CL_KERNEL_ARG_ACCESS_NONE;
        cl_kernel_arg_type_qualifier type = 0;
        char name_of_type[64] = "";
        (void)ask(CL_KERNEL_ARG_ACCESS_QUALIFIER, image);
        (void)ask(CL_KERNEL_ARG_TYPE_QUALIFIER, type);
        (void)ask(CL_KERNEL_ARG_TYPE_NAME, name_of_type);
        const bool is_image = facts.is_image = image != CL_KERNEL_ARG_ACCESS_NONE;
        if (std::string_view(name_of_type) == "sampler_t")
            facts.takes = argument_facts::sort::sampler;
        else if (address == CL_KERNEL_ARG_ADDRESS_LOCAL)
            facts.takes = argument_facts::sort::local;
        else if (address != CL_KERNEL_ARG_ADDRESS_PRIVATE || is_image)
            facts.takes = argument_facts::sort::memory;
        else
            facts.takes = argument_facts::sort::value;
        if (facts.takes == argument_facts::sort::value) {
            const auto number = number_called(name_of_type);
            facts.number_bytes = number.bytes;
            facts.every_bit_counts = number.every_bit_counts;
        }
        const bool reads_only = is_image ? image != CL_KERNEL_ARG_ACCESS_WRITE_ONLY &&
                                               image != CL_KERNEL_ARG_ACCESS_READ_WRITE
                                         : address == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
                                               (type & CL_KERNEL_ARG_TYPE_CONST) != 0;
        facts.how = reads_only ? access::read : access::write;
    }
}

_cl_kernel::part& _cl_kernel::any_part() {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [](const part& one) { return static_cast<bool>(one.raw); });
    require(found != parts.end(), CL_INVALID_PROGRAM_EXECUTABLE);
    return *found;
}

namespace {

template <class Handle> Handle handle_in(const void* value) {
    Handle handle = nullptr;
    if (value != nullptr) std::memcpy(&handle, value, sizeof handle);
    return handle;
}

/// A kernel that came as a binary may not say what it takes: a value that is a living handle of ours is one.
argument_facts::sort guess(size_t size, const void* value) {
    if (value == nullptr)
        return argument_facts::sort::local; // or no buffer: both are a size alone, for drivers as well
    if (size != sizeof(cl_mem)) return argument_facts::sort::value;
    const auto handle = handle_in<object*>(value);
    if (handle == nullptr || !is_live_handle(handle)) return argument_facts::sort::value;
    return handle->is(kind::sampler) ? argument_facts::sort::sampler : argument_facts::sort::memory;
}

} // namespace

void _cl_kernel::check_size(cl_uint index, argument_facts::sort takes, size_t size) const {
    using sort = argument_facts::sort;
    bool fits = true;
    switch (takes) {
    case sort::memory: fits = size == sizeof(cl_mem); break;
    case sort::sampler: fits = size == sizeof(cl_sampler); break;
    case sort::local: fits = size != 0; break;
    case sort::unknown:
    case sort::value: {
        if (const auto exact = m_facts[index].number_bytes; exact != 0) {
            fits = size == exact;
            break;
        }
        size_t most = 0;
        for (const auto& device : program->devices)
            most = std::max(most, ask<size_t>(*device, CL_DEVICE_MAX_PARAMETER_SIZE));
        fits = size != 0 && size <= most;
        break;
    }
    }
    require(fits, CL_INVALID_ARG_SIZE);
}

namespace {

/// Whether the process has these bytes. Those of one page it has, as it has the first.
bool has_bytes(const void* value, size_t size) {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(value);
    if (first / page == (first + size - 1) / page) return true;
    std::vector<std::byte> room(size);
    const iovec to{room.data(), size};
    const iovec from{const_cast<void*>(value), size};
    const auto got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    return got < 0 ? errno != EFAULT : static_cast<size_t>(got) == size; // some containers forbid the question
}

} // namespace

void _cl_kernel::set_value(cl_uint index, size_t size, const void* value) {
    // PoCL 3.1 copies as many bytes for a structure as it is told.
    require(m_facts[index].number_bytes != 0 || has_bytes(value, size), CL_INVALID_ARG_SIZE);
    const auto judge = std::find_if(parts.begin(), parts.end(),
                                    [](const part& one) { return static_cast<bool>(one.raw); });
    // The driver, which knows how large structures are, reads only what it takes.
    if (judge != parts.end()) check(judge->raw.calls().clSetKernelArg(judge->raw.raw(), index, size, value));
    auto& mine = m_arguments[index];
    const auto* const first = static_cast<const std::byte*>(value);
    mine.value.assign(first, first + size);
    mine.what = kernel_argument::sort::value;
    ++mine.version;
    if (judge != parts.end()) judge->applied[index] = mine.version;
}

void _cl_kernel::set(cl_uint index, size_t size, const void* value) {
    const std::lock_guard lock(mutex);
    require(index < m_arguments.size(), CL_INVALID_ARG_INDEX);
    auto takes = m_facts[index].takes;
    if (takes == argument_facts::sort::unknown) takes = guess(size, value);
    require(takes != argument_facts::sort::local || value == nullptr, CL_INVALID_ARG_VALUE);
    require(takes != argument_facts::sort::value || value != nullptr, CL_INVALID_ARG_VALUE);
    check_size(index, takes, size);
    if (takes == argument_facts::sort::value) return set_value(index, size, value);
    auto next = m_arguments[index];
    switch (takes) {
    case argument_facts::sort::memory:
        next.memory = handle_in<cl_mem>(value);
        if (next.memory != nullptr) {
            require(next.memory->is(kind::mem), CL_INVALID_MEM_OBJECT);
            require(next.memory->context.get() == context.get(), CL_INVALID_MEM_OBJECT);
            // A driver would find out when a launch gives it the object, too late for this call.
            const auto& facts = m_facts[index];
            require(!facts.is_image || next.memory->is_image(), CL_INVALID_MEM_OBJECT);
            // PoCL 3.1 takes an image that the kernel may not read, or not write.
            const auto forbidding = facts.how == access::read ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
            require(!facts.is_image || (next.memory->flags & forbidding) == 0, CL_INVALID_ARG_VALUE);
        }
        next.what = kernel_argument::sort::memory;
        break;
    case argument_facts::sort::sampler:
        next.sampler = handle_in<cl_sampler>(value);
        require(next.sampler != nullptr && next.sampler->is(kind::sampler) &&
                    next.sampler->context.get() == context.get(),
                CL_INVALID_SAMPLER);
        next.what = kernel_argument::sort::sampler;
        break;
    case argument_facts::sort::local:
        next.local_bytes = size;
        next.what = kernel_argument::sort::local;
        break;
    case argument_facts::sort::unknown: // has been guessed
    case argument_facts::sort::value: return;
    }
    ++next.version;
    std::swap(m_arguments[index], next);
    // Drivers know best what fits: the first one that there is here judges at once. Memory objects and samplers of a
    // context that spans driver contexts wait until a launch says where they are needed.
    const bool is_object = takes == argument_facts::sort::memory || takes == argument_facts::sort::sampler;
    if (context->spans() && is_object) return;
    const auto judge = std::find_if(parts.begin(), parts.end(),
                                    [](const part& one) { return static_cast<bool>(one.raw); });
    if (judge == parts.end()) return;
    const auto code = give(judge->raw.raw(), *context->here()[static_cast<std::size_t>(judge - parts.begin())], index);
    if (code != CL_SUCCESS) {
        std::swap(m_arguments[index], next);
        throw refusal{code};
    }
    judge->applied[index] = m_arguments[index].version;
}

bool _cl_kernel::complete() const {
    return std::none_of(m_arguments.begin(), m_arguments.end(),
                        [](const kernel_argument& one) { return one.what == kernel_argument::sort::unset; });
}

void _cl_kernel::take_arguments(_cl_kernel& from) {
    const std::scoped_lock lock(mutex, from.mutex);
    m_arguments = from.m_arguments;
}

cl_int _cl_kernel::give(cl_kernel raw, driver_context& at, cl_uint index) {
    const auto& argument = m_arguments[index];
    const auto& calls = at.calls();
    switch (argument.what) {
    case kernel_argument::sort::unset: return CL_INVALID_KERNEL_ARGS;
    case kernel_argument::sort::value:
        return calls.clSetKernelArg(raw, index, argument.value.size(), argument.value.data());
    case kernel_argument::sort::local: return calls.clSetKernelArg(raw, index, argument.local_bytes, nullptr);
    case kernel_argument::sort::memory: {
        const cl_mem memory = argument.memory == nullptr ? nullptr : argument.memory->raw(at);
        return calls.clSetKernelArg(raw, index, sizeof memory, &memory);
    }
    case kernel_argument::sort::sampler: {
        const cl_sampler sampler = argument.sampler->raws[at.index].raw();
        return calls.clSetKernelArg(raw, index, sizeof sampler, &sampler);
    }
    }
    return CL_INVALID_KERNEL_ARGS;
}

cl_kernel _cl_kernel::with_arguments(driver_context& at) {
    auto& mine = parts[at.index];
    require(static_cast<bool>(mine.raw), CL_INVALID_PROGRAM_EXECUTABLE);
    for (cl_uint i = 0; i < m_arguments.size(); ++i) {
        if (m_arguments[i].version == mine.applied[i]) continue;
        check(give(mine.raw.raw(), at, i));
        mine.applied[i] = m_arguments[i].version;
    }
    return mine.raw.raw();
}

std::optional<memory_use> _cl_kernel::use_of(cl_uint index) const {
    const auto& argument = m_arguments[index];
    if (argument.what != kernel_argument::sort::memory || argument.memory == nullptr) return {};
    const bool reads_only = (argument.memory->flags & CL_MEM_READ_ONLY) != 0;
    return memory_use{argument.memory, reads_only ? access::read : m_facts[index].how};
}

std::vector<memory_use> _cl_kernel::uses() const {
    std::vector<memory_use> all;
    for (cl_uint i = 0; i < argument_count(); ++i)
        if (const auto use = use_of(i)) all.push_back(*use);
    return all;
}

driver_object<cl_kernel> _cl_kernel::another(driver_context& at) const {
    const auto& built = program->part_of(at);
    require(static_cast<bool>(parts[at.index].raw), CL_INVALID_PROGRAM_EXECUTABLE);
    cl_int code = CL_SUCCESS;
    driver_object<cl_kernel> made(built.raw.calls().clCreateKernel(built.raw.raw(), name.c_str(), &code));
    check(code);
    return made;
}

std::shared_ptr<driver_object<cl_kernel>> _cl_kernel::snapshot(driver_context& at) {
    auto made = std::make_shared<driver_object<cl_kernel>>(another(at));
    for (cl_uint i = 0; i < m_arguments.size(); ++i) check(give(made->raw(), at, i));
    return made;
}

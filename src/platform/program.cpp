// SPDX-License-Identifier: Apache-2.0
// Making, building, compiling and linking programs, and asking about them.
#include "platform/program.hpp"

#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/entry_points.hpp"
#include "platform/remote_answer.hpp"

#include <algorithm>

using namespace causeway::platform;

namespace {

std::vector<ref<_cl_device_id>> held(const std::vector<_cl_device_id*>& devices) {
    std::vector<ref<_cl_device_id>> refs;
    for (auto* const device : devices) refs.emplace_back(device);
    return refs;
}

} // namespace

_cl_program::_cl_program(_cl_context& of, std::vector<_cl_device_id*> on)
    : object(own_kind), context(&of), devices(held(on)), asked(on.front()->driver.rank), parts(of.here().size()) {
    for (auto* const device : on)
        if (const auto& at = of.driver_context_of(*device); at.here) parts[at.index].devices.push_back(device);
    for (const auto* at : of.here())
        if (at->for_queries) parts[at->index].devices = at->devices;
}

_cl_program::part& _cl_program::any_part() {
    const auto is_there = [](const part& one) { return static_cast<bool>(one.raw); };
    auto found = std::find_if(parts.begin(), parts.end(),
                              [&](const part& one) { return is_there(one) && one.is_built; });
    if (found == parts.end()) found = std::find_if(parts.begin(), parts.end(), is_there);
    require(found != parts.end(), CL_INVALID_PROGRAM);
    return *found;
}

namespace causeway::platform::entry {

namespace {

using notify = void(CL_CALLBACK*)(cl_program, void*);

std::vector<_cl_device_id*> all_of(const _cl_context& context) {
    std::vector<_cl_device_id*> devices;
    for (const auto& device : context.devices) devices.push_back(device.get());
    return devices;
}

std::vector<cl_device_id> raws_of(const std::vector<_cl_device_id*>& devices) {
    std::vector<cl_device_id> raws;
    for (const auto* device : devices) raws.push_back(device->raw);
    return raws;
}

std::vector<_cl_device_id*> checked_devices(cl_uint count, const cl_device_id* list) {
    require((count == 0) == (list == nullptr), CL_INVALID_VALUE);
    std::vector<_cl_device_id*> devices;
    for (cl_uint i = 0; i < count; ++i) {
        devices.push_back(&checked(list[i], CL_INVALID_DEVICE));
        note(*devices.back());
    }
    return devices;
}

/// What a driver context for queries cannot do, the owners of the devices may: only their codes count, where they are
/// asked.
bool may_fail(const driver_context& at) { return at.for_queries && cluster::of_process().asks_ranks(); }

/// A program with a driver's program at each driver context that has devices of it: create(driver context, part, code).
template <class Create> ref<_cl_program> create(_cl_context& context, std::vector<_cl_device_id*> devices,
                                                Create create_part) {
    auto made = ref<_cl_program>::adopt(new _cl_program(context, std::move(devices)));
    for (auto* const each : context.here()) {
        auto& at = *each;
        auto& part = made->part_of(at);
        if (part.devices.empty()) continue;
        cl_int code = CL_SUCCESS;
        part.raw = driver_object<cl_program>(create_part(at, part, &code));
        if (!may_fail(at)) check(code);
    }
    return made;
}

/// The platform must know which arguments of a kernel are memory, and which of these it only reads.
std::string with_argument_info(const std::string& options) {
    constexpr std::string_view wanted = "-cl-kernel-arg-info";
    if (options.find(wanted) != std::string::npos) return options;
    return options.empty() ? std::string(wanted) : options + " " + std::string(wanted);
}

/// Calls act(driver context, part, raw devices) for the driver contexts of the devices that are asked for, all of them
/// also after a failure. Of ranks whose drivers find each other's builds, one builds, and then the others.
template <class Act> cl_int for_each_part(_cl_program& program, cl_uint count, const cl_device_id* list, Act act) {
    auto chosen = checked_devices(count, list);
    for (auto*& device : chosen) {
        device = &program.context->device_of(*device);
        require(std::any_of(program.devices.begin(), program.devices.end(),
                            [&](const auto& one) { return one.get() == device; }),
                CL_INVALID_DEVICE);
    }
    cl_int first_failure = CL_SUCCESS;
    const auto act_on = [&](driver_context& at, const std::vector<_cl_device_id*>& here) {
        auto& part = program.part_of(at);
        if (!part.raw || here.empty()) return CL_SUCCESS;
        const auto code = act(at, part, raws_of(here));
        if (code == CL_SUCCESS) part.is_built = true;
        return code;
    };
    const auto& job = program.context->job;
    const auto act_here = [&] {
        bool any = false;
        for (auto* const at : program.context->here()) {
            std::vector<_cl_device_id*> here;
            for (auto* const device : program.part_of(*at).devices)
                if (at->for_queries || chosen.empty() ||
                    std::find(chosen.begin(), chosen.end(), device) != chosen.end())
                    here.push_back(device);
            any = any || !here.empty();
            const auto code = act_on(*at, here);
            if (first_failure == CL_SUCCESS && !may_fail(*at)) first_failure = code;
        }
        // A rank none of whose devices are asked for knows the kernels and their arguments by its own driver, if that
        // can build them.
        if (job.is_alone() || any) return;
        auto& at = *program.context->here().front();
        (void)act_on(at, program.part_of(at).devices);
    };
    const bool takes_turns = job.turns.any_is_later && job.asks_ranks();
    if (takes_turns && job.turns.is_later) (void)job.agree(CL_SUCCESS);
    act_here();
    if (takes_turns && !job.turns.is_later) (void)job.agree(CL_SUCCESS);
    const auto code = job.agree(first_failure);
    if (code == CL_SUCCESS && !chosen.empty()) program.asked = chosen.front()->driver.rank;
    return code;
}

/// Throws unless all are programs of the context, with a driver's program for each of `parts` that has devices.
void check_parts(cl_uint count, const cl_program* programs, const _cl_context& context,
                 const std::vector<_cl_program::part>& parts) {
    for (cl_uint i = 0; i < count; ++i) {
        const auto& one = checked(programs[i], CL_INVALID_PROGRAM);
        require(one.context.get() == &context, CL_INVALID_PROGRAM);
        note(one);
        for (size_t at = 0; at < parts.size(); ++at)
            require(parts[at].devices.empty() || one.parts[at].raw || may_fail(*context.here()[at]),
                    CL_INVALID_PROGRAM);
    }
}

/// The drivers' programs at a driver context; one that a context for queries could not make is missing.
std::vector<cl_program> raws_at(const driver_context& at, cl_uint count, const cl_program* programs) {
    std::vector<cl_program> raws;
    for (cl_uint i = 0; i < count; ++i)
        if (const auto& part = programs[i]->part_of(at); part.raw) raws.push_back(part.raw.raw());
    return raws;
}

/// Builds run in the call; the program is told at its end, as the specification lets an implementation do.
cl_int tell(cl_int code, cl_program program, notify done, void* data) {
    const bool was_built = code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE ||
                           code == CL_COMPILE_PROGRAM_FAILURE || code == CL_LINK_PROGRAM_FAILURE;
    if (done == nullptr || !was_built) return code;
    done(program, data);
    return CL_SUCCESS;
}

} // namespace

cl_program CL_API_CALL clCreateProgramWithSource(cl_context handle, cl_uint count, const char** strings,
                                                 const size_t* lengths, cl_int* code) {
    return make_everywhere(code, [&] {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(count != 0 && strings != nullptr, CL_INVALID_VALUE);
        std::string source;
        for (cl_uint i = 0; i < count; ++i) {
            require(strings[i] != nullptr, CL_INVALID_VALUE);
            if (lengths != nullptr && lengths[i] != 0)
                source.append(strings[i], lengths[i]);
            else
                source.append(strings[i]);
        }
        note(source.data(), source.size());
        auto made = create(context, all_of(context), [&](driver_context& at, _cl_program::part&, cl_int* failed) {
            const char* const text = source.c_str();
            const size_t length = source.size();
            return at.calls().clCreateProgramWithSource(at.context.raw(), 1, const_cast<const char**>(&text), &length,
                                                        failed);
        });
        made->source = std::move(source);
        return made;
    });
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context handle, const void* il, size_t length, cl_int* code) {
    return make_everywhere(code, [&] {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(il != nullptr && length != 0, CL_INVALID_VALUE);
        note(il, length);
        auto made = create(
            context, all_of(context), [&](driver_context& at, _cl_program::part&, cl_int* failed) -> cl_program {
                // Drivers of OpenCL 1.2 have the extension, if they have it at all.
                auto call = at.calls().clCreateProgramWithIL;
                if (call == nullptr)
                    call = reinterpret_cast<decltype(call)>(at.calls().clGetExtensionFunctionAddressForPlatform(
                        at.from->platform, "clCreateProgramWithILKHR"));
                if (call != nullptr) return call(at.context.raw(), il, length, failed);
                *failed = CL_INVALID_OPERATION;
                return nullptr;
            });
        made->il.assign(static_cast<const char*>(il), length);
        return made;
    });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context handle, cl_uint count, const cl_device_id* list,
                                                 const size_t* lengths, const unsigned char** binaries, cl_int* status,
                                                 cl_int* code) {
    bool is_tried = false;
    auto* const made = make_everywhere(code, [&] {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(count != 0 && list != nullptr && lengths != nullptr && binaries != nullptr, CL_INVALID_VALUE);
        const auto devices = checked_devices(count, list);
        if (status != nullptr) std::fill_n(status, count, CL_SUCCESS);
        for (cl_uint i = 0; i < count; ++i) {
            require(context.has(*devices[i]), CL_INVALID_DEVICE);
            if (lengths[i] == 0 || binaries[i] == nullptr) {
                if (status != nullptr) status[i] = CL_INVALID_VALUE;
                throw refusal{CL_INVALID_VALUE};
            }
            note(binaries[i], lengths[i]);
        }
        is_tried = true;
        return create(context, devices, [&](driver_context& at, _cl_program::part& part, cl_int* failed) {
            std::vector<size_t> sizes;
            std::vector<const unsigned char*> theirs;
            std::vector<cl_int> results(part.devices.size());
            std::vector<cl_uint> positions;
            for (cl_uint i = 0; i < count; ++i) {
                // A context for queries uses a binary of a driver like its own.
                if (at.for_queries ? !positions.empty() || devices[i]->driver.name != at.from->name
                                   : !at.has(*devices[i]))
                    continue;
                sizes.push_back(lengths[i]);
                theirs.push_back(binaries[i]);
                positions.push_back(i);
            }
            *failed = CL_INVALID_BINARY;
            if (positions.empty()) return cl_program{nullptr};
            const auto raws = raws_of(part.devices);
            auto* const raw = at.calls().clCreateProgramWithBinary(at.context.raw(), static_cast<cl_uint>(raws.size()),
                                                                   raws.data(), sizes.data(), theirs.data(),
                                                                   results.data(), failed);
            for (std::size_t i = 0; status != nullptr && !at.for_queries && i < positions.size(); ++i)
                status[positions[i]] = results[i];
            return raw;
        });
    });
    // Each rank knows what the drivers of its own devices say.
    if (const auto& job = cluster::of_process(); is_tried && status != nullptr && job.asks_ranks())
        for (cl_uint i = 0; i < count; ++i) status[i] = job.from(list[i]->driver.rank, status[i]);
    return made;
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context handle, cl_uint count, const cl_device_id* list,
                                                         const char* names, cl_int* code) {
    return make_everywhere(code, [&] {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(count != 0 && list != nullptr && names != nullptr, CL_INVALID_VALUE);
        note(names, std::strlen(names));
        const auto devices = checked_devices(count, list);
        for (const auto* device : devices) require(context.has(*device), CL_INVALID_DEVICE);
        return create(context, devices, [&](driver_context& at, _cl_program::part& part, cl_int* failed) {
            const auto raws = raws_of(part.devices);
            return at.calls().clCreateProgramWithBuiltInKernels(at.context.raw(), static_cast<cl_uint>(raws.size()),
                                                                raws.data(), names, failed);
        });
    });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) { return retain(program, CL_INVALID_PROGRAM); }
cl_int CL_API_CALL clReleaseProgram(cl_program program) { return release(program, CL_INVALID_PROGRAM); }

cl_int CL_API_CALL clBuildProgram(cl_program handle, cl_uint count, const cl_device_id* list, const char* options,
                                  notify done, void* data) {
    return guard([&] {
        auto& program = checked(handle, CL_INVALID_PROGRAM);
        require(done != nullptr || data == nullptr, CL_INVALID_VALUE);
        program.options = options == nullptr ? "" : options;
        note(program.options.data(), program.options.size());
        const auto theirs = with_argument_info(program.options);
        const auto code = for_each_part(
            program, count, list, [&](driver_context& at, _cl_program::part& part, const auto& raws) {
                return at.calls().clBuildProgram(part.raw.raw(), static_cast<cl_uint>(raws.size()), raws.data(),
                                                 theirs.c_str(), nullptr, nullptr);
            });
        return tell(code, handle, done, data);
    });
}

cl_int CL_API_CALL clCompileProgram(cl_program handle, cl_uint count, const cl_device_id* list, const char* options,
                                    cl_uint header_count, const cl_program* headers, const char** names, notify done,
                                    void* data) {
    return guard([&] {
        auto& program = checked(handle, CL_INVALID_PROGRAM);
        require((header_count == 0) == (headers == nullptr) && (header_count == 0) == (names == nullptr) &&
                    (done != nullptr || data == nullptr),
                CL_INVALID_VALUE);
        check_parts(header_count, headers, *program.context, program.parts);
        for (cl_uint i = 0; i < header_count; ++i) {
            require(names[i] != nullptr, CL_INVALID_VALUE);
            note(names[i], std::strlen(names[i]));
        }
        program.options = options == nullptr ? "" : options;
        note(program.options.data(), program.options.size());
        const auto theirs = with_argument_info(program.options);
        const auto code = for_each_part(
            program, count, list, [&](driver_context& at, _cl_program::part& part, const auto& raws) -> cl_int {
                const auto raw_headers = raws_at(at, header_count, headers);
                if (raw_headers.size() != header_count) return CL_INVALID_PROGRAM;
                return at.calls().clCompileProgram(
                    part.raw.raw(), static_cast<cl_uint>(raws.size()), raws.data(), theirs.c_str(), header_count,
                    header_count == 0 ? nullptr : raw_headers.data(), names, nullptr, nullptr);
            });
        return tell(code, handle, done, data);
    });
}

/// Of one program, where others may have come first; a program that cannot be linked fails as often.
static constexpr int most_links = 8;

cl_program CL_API_CALL clLinkProgram(cl_context handle, cl_uint count, const cl_device_id* list, const char* options,
                                     cl_uint input_count, const cl_program* inputs, notify done, void* data,
                                     cl_int* code) {
    cl_int link_code = CL_SUCCESS;
    auto* const made = make_everywhere(code, [&] {
        auto& context = checked(handle, CL_INVALID_CONTEXT);
        require(input_count != 0 && inputs != nullptr && (done != nullptr || data == nullptr), CL_INVALID_VALUE);
        auto devices = checked_devices(count, list);
        for (const auto* device : devices) require(context.has(*device), CL_INVALID_DEVICE);
        if (devices.empty()) devices = all_of(context);
        auto linked = ref<_cl_program>::adopt(new _cl_program(context, devices));
        check_parts(input_count, inputs, context, linked->parts);
        linked->options = options == nullptr ? "" : options;
        note(linked->options.data(), linked->options.size());
        for (auto* const each : context.here()) {
            auto& at = *each;
            auto& part = linked->part_of(at);
            if (part.devices.empty()) continue;
            const auto raws = raws_of(part.devices);
            const auto raw_inputs = raws_at(at, input_count, inputs);
            if (raw_inputs.size() != input_count) continue;
            cl_int failed = CL_SUCCESS;
            for (int tries = at.from->quirks.loses_links ? most_links : 1; tries > 0; --tries) {
                part.raw = driver_object<cl_program>(at.calls().clLinkProgram(
                    at.context.raw(), static_cast<cl_uint>(raws.size()), raws.data(), linked->options.c_str(),
                    input_count, raw_inputs.data(), nullptr, nullptr, &failed));
                if (failed != CL_LINK_PROGRAM_FAILURE) break;
            }
            part.is_built = failed == CL_SUCCESS;
            if (may_fail(at)) continue;
            // A program that does not link is there all the same, with its log.
            require(failed == CL_SUCCESS || part.raw, failed);
            if (link_code == CL_SUCCESS) link_code = failed;
        }
        return linked;
    });
    if (made == nullptr) return nullptr;
    link_code = cluster::of_process().agree(link_code);
    if (code != nullptr) *code = done == nullptr ? link_code : CL_SUCCESS;
    if (done != nullptr) done(made, data);
    return made;
}

namespace {

/// A program may be built for some of its devices. A driver that has built nothing refuses (PoCL 3.1), where the
/// specification wants binaries of no size.
void check_built(cl_int code) {
    if (code != CL_INVALID_PROGRAM && code != CL_INVALID_PROGRAM_EXECUTABLE) check(code);
}

size_t index_of(const _cl_program& program, const _cl_device_id* device) {
    const auto at = std::find_if(program.devices.begin(), program.devices.end(),
                                 [&](const auto& one) { return one.get() == device; });
    return static_cast<size_t>(at - program.devices.begin());
}

/// What a dry run says of the devices of other ranks: what one of its own has. In callbacks, and when the ranks have
/// left, those have nothing: the program's memory has the size of their own binaries.
template <class Value> void stand_in_for_others(const _cl_program& program, std::vector<Value>& all) {
    const auto is_own = [own = program.context->job.rank()](const auto& device) { return device->driver.rank == own; };
    const auto own = std::find_if(program.devices.begin(), program.devices.end(), is_own);
    if (own == program.devices.end()) return;
    for (size_t i = 0; i < all.size(); ++i)
        if (!is_own(program.devices[i])) all[i] = all[static_cast<size_t>(own - program.devices.begin())];
}

/// Size of each device's binary, in the program's order. Collective in a cluster: each rank has those of its devices.
std::vector<size_t> binary_sizes(_cl_program& program) {
    std::vector<size_t> all(program.devices.size());
    for (auto& part : program.parts) {
        if (!part.raw || index_of(program, part.devices.front()) == all.size()) continue; // for queries only
        std::vector<size_t> theirs(part.devices.size());
        check_built(part.raw.calls().clGetProgramInfo(part.raw.raw(), CL_PROGRAM_BINARY_SIZES,
                                                      theirs.size() * sizeof(size_t), theirs.data(), nullptr));
        for (size_t i = 0; i < theirs.size(); ++i) all[index_of(program, part.devices[i])] = theirs[i];
    }
    const auto& job = program.context->job;
    if (job.is_dry_run()) stand_in_for_others(program, all);
    if (!job.asks_ranks()) return all;
    const auto blobs = job.gather(std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(size_t)));
    for (size_t i = 0; i < all.size(); ++i)
        std::memcpy(&all[i], blobs[static_cast<size_t>(program.devices[i]->driver.rank)].data() + i * sizeof(size_t),
                    sizeof(size_t));
    return all;
}

/// The program has given memory for each device's binary, or null where it wants none.
void copy_binaries(_cl_program& program, unsigned char* const* targets) {
    const auto sizes = binary_sizes(program);
    std::vector<std::vector<unsigned char>> all;
    for (const auto size : sizes) all.emplace_back(size);
    for (auto& part : program.parts) {
        if (!part.raw || index_of(program, part.devices.front()) == all.size()) continue;
        std::vector<unsigned char*> theirs;
        for (auto* const device : part.devices) theirs.push_back(all[index_of(program, device)].data());
        check_built(part.raw.calls().clGetProgramInfo(part.raw.raw(), CL_PROGRAM_BINARIES,
                                                      theirs.size() * sizeof(unsigned char*), theirs.data(), nullptr));
    }
    const auto& job = program.context->job;
    if (job.is_dry_run()) stand_in_for_others(program, all);
    for (size_t i = 0; i < all.size(); ++i) {
        if (job.asks_ranks()) job.calls().broadcast(program.devices[i]->driver.rank, all[i].data(), all[i].size());
        if (targets[i] != nullptr) std::copy(all[i].begin(), all[i].end(), targets[i]);
    }
}

} // namespace

cl_int CL_API_CALL clGetProgramInfo(cl_program handle, cl_program_info name, size_t size, void* value,
                                    size_t* size_ret) {
    return guard([&]() -> cl_int {
        auto& program = checked(handle, CL_INVALID_PROGRAM);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_PROGRAM_REFERENCE_COUNT: return to(program.references());
        case CL_PROGRAM_CONTEXT: return to(static_cast<cl_context>(program.context.get()));
        case CL_PROGRAM_NUM_DEVICES: return to(static_cast<cl_uint>(program.devices.size()));
        case CL_PROGRAM_DEVICES: {
            std::vector<cl_device_id> handles;
            for (const auto& device : program.devices) handles.push_back(device.get());
            return to.list(std::span<const cl_device_id>(handles));
        }
        case CL_PROGRAM_SOURCE: return to.text(program.source);
        case CL_PROGRAM_IL: return to.bytes(program.il.data(), program.il.size());
        case CL_PROGRAM_BINARY_SIZES: return to.list(std::span<const size_t>(binary_sizes(program)));
        case CL_PROGRAM_BINARIES: {
            const auto bytes = program.devices.size() * sizeof(unsigned char*);
            if (value != nullptr) {
                require(size >= bytes, CL_INVALID_VALUE);
                copy_binaries(program, static_cast<unsigned char* const*>(value));
            }
            if (size_ret != nullptr) *size_ret = bytes;
            return CL_SUCCESS;
        }
        default: {
            const auto ask = [&](size_t room, void* where, size_t* used) {
                auto& part = program.any_part();
                return part.raw.calls().clGetProgramInfo(part.raw.raw(), name, room, where, used);
            };
            // Drivers name kernels in orders of their own.
            return answer_of(program.context->job, program.asked, to, ask);
        }
        }
    });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program handle, cl_device_id device_handle, cl_program_build_info name,
                                         size_t size, void* value, size_t* size_ret) {
    return guard([&] {
        auto& program = checked(handle, CL_INVALID_PROGRAM);
        auto& device = checked(device_handle, CL_INVALID_DEVICE);
        require(std::any_of(program.devices.begin(), program.devices.end(),
                            [&](const auto& one) { return one.get() == &device; }),
                CL_INVALID_DEVICE);
        const answer to(size, value, size_ret);
        if (name == CL_PROGRAM_BUILD_OPTIONS) return to.text(program.options);
        const auto& at = program.context->driver_context_of(device);
        const auto ask = [&](size_t room, void* where, size_t* used) {
            // A dry run asks about a device like it.
            auto& part = at.here ? program.part_of(at) : program.any_part();
            const auto on = at.here ? device.raw : part.devices.front()->raw;
            return part.raw.calls().clGetProgramBuildInfo(part.raw.raw(), on, name, room, where, used);
        };
        return answer_of(program.context->job, at.rank, to, ask);
    });
}

} // namespace causeway::platform::entry

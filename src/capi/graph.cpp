// SPDX-License-Identifier: Apache-2.0
// The C interface of stream graphs.
#include "runtime/graph_files.hpp"
#include "runtime/graph_ranks.hpp"
#include "capi/graph_object.hpp"
#include "runtime/runtime.hpp"
#include "cl/calls.hpp"

#include <causeway/graph_mpi.h>

#include <algorithm>
#include <cstring>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

static_assert(CAUSEWAY_ENDLESS == graph::endless);
static_assert(status::mem_object_allocation_failure == CL_MEM_OBJECT_ALLOCATION_FAILURE);

std::string build_log(cl_program program, cl_device_id device) {
    std::size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string log(size, '\0');
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS)
        return {};
    return log.c_str(); // without the terminator
}

cl::program built_program(const char* name, const causeway_kernel& wanted, cl_context context, cl_device_id device) {
    cl_int code = CL_SUCCESS, binary_code = CL_SUCCESS;
    cl::program made;
    if (wanted.source != nullptr) {
        const char* source = wanted.source;
        made = cl::program::adopt(clCreateProgramWithSource(context, 1, &source, nullptr, &code));
    } else {
        const auto* binary = wanted.binary;
        made = cl::program::adopt(
            clCreateProgramWithBinary(context, 1, &device, &wanted.binary_size, &binary, &binary_code, &code));
    }
    cl::check(code, std::string("making the program of kernel '").append(name).append("'"));
    code = clBuildProgram(made.get(), 1, &device, wanted.options, nullptr, nullptr);
    if (code != CL_SUCCESS)
        throw transfer_error(code, std::string("kernel '").append(name).append("' does not build: ") +
                                       build_log(made.get(), device));
    return made;
}

/// Implementations build for any device, and crash later. A part of a device belongs where the whole does.
void require_device(cl_context context, cl_device_id device, const std::string& whose) {
    for (auto* whole = device; whole != nullptr;) {
        if (cl::has_device(context, whole)) return;
        cl_device_id parent = nullptr;
        cl::check(clGetDeviceInfo(whole, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr),
                  "asking for the device " + whose);
        whole = parent;
    }
    throw transfer_error(CL_INVALID_DEVICE, "the device " + whose + " is not one of its context");
}

std::string function_name(cl_kernel kernel) {
    std::size_t size = 0;
    cl::check(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size), "asking for a kernel's name");
    std::string name(size, '\0');
    cl::check(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(), nullptr),
              "asking for a kernel's name");
    return name.c_str();
}

void take_code(graph::kernel_code& code, const char* name, const causeway_kernel& wanted, cl::context& context,
               cl_device_id device) {
    if ((wanted.source != nullptr) + (wanted.binary != nullptr) + (wanted.kernel != nullptr) != 1)
        refuse(std::string("kernel '").append(name).append("' needs one of source, binary and kernel"));
    const auto whose = std::string("of kernel '").append(name).append("'");
    if (wanted.kernel == nullptr) {
        require_device(context.get(), device, whose);
        require(wanted.function, "the name of the kernel's function");
        code.program = built_program(name, wanted, context.get(), device);
        code.function = wanted.function;
        return;
    }
    cl_program program = nullptr;
    cl_context home = nullptr;
    cl::check(clGetKernelInfo(wanted.kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr),
              "asking for a kernel's program");
    cl::check(clGetKernelInfo(wanted.kernel, CL_KERNEL_CONTEXT, sizeof home, &home, nullptr),
              "asking for a kernel's context");
    if (wanted.context != nullptr && wanted.context != home)
        throw transfer_error(status::invalid_context,
                             std::string("kernel '").append(name).append("' belongs to another context"));
    code.program = cl::program::share(program);
    code.function = function_name(wanted.kernel);
    require_device(home, device, whose);
    context = cl::context::share(home);
}

graph::kernel_code kernel_code_of(const char* name, const causeway_kernel& wanted, cl::context& context,
                                  cl_device_id device) {
    graph::kernel_code code;
    take_code(code, name, wanted, context, device);
    if (wanted.work_dim > 3) refuse(std::string("kernel '").append(name).append("' has more than three dimensions"));
    for (cl_uint i = 0; i < wanted.work_dim; ++i) {
        if (wanted.global_size[i] == 0)
            refuse(std::string("kernel '").append(name).append("' has no work items: global_size[") +
                   std::to_string(i) + "] is 0");
        if ((wanted.local_size[i] == 0) != (wanted.local_size[0] == 0))
            refuse(
                std::string("kernel '").append(name).append("' has a local size in some dimensions and not in others"));
    }
    code.dimensions = wanted.work_dim;
    code.item_bytes = wanted.item_size;
    for (cl_uint i = 0; i < wanted.work_dim; ++i) {
        code.global[i] = wanted.global_size[i];
        code.local[i] = wanted.local_size[i];
    }
    // Of a derived work size there is one dimension.
    if (wanted.work_dim == 0) code.local[0] = wanted.local_size[0];
    if (wanted.parameters != nullptr) {
        const auto* const first = static_cast<const std::byte*>(wanted.parameters);
        code.values.push_back({0, wanted.parameters_size, {first, first + wanted.parameters_size}});
    }
    return code;
}

graph::token_reader reader_of(causeway_token_reader reader, void* user) {
    return [reader, user](std::uint64_t number, std::span<std::byte> token) {
        const auto got = reader(user, number, token.data(), token.size());
        if (got == CAUSEWAY_TOKEN_FAILED) throw transfer_error(status::io_error, "the reader failed");
        if (got > token.size()) throw transfer_error(status::io_error, "the reader gave more bytes than the token has");
        return got;
    };
}

void check_code(cl_int code, const char* who) {
    if (code != 0)
        throw transfer_error(code < 0 ? code : status::invalid_operation,
                             std::string(who) + " returned " + std::to_string(code));
}

graph::token_writer writer_of(causeway_token_writer writer, void* user) {
    return [writer, user](std::uint64_t number, std::span<const std::byte> token) {
        check_code(writer(user, number, token.data(), token.size()), "the writer");
    };
}

graph::host_function function_of(causeway_host_function function, void* user) {
    // The arrays of pointers are made once.
    struct pointers {
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
    };
    return [function, user, kept = pointers{}](const graph::host_firing& firing) mutable {
        kept.inputs.resize(firing.inputs.size());
        kept.outputs.resize(firing.outputs.size());
        for (std::size_t i = 0; i < firing.inputs.size(); ++i) kept.inputs[i] = firing.inputs[i].data();
        for (std::size_t i = 0; i < firing.outputs.size(); ++i) kept.outputs[i] = firing.outputs[i].data();
        check_code(function(user, firing.number, kept.inputs.data(), kept.outputs.data()), "the function");
    };
}

graph::edge edge_of(const causeway_edge& wanted) {
    graph::edge made{.source_position = wanted.source_position,
                     .target_position = wanted.target_position,
                     .produced_bytes = wanted.produced_size,
                     .consumed_bytes = wanted.consumed_size,
                     .delay_bytes = wanted.delay_size,
                     .before_bytes = wanted.before_size,
                     .after_bytes = wanted.after_size};
    if (wanted.initial != nullptr) {
        const auto* const first = static_cast<const std::byte*>(wanted.initial);
        made.initial.assign(first, first + wanted.delay_size);
    }
    return made;
}

template <class Make> const char* text_of(causeway_graph* graph, Make make) {
    const char* text = nullptr;
    (void)with(graph, [&](causeway_graph& of) {
        of.text = make(of.built);
        text = of.text.c_str();
    });
    return text;
}

} // namespace

cl_int causeway_graph_create(cl_context context, cl_device_id device, causeway_graph** graph) {
    return guard([&] {
        require(graph, "the output argument graph");
        if (context == nullptr) throw transfer_error(status::invalid_context, "the context is null");
        if (device == nullptr) throw transfer_error(CL_INVALID_DEVICE, "the device is null");
        require_device(context, device, "of the graph");
        *graph = std::make_unique<causeway_graph>(cl::context::share(context), device).release();
        return CL_SUCCESS;
    });
}

void causeway_graph_release(causeway_graph* graph) { const std::unique_ptr<causeway_graph> last(graph); }

cl_int causeway_graph_add_input_stream(causeway_graph* graph, const char* name, const void* data, size_t total_size,
                                       size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        require(data, "the stream's memory");
        // It is only read.
        auto* const memory = const_cast<std::byte*>(static_cast<const std::byte*>(data));
        to.built.add_input(name, total_size, token_size, {.memory = memory});
    });
}

cl_int causeway_graph_add_output_stream(causeway_graph* graph, const char* name, void* data, size_t total_size,
                                        size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        require(data, "the stream's memory");
        to.built.add_output(name, total_size, token_size, {.memory = static_cast<std::byte*>(data)});
    });
}

cl_int causeway_graph_use_page_locked(causeway_graph* graph, const char* stream) {
    return with(graph, [&](causeway_graph& to) {
        require(stream, "the stream's name");
        to.built.use_page_locked(stream);
    });
}

cl_int causeway_graph_add_input_function(causeway_graph* graph, const char* name, causeway_token_reader reader,
                                         void* user, uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        if (reader == nullptr) refuse("the reader is null");
        to.built.add_input(name, total_size, token_size, {.read = reader_of(reader, user)});
    });
}

cl_int causeway_graph_add_output_function(causeway_graph* graph, const char* name, causeway_token_writer writer,
                                          void* user, uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        if (writer == nullptr) refuse("the writer is null");
        to.built.add_output(name, total_size, token_size, {.write = writer_of(writer, user)});
    });
}

cl_int causeway_graph_add_input_file(causeway_graph* graph, const char* name, FILE* file, uint64_t total_size,
                                     size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_input(name, total_size, token_size, file_input(file, total_size, token_size, to.built.bell()));
    });
}

cl_int causeway_graph_add_output_file(causeway_graph* graph, const char* name, FILE* file, uint64_t total_size,
                                      size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_output(name, total_size, token_size, file_output(file, token_size, to.built.bell()));
    });
}

cl_int causeway_graph_add_input_descriptor(causeway_graph* graph, const char* name, int fd, int64_t file_offset,
                                           uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_input(name, total_size, token_size,
                           descriptor_input(fd, file_offset, total_size, token_size, to.built.bell()));
    });
}

cl_int causeway_graph_add_output_descriptor(causeway_graph* graph, const char* name, int fd, int64_t file_offset,
                                            uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_output(name, total_size, token_size,
                            descriptor_output(fd, file_offset, token_size, to.built.bell()));
    });
}

cl_int causeway_graph_set_file_offset(causeway_graph* graph, const char* stream, int64_t file_offset) {
    return with(graph, [&](causeway_graph& of) {
        require(stream, "the stream's name");
        of.built.set_file_offset(stream, file_offset);
    });
}

cl_int causeway_graph_add_kernel(causeway_graph* graph, const char* name, const causeway_kernel* kernel) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        require(kernel, "the kernel");
        auto context = kernel->context != nullptr ? cl::context::share(kernel->context) : to.context;
        auto* const device = kernel->device != nullptr ? kernel->device : to.device;
        auto code = kernel_code_of(name, *kernel, context, device);
        to.built.add_kernel(name, std::move(code), to.built.memory_space_of(context, device));
    });
}

cl_int causeway_graph_set_argument(causeway_graph* graph, const char* kernel, cl_uint index, size_t size,
                                   const void* value) {
    return with(graph, [&](causeway_graph& to) {
        require(kernel, "the kernel's name");
        if (size == 0) refuse("the argument has a size of 0 bytes");
        causeway::graph::kernel_code::argument given{.index = index, .bytes = size};
        if (value != nullptr) {
            const auto* const first = static_cast<const std::byte*>(value);
            given.value.assign(first, first + size);
        }
        to.built.set_argument(kernel, std::move(given));
    });
}

cl_int causeway_graph_add_host_function(causeway_graph* graph, const char* name, causeway_host_function function,
                                        void* user) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        if (function == nullptr) refuse("the function is null");
        to.built.add_function(name, function_of(function, user));
    });
}

cl_int causeway_graph_connect(causeway_graph* graph, const char* source, cl_uint source_position, const char* target,
                              cl_uint target_position, size_t token_size) {
    const causeway_edge edge{.source_position = source_position,
                             .target_position = target_position,
                             .produced_size = token_size,
                             .consumed_size = token_size};
    return causeway_graph_connect_edge(graph, source, target, &edge);
}

cl_int causeway_graph_connect_edge(causeway_graph* graph, const char* source, const char* target,
                                   const causeway_edge* edge) {
    return with(graph, [&](causeway_graph& to) {
        require(source, "the source's name");
        require(target, "the target's name");
        require(edge, "the edge");
        to.built.connect(source, target, edge_of(*edge));
    });
}

cl_int causeway_graph_initialize(causeway_graph* graph) {
    return with(graph, [](causeway_graph& which) {
        const auto& settings = process_options();
        if (auto* const timeline = timeline_of_process())
            which.built.record(timeline->new_recorder(), timeline->new_graph());
        which.built.initialize(static_cast<causeway::graph::overlap>(settings[option::graph]),
                               settings[option::graph_times] != 0);
    });
}

cl_int causeway_graph_execute(causeway_graph* graph) {
    return with(graph, [](causeway_graph& which) {
        auto* const timeline = timeline_of_process();
        const auto compare = [&] {
            if (timeline != nullptr) timeline->compare_clocks(which.context.get(), which.device);
        };
        compare();
        which.built.execute();
        compare();
    });
}

cl_int causeway_graph_stop(causeway_graph* graph) {
    return with(graph, [](causeway_graph& which) { which.built.stop(); });
}

cl_int causeway_graph_token_size(causeway_graph* graph, const char* stream, size_t* token_size) {
    return with(graph, [&](causeway_graph& of) {
        require(stream, "the stream's name");
        require(token_size, "the output argument token_size");
        *token_size = of.built.token_bytes(stream);
    });
}

cl_int causeway_graph_token_count(causeway_graph* graph, const char* stream, uint64_t* count) {
    return with(graph, [&](causeway_graph& of) {
        require(stream, "the stream's name");
        require(count, "the output argument count");
        *count = of.built.token_count(stream);
    });
}

const char* causeway_graph_explain(causeway_graph* graph) {
    return text_of(graph, [](const causeway::graph::stream_graph& of) { return of.explain(); });
}

const char* causeway_graph_to_dot(causeway_graph* graph) {
    return text_of(graph, [](const causeway::graph::stream_graph& of) { return of.to_dot(); });
}

cl_int causeway_graph_add_input_rank(causeway_graph* graph, const char* name, int source, int tag, MPI_Comm comm,
                                     uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_input(name, total_size, token_size,
                           rank_input(source, tag, comm, total_size, token_size, to.built.bell()));
    });
}

cl_int causeway_graph_add_output_rank(causeway_graph* graph, const char* name, int dest, int tag, MPI_Comm comm,
                                      uint64_t total_size, size_t token_size) {
    return with(graph, [&](causeway_graph& to) {
        require(name, "the name");
        to.built.add_output(name, total_size, token_size, rank_output(dest, tag, comm, token_size, to.built.bell()));
    });
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stream graphs: name kernels and streams, connect them, execute. The library does memory, copies and overlap. */
#ifndef CAUSEWAY_GRAPH_H
#define CAUSEWAY_GRAPH_H

/*
 * The interface is that of Komoda, Miwa and Nakamura, "Communication Library to Overlap Computation and Communication
 * for OpenCL Application" (2012): addKernel, addInputStream, addOutputStream, connect, initialize, execute. Rates,
 * delays and windows are those of synchronous data flow (Lee and Messerschmitt 1987); docs/graph.md is a tutorial.
 *
 * A node fires again and again. Each firing takes one token from each of its inputs and gives one to each of its
 * outputs; a token is a number of bytes. Tokens at the two ends of an edge may differ in size.
 *
 * All sizes are in bytes. Functions return CL_SUCCESS or a negative code and then leave a sentence for
 * causeway_error_last_message(); a refused call changes nothing. One thread at a time may use a graph, except for
 * causeway_graph_stop() and causeway_graph_token_count(). Different graphs are independent. Names, kernels and
 * parameters are copied; memory of streams must live as long as the graph.
 */

#include <causeway/causeway.h>

#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct causeway_graph causeway_graph;

/* The total size of a stream that ends when its function says so. */
#define CAUSEWAY_ENDLESS UINT64_MAX
/* The return value of a token reader that fails. */
#define CAUSEWAY_TOKEN_FAILED SIZE_MAX

/* An empty graph whose kernels run on `device` of `context` unless they say otherwise. Both are retained.
 * CL_INVALID_CONTEXT, CL_INVALID_DEVICE if they are null or do not belong together. */
CAUSEWAY_EXPORT cl_int causeway_graph_create(cl_context context, cl_device_id device, causeway_graph** graph);
/* Destroys the graph; not while it executes. Null is allowed. Bytes read ahead from a pipe are lost. */
CAUSEWAY_EXPORT void causeway_graph_release(causeway_graph* graph);

/*
 * A stream of `total_size` bytes of host memory, in tokens of `token_size`, which must divide it. Input memory is only
 * read. Tokens come and go in order, the first at `data`.
 *
 * A `token_size` of 0 leaves the size to the library, if all streams connected with this one say so too. Edges then
 * name the smallest sizes that make sense (a row, a frame, a work item). Tokens become a multiple of them that divides
 * the stream, and kernels get more work: more items if the work size is derived, else more in the last dimension. Loops
 * and streams of unknown length keep the smallest tokens.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_add_input_stream(causeway_graph* graph, const char* name, const void* data,
                                                       size_t total_size, size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_output_stream(causeway_graph* graph, const char* name, void* data,
                                                        size_t total_size, size_t token_size);

/* The memory of `stream` is page-locked (a mapped CL_MEM_ALLOC_HOST_PTR buffer): devices copy from and to it directly,
 * without a copy by the host in between. Any other memory works too, but then such copies are slow and hold up the
 * host. */
CAUSEWAY_EXPORT cl_int causeway_graph_use_page_locked(causeway_graph* graph, const char* stream);

/*
 * Fills `token`, which is `size` bytes long and the `number`th from 0. Returns `size`, 0 at the end of the stream, or
 * CAUSEWAY_TOKEN_FAILED to end the run. Any other value means that the stream ends within a token: the run fails with
 * CL_TRANSFER_END_OF_FILE (-31001). Called on the thread in causeway_graph_execute(), in order.
 */
typedef size_t (*causeway_token_reader)(void* user, uint64_t number, void* token, size_t size);
/* Takes a token. Returns 0, or a negative code, with which the run ends. */
typedef cl_int (*causeway_token_writer)(void* user, uint64_t number, const void* token, size_t size);

/* Streams that begin or end in a function; `total_size` may be CAUSEWAY_ENDLESS. */
CAUSEWAY_EXPORT cl_int causeway_graph_add_input_function(causeway_graph* graph, const char* name,
                                                         causeway_token_reader reader, void* user, uint64_t total_size,
                                                         size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_output_function(causeway_graph* graph, const char* name,
                                                          causeway_token_writer writer, void* user, uint64_t total_size,
                                                          size_t token_size);

/*
 * Streams that begin or end in a file, a pipe or a socket: `file` at its position, as fread and fwrite would; or the
 * descriptor `fd` from `file_offset` on. `fd` must be able to seek; its position does not change. The engine reads a
 * few tokens ahead and writes behind, beside the thread in causeway_graph_execute(); all is written when that call
 * returns. An input of CAUSEWAY_ENDLESS bytes ends with its file. The file must hold whole tokens; if the graph takes
 * several at a time, a multiple of that number. The next run goes on at the position of a FILE, or begins again at
 * `file_offset`. When causeway_graph_execute() returns, the file is no longer read or written, and a FILE stands behind
 * the last token that was taken. If it cannot seek, what was read ahead is kept for the next run. An output at the
 * `file_offset` CL_TRANSFER_APPEND goes to the end of its file, token after token. `file` must live as long as the
 * graph; `fd` is duplicated. CL_INVALID_VALUE for a file that is null, closed or not open for this.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_add_input_file(causeway_graph* graph, const char* name, FILE* file,
                                                     uint64_t total_size, size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_output_file(causeway_graph* graph, const char* name, FILE* file,
                                                      uint64_t total_size, size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_input_descriptor(causeway_graph* graph, const char* name, int fd,
                                                           int64_t file_offset, uint64_t total_size, size_t token_size);
CAUSEWAY_EXPORT cl_int causeway_graph_add_output_descriptor(causeway_graph* graph, const char* name, int fd,
                                                            int64_t file_offset, uint64_t total_size,
                                                            size_t token_size);
/*
 * Sets where the stream of a descriptor begins in later runs, instead of the `file_offset` that it was added with.
 * CL_INVALID_VALUE for another stream or a negative offset; CL_INVALID_OPERATION while the graph executes.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_set_file_offset(causeway_graph* graph, const char* stream, int64_t file_offset);

/*
 * A kernel in OpenCL C. Set what is needed and leave the rest 0 (`causeway_kernel blur = {0};`). Its arguments are, in
 * this order: parameters by value, if any; inputs, __global and only read; outputs, __global. An argument that
 * causeway_graph_set_argument() gives a value may stand anywhere; those without are inputs, then outputs. The library
 * does not know types: it takes each argument without a value for that of a stream.
 */
typedef struct causeway_kernel {
    /* One of three: the source and the name of its function, with options for its compiler; */
    const char* source;
    const char* function;
    const char* options;
    /* a binary for the device, with `function` and `options`; */
    const unsigned char* binary;
    size_t binary_size;
    /* an existing kernel: its program and name are used, its arguments are not. */
    cl_kernel kernel;

    /* Where it runs; null for the graph's. A kernel in another context or of another vendor is welcome. The device must
     * be one of the context: CL_INVALID_DEVICE. */
    cl_context context;
    cl_device_id device;

    /* Argument 0, by value; null if there is none. */
    const void* parameters;
    size_t parameters_size;

    /* The work of one firing, as for clEnqueueNDRangeKernel; local sizes of 0 leave the choice to the implementation.
     * A global size of 0 is refused.
     * With a work_dim of 0 there is one work item for each `item_size` bytes of the first output's token. */
    cl_uint work_dim;
    size_t global_size[3];
    size_t local_size[3];
    size_t item_size;
} causeway_kernel;

/* CL_BUILD_PROGRAM_FAILURE with the compiler's log as the message if the source does not compile. */
CAUSEWAY_EXPORT cl_int causeway_graph_add_kernel(causeway_graph* graph, const char* name,
                                                 const causeway_kernel* kernel);
/* As clSetKernelArg, for an argument that is no input and no output; a null `value` is local memory. */
CAUSEWAY_EXPORT cl_int causeway_graph_set_argument(causeway_graph* graph, const char* kernel, cl_uint index,
                                                   size_t size, const void* value);

/*
 * A node that runs on the host, on the thread in causeway_graph_execute(). `inputs` and `outputs` point to its tokens,
 * by position, and are valid during the call. Returns 0, or a negative code, with which the run ends; any other number
 * becomes CL_INVALID_OPERATION.
 */
typedef cl_int (*causeway_host_function)(void* user, uint64_t number, const void* const* inputs, void* const* outputs);
CAUSEWAY_EXPORT cl_int causeway_graph_add_host_function(causeway_graph* graph, const char* name,
                                                        causeway_host_function function, void* user);

/* Connects output `source_position` of one node with input `target_position` of another, with tokens of one size. A
 * `token_size` of 0 takes the smallest work of the source, else of the target: `item_size`, times the local size if
 * there is one. An output may be connected with several inputs, an input with one output. */
CAUSEWAY_EXPORT cl_int causeway_graph_connect(causeway_graph* graph, const char* source, cl_uint source_position,
                                              const char* target, cl_uint target_position, size_t token_size);

typedef struct causeway_edge {
    cl_uint source_position;
    cl_uint target_position;
    size_t produced_size; /* what one firing of the source gives */
    size_t consumed_size; /* what one firing of the target takes */
    /* Bytes on the edge before the source's first: those at `initial`, or zeros if that is null. An edge that closes a
     * loop needs some. A kernel with state is connected with itself. */
    size_t delay_size;
    const void* initial;
    /* Neighbours: bytes that the target sees before and after those that it takes, in one range with them. Outside of
     * the stream they are zeros. In a loop, after_size must not exceed delay_size. If another stream of unknown length
     * ends the run first, the bytes after the end may be zeros or this stream's next ones. */
    size_t before_size;
    size_t after_size;
} causeway_edge;

CAUSEWAY_EXPORT cl_int causeway_graph_connect_edge(causeway_graph* graph, const char* source, const char* target,
                                                   const causeway_edge* edge);

/*
 * Checks the graph, allocates its buffers, binds its kernels. Call once; nodes and edges cannot be added afterwards.
 * CL_INVALID_VALUE if rates or lengths of streams do not fit; CL_INVALID_OPERATION if the graph would deadlock or never
 * end; CL_MEM_OBJECT_ALLOCATION_FAILURE if memory is short. The message names nodes and numbers.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_initialize(causeway_graph* graph);

/*
 * Runs to the end of all streams and returns when the last token is delivered. May be called again; each run uses
 * streams in memory from their beginning. A failure ends the run: earlier tokens are delivered, its code is returned,
 * and the message names node and token. CL_INVALID_OPERATION while the graph executes, also from one of its functions.
 */
CAUSEWAY_EXPORT cl_int causeway_graph_execute(causeway_graph* graph);

/* Ends the run early: it completes the firings that have begun and returns CL_SUCCESS. Any thread, also a function of
 * the graph.
 * CL_INVALID_OPERATION if no causeway_graph_execute() is under way. */
CAUSEWAY_EXPORT cl_int causeway_graph_stop(causeway_graph* graph);

/* After causeway_graph_initialize(): the token size of a stream, also where the library chose it. With the option
 * `graph_times` the next run may have another, by what runs have measured. */
CAUSEWAY_EXPORT cl_int causeway_graph_token_size(causeway_graph* graph, const char* stream, size_t* token_size);

/* After causeway_graph_initialize(), from any thread: how many tokens of a stream this run, or the last one, has begun.
 * It tells how far a run is, and how long a stream of unknown length was. */
CAUSEWAY_EXPORT cl_int causeway_graph_token_count(causeway_graph* graph, const char* stream, uint64_t* count);

/* After causeway_graph_initialize(): stages, buffers, bytes and the predicted time of a period (a token of each stream,
 * if all rates are alike) as text. Times are estimated from bytes. After a run with the option `graph_times` they come
 * from the measured time of each node, which is shown. The second function gives the graph for Graphviz. Null if
 * refused. The text is valid until the next call with this graph. */
CAUSEWAY_EXPORT const char* causeway_graph_explain(causeway_graph* graph);
CAUSEWAY_EXPORT const char* causeway_graph_to_dot(causeway_graph* graph);

#ifdef __cplusplus
}
#endif

#endif

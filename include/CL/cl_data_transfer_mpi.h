/* SPDX-License-Identifier: Apache-2.0 */
/* The half of cl_data_transfer.h that needs MPI; include that header, not this one. */
#ifndef CL_DATA_TRANSFER_MPI_H
#define CL_DATA_TRANSFER_MPI_H

#include <CL/cl_data_transfer.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sends `size` bytes of `buffer` from `offset` to rank `dest` of `comm`. The receive is a command below, or an MPI call
 * with the type MPI_CL_MEM; they match per communicator, rank and tag, in order of enqueue. MPI must be
 * initialised with MPI_THREAD_MULTIPLE (else CL_INVALID_OPERATION). CL_INVALID_VALUE for a rank, tag or communicator
 * that MPI would refuse. MPI_PROC_NULL completes at once. The communicator must live until the event completes.
 */
CAUSEWAY_API cl_int clEnqueueSendBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, int dest, int tag, MPI_Comm comm, cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event);

/*
 * Receives at most `size` bytes into `buffer` at `offset`; MPI_ANY_SOURCE and MPI_ANY_TAG match as in MPI_Recv. A
 * larger message fails both sides with CL_TRANSFER_MESSAGE_TRUNCATED (a send that completed eagerly stays complete).
 */
CAUSEWAY_API cl_int clEnqueueRecvBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, int source, int tag, MPI_Comm comm,
                                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                        cl_event* event);

/* A send and a receive at once, as MPI_Sendrecv; completes when both have. The ranges must not overlap. */
CAUSEWAY_API cl_int clEnqueueSendrecvBuffer(cl_command_queue queue, cl_mem send_buffer, cl_mem recv_buffer,
                                            cl_bool blocking, size_t send_offset, size_t send_size, int dest,
                                            int send_tag, size_t recv_offset, size_t recv_size, int source,
                                            int recv_tag, MPI_Comm comm, cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event);

/*
 * Sends a box of `buffer` (origin and pitches as in clEnqueueReadBufferRect: bytes, rows, slices), packed row by row.
 * It matches any receive of as many bytes. A pitch of 0 means densely packed.
 */
CAUSEWAY_API cl_int clEnqueueSendBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t buffer_origin[3], const size_t region[3], size_t row_pitch,
                                            size_t slice_pitch, int dest, int tag, MPI_Comm comm,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event);

/* Receives into a box of `buffer`. A shorter message fills the first rows. */
CAUSEWAY_API cl_int clEnqueueRecvBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t buffer_origin[3], const size_t region[3], size_t row_pitch,
                                            size_t slice_pitch, int source, int tag, MPI_Comm comm,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event);

/*
 * An event of `context` that completes when `*request` does (point-to-point, persistent, or non-blocking collective).
 * Takes the request over and sets it to MPI_REQUEST_NULL. A null request gives a complete event. A persistent one stays
 * the caller's: it must not be used until the event completes, and is inactive then. The library recognises a
 * persistent point-to-point request if it was made in a source file that includes this header. With MPI 4 it also
 * recognises other kinds, if they were started in such a file. Errors: CL_INVALID_CONTEXT, CL_INVALID_VALUE (null
 * pointer), CL_INVALID_OPERATION (MPI not usable).
 */
CAUSEWAY_API cl_event clCreateEventFromMPIRequest(cl_context context, MPI_Request* request, cl_int* errcode_ret);

/*
 * Gives the transfers on `comm` a message space of their own, so that wildcards and probes of the application on
 * `comm` never see them. Collective over `comm`; all ranks call it before their first transfer on it.
 */
CAUSEWAY_API cl_int clAttachCommunicator(MPI_Comm comm);

/*
 * The datatype by which host code exchanges messages with the commands above. `buf` is host memory, `count` bytes. For
 * MPI_Send, MPI_Isend, MPI_Recv, MPI_Irecv and MPI_Sendrecv of source files that include this header. Every function of
 * the MPI_Wait and MPI_Test families completes their requests. Needs MPI_THREAD_MULTIPLE. Such a request is a
 * generalised one and belongs to no communicator: its failure goes to the error handler of MPI_COMM_WORLD.
 */
#define MPI_CL_MEM (causeway_mpi_cl_mem())

CAUSEWAY_API MPI_Datatype causeway_mpi_cl_mem(void);
CAUSEWAY_API int causeway_mpi_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
CAUSEWAY_API int causeway_mpi_isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                    MPI_Request* request);
CAUSEWAY_API int causeway_mpi_recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                   MPI_Status* status);
CAUSEWAY_API int causeway_mpi_irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                    MPI_Request* request);
CAUSEWAY_API int causeway_mpi_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                                       MPI_Comm comm, MPI_Status* status);
CAUSEWAY_API int causeway_mpi_send_init(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                        MPI_Request* request);
CAUSEWAY_API int causeway_mpi_bsend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                         MPI_Comm comm, MPI_Request* request);
CAUSEWAY_API int causeway_mpi_ssend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                         MPI_Comm comm, MPI_Request* request);
CAUSEWAY_API int causeway_mpi_rsend_init(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                         MPI_Comm comm, MPI_Request* request);
CAUSEWAY_API int causeway_mpi_recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                        MPI_Request* request);
CAUSEWAY_API int causeway_mpi_start(MPI_Request* request);
CAUSEWAY_API int causeway_mpi_startall(int count, MPI_Request* requests);
CAUSEWAY_API int causeway_mpi_request_free(MPI_Request* request);

/*
 * Ends the transfers that need MPI, then MPI. In source files that include this header, MPI_Finalize calls this. Waits
 * for the transfers at most for the time of the option `drain`, then fails them. No more can be enqueued.
 */
CAUSEWAY_API int causeway_mpi_finalize(void);
/*
 * Ends the transfers that need MPI, as causeway_mpi_finalize() does, but leaves MPI as it is: for programs in which a
 * module of another language ends MPI (Fortran, mpi4py). Call it last before MPI ends; repeated calls do nothing.
 */
CAUSEWAY_API void causeway_mpi_end_transfers(void);
/* MPI_Comm_free and MPI_Comm_disconnect, after the library's own receives on the communicator have ended. */
CAUSEWAY_API int causeway_mpi_comm_free(MPI_Comm* comm);
CAUSEWAY_API int causeway_mpi_comm_disconnect(MPI_Comm* comm);

/*
 * Macros, not symbols, so that the link order does not matter. Calls without MPI_CL_MEM go on to MPI's own function,
 * where profiling tools see them. Source files that define functions of MPI themselves (tools, wrappers) leave the
 * macros out by `#define CAUSEWAY_NO_MPI_MACROS` before the include. A wrapper of MPI_Send may call causeway_mpi_send()
 * for MPI_CL_MEM only, because for other types causeway_mpi_send() calls MPI_Send. The same holds for the other
 * functions.
 */
#ifndef CAUSEWAY_NO_MPI_MACROS
#define MPI_Send(...) causeway_mpi_send(__VA_ARGS__)
#define MPI_Isend(...) causeway_mpi_isend(__VA_ARGS__)
#define MPI_Recv(...) causeway_mpi_recv(__VA_ARGS__)
#define MPI_Irecv(...) causeway_mpi_irecv(__VA_ARGS__)
#define MPI_Sendrecv(...) causeway_mpi_sendrecv(__VA_ARGS__)
/* MPI does not tell whether a request is persistent, so these calls note the persistent requests that they make. */
#define MPI_Send_init(...) causeway_mpi_send_init(__VA_ARGS__)
#define MPI_Bsend_init(...) causeway_mpi_bsend_init(__VA_ARGS__)
#define MPI_Ssend_init(...) causeway_mpi_ssend_init(__VA_ARGS__)
#define MPI_Rsend_init(...) causeway_mpi_rsend_init(__VA_ARGS__)
#define MPI_Recv_init(...) causeway_mpi_recv_init(__VA_ARGS__)
#if MPI_VERSION >= 4
/* Persistent requests of collectives and of partitioned messages are noted when they are started. */
#define MPI_Start(...) causeway_mpi_start(__VA_ARGS__)
#define MPI_Startall(...) causeway_mpi_startall(__VA_ARGS__)
#endif
#define MPI_Request_free(...) causeway_mpi_request_free(__VA_ARGS__)
/* Callbacks of MPI's attributes run too late: MPICH has turned its locks off, or keeps a communicator in use. */
#define MPI_Finalize() causeway_mpi_finalize()
#define MPI_Comm_free(...) causeway_mpi_comm_free(__VA_ARGS__)
#define MPI_Comm_disconnect(...) causeway_mpi_comm_disconnect(__VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif

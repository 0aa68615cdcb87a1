/* SPDX-License-Identifier: Apache-2.0 */
/* A program of C99 for one rank that is its own profiling tool: the header's macros take what MPI's functions take,
 * evaluate it once, and call MPI where the tool sees it. */
#include <CL/cl_data_transfer.h>
#include <causeway/causeway.h>

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char* what) {
    if (holds) return;
    printf("FAILED: %s\n", what);
    ++failures;
}

/* What the tool saw. In brackets a name is not the header's macro. */
static char seen[1000];

static void see(const char* name) { strcat(strcat(seen, name), " "); }

static void expect_seen(const char* names) {
    if (strcmp(seen, names) != 0) printf("the tool saw '%s'\n", seen);
    expect(strcmp(seen, names) == 0, names);
    seen[0] = '\0';
}

int(MPI_Send)(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    see("Send");
    return PMPI_Send(bytes, count, type, to, tag, comm);
}

int(MPI_Isend)(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    see("Isend");
    return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}

int(MPI_Recv)(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    see("Recv");
    return PMPI_Recv(bytes, count, type, from, tag, comm, status);
}

int(MPI_Irecv)(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    see("Irecv");
    return PMPI_Irecv(bytes, count, type, from, tag, comm, request);
}

int(MPI_Sendrecv)(const void* bytes, int count, MPI_Datatype type, int to, int tag, void* incoming, int incoming_count,
                  MPI_Datatype incoming_type, int from, int incoming_tag, MPI_Comm comm, MPI_Status* status) {
    see("Sendrecv");
    return PMPI_Sendrecv(bytes, count, type, to, tag, incoming, incoming_count, incoming_type, from, incoming_tag, comm,
                         status);
}

int(MPI_Wait)(MPI_Request* request, MPI_Status* status) {
    see("Wait");
    return PMPI_Wait(request, status);
}

#define SEEN_INIT(name, bytes_type)                                                                                    \
    int(MPI_##name)(bytes_type bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,                  \
                    MPI_Request* request) {                                                                            \
        see(#name);                                                                                                    \
        return PMPI_##name(bytes, count, type, rank, tag, comm, request);                                              \
    }
SEEN_INIT(Send_init, const void*)
SEEN_INIT(Bsend_init, const void*)
SEEN_INIT(Ssend_init, const void*)
SEEN_INIT(Rsend_init, const void*)
SEEN_INIT(Recv_init, void*)

int(MPI_Request_free)(MPI_Request* request) {
    see("Request_free");
    return PMPI_Request_free(request);
}

static int refuse_to_free;

int(MPI_Comm_free)(MPI_Comm* comm) {
    see("Comm_free");
    return refuse_to_free ? MPI_ERR_OTHER : PMPI_Comm_free(comm);
}

static void ordinary_messages_are_seen(void) {
    int incoming = 0;
    MPI_Request request;
    MPI_Isend((int[]){3, 4}, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send((int[]){3, 4}, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    expect_seen("Isend Wait Send ");

    MPI_Irecv(&incoming, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Sendrecv((int[]){5, 6}, 1, MPI_INT, 0, 1, &(int){0}, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(incoming == 5, "the message arrives");
    MPI_Recv(&incoming, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect_seen("Irecv Sendrecv Wait Recv ");
}

static void persistent_requests_are_seen_and_made_once(void) {
    MPI_Request requests[6];
    int value[2] = {0, 0};
    int made = 0;
    int i;
    MPI_Send_init(&value[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[made++]);
    MPI_Bsend_init(&value[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[made++]);
    MPI_Ssend_init(&value[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[made++]);
    MPI_Rsend_init((int[]){1, 2}, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[made++]);
    MPI_Recv_init(&value[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[made++]);
    expect(made == 5, "each argument is evaluated once");
    expect_seen("Send_init Bsend_init Ssend_init Rsend_init Recv_init ");
    for (i = 0; i < made; ++i) MPI_Request_free(&requests[i]);
    expect_seen("Request_free Request_free Request_free Request_free Request_free ");
}

/* Whether a message of MPI_CL_MEM goes round. */
static int message_arrives(MPI_Comm comm) {
    char incoming = 0;
    return MPI_Sendrecv(&(char){7}, 1, MPI_CL_MEM, 0, 1, &incoming, 1, MPI_CL_MEM, 0, 1, comm, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS &&
           incoming == 7;
}

/* An ordinary message one way, one of MPI_CL_MEM the other. */
static void half_of_an_exchange_is_seen(void) {
    char byte = 8;
    char incoming[2] = {0, 0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&incoming[0], 1, MPI_CL_MEM, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&byte, 1, MPI_BYTE, 0, 2, MPI_COMM_SELF, &requests[1]);
    MPI_Sendrecv(&byte, 1, MPI_CL_MEM, 0, 1, &incoming[1], 1, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect_seen("Isend Irecv Wait ");
    MPI_Waitall(2, requests, statuses);
    expect(incoming[0] == 8 && incoming[1] == 8, "both arrive");
}

static void predefined_communicators_outlive_a_refused_free(void) {
    MPI_Comm comm = MPI_COMM_SELF;
    expect(message_arrives(MPI_COMM_SELF), "a message goes round");
    seen[0] = '\0';
    refuse_to_free = 1; /* not every MPI only returns an error here */
    expect(MPI_Comm_free(&comm) != MPI_SUCCESS, "MPI_COMM_SELF is not freed");
    refuse_to_free = 0;
    expect_seen("Comm_free ");
    expect(message_arrives(MPI_COMM_SELF), "a message goes round after MPI_COMM_SELF was not freed");
    seen[0] = '\0';
}

static void a_communicator_that_was_not_freed_refuses_transfers(void) {
    char byte = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect(message_arrives(comm), "a message goes round on a new communicator");
    refuse_to_free = 1;
    expect(MPI_Comm_free(&comm) == MPI_ERR_OTHER, "the tool's refusal is returned");
    refuse_to_free = 0;
    expect(MPI_Irecv(&byte, 1, MPI_CL_MEM, 0, 1, comm, &request) != MPI_SUCCESS, "a receive is refused then");
    expect(MPI_Send(&byte, 1, MPI_CL_MEM, 0, 1, comm) != MPI_SUCCESS, "a send is refused then");
    expect(strstr(causeway_error_last_message(), "free") != NULL, "and the text says why");
    expect(MPI_Comm_free(&comm) == MPI_SUCCESS, "it can be freed again");
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    ordinary_messages_are_seen();
    persistent_requests_are_seen_and_made_once();
    half_of_an_exchange_is_seen();
    predefined_communicators_outlive_a_refused_free();
    a_communicator_that_was_not_freed_refuses_transfers();
    MPI_Finalize();
    printf("mpi_calls_in_c: %s\n", failures ? "FAILED" : "passed");
    return failures != 0;
}

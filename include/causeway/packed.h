/* SPDX-License-Identifier: Apache-2.0 */
/* The transfer commands with all arguments in one array, for languages whose foreign calls cost time per argument. */
#ifndef CAUSEWAY_PACKED_H
#define CAUSEWAY_PACKED_H

#include <causeway/causeway.h>

#include <CL/cl.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of CL/cl_data_transfer.h that causeway_enqueue_packed calls. The numbers never change. */
enum causeway_packed_command {
    CAUSEWAY_PACKED_WRITE_BUFFER_FROM_FILE = 0,
    CAUSEWAY_PACKED_READ_BUFFER_TO_FILE = 1,
    CAUSEWAY_PACKED_PEER_COPY_BUFFER = 2,
    CAUSEWAY_PACKED_SEND_BUFFER = 3,
    CAUSEWAY_PACKED_RECV_BUFFER = 4,
    CAUSEWAY_PACKED_SENDRECV_BUFFER = 5,
    CAUSEWAY_PACKED_SEND_BUFFER_RECT = 6,
    CAUSEWAY_PACKED_RECV_BUFFER_RECT = 7
};

/*
 * Calls the command with `count` words of 64 bits: its arguments in order up to the wait list, one word each, then the
 * events of the wait list. Handles and pointers are given as numbers. Returns the handle of the command's event; if a
 * blocking command failed, the event's status says why. Returns the negative code of a command that was refused
 * (causeway_error_last_message). CL_INVALID_VALUE also stands for an unknown command, too few words, or a word that the
 * argument's type cannot hold. Any thread, as the commands.
 */
CAUSEWAY_EXPORT int64_t causeway_enqueue_packed(int command, const int64_t* words, cl_uint count);

/*
 * When the transfer of `event` is over, writes two words of 64 bits to the pipe `fd`: `number`, and the status
 * (CL_COMPLETE or why it failed). It is clSetTransferCallback for languages whose functions no foreign thread may call
 * at exit, and returns the same codes. The program must read the pipe, and keep `fd` open until the words are written.
 */
CAUSEWAY_EXPORT cl_int causeway_notify(cl_event event, int fd, uint64_t number);

#ifdef __cplusplus
}
#endif

#endif

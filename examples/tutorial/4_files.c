/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4 of the tutorial: the plate goes to the disk by a command, too, and the host waits once, at the end. */
#include <CL/cl_data_transfer.h>

#include "heat.h"

int main(int argc, char** argv) {
    struct heat heat = heat_begin(argc, argv, MPI_THREAD_MULTIPLE);
    const size_t n = heat.rows;
    cl_command_queue compute = heat_queue(&heat, 0);
    cl_command_queue transfers = heat_queue(&heat, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event edges, halo[2], copied, stored = NULL;
    cl_mem plate = heat_buffer(&heat, heat.size); /* what is on its way to the disk */

    for (int step = 1; step <= heat.steps; ++step) {
        heat_compute(&heat, compute, 1, (int)n - 1, 2, step > 1 ? 2 : 0, step > 1 ? halo : NULL, &edges);
        heat_compute_inside(&heat, compute);

        for (int i = 0; i < 2 && step > 1; ++i) CHECK(clReleaseEvent(halo[i]));
        CHECK(clEnqueueSendrecvBuffer(transfers, heat.to, heat.to, CL_FALSE, heat_row(&heat, 1), heat.row_size, heat.up,
                                      0, heat_row(&heat, n + 1), heat.row_size, heat.down, 0, MPI_COMM_WORLD, 1, &edges,
                                      &halo[0]));
        CHECK(clEnqueueSendrecvBuffer(transfers, heat.to, heat.to, CL_FALSE, heat_row(&heat, n), heat.row_size,
                                      heat.down, 1, heat_row(&heat, 0), heat.row_size, heat.up, 1, MPI_COMM_WORLD, 1,
                                      &edges, &halo[1]));
        CHECK(clReleaseEvent(edges));

        if (step % heat.every == 0) {
            CHECK(clEnqueueCopyBuffer(compute, heat.to, plate, heat_row(&heat, 1), 0, heat.size, stored ? 1 : 0,
                                      stored ? &stored : NULL, &copied));
            if (stored) CHECK(clReleaseEvent(stored));
            CHECK(clEnqueueReadBufferToStdioFile(transfers, plate, CL_FALSE, 0, heat.size, heat.file, 1, &copied,
                                                 &stored));
            CHECK(clReleaseEvent(copied));
        }
        heat_swap(&heat);
    }
    CHECK(clWaitForEvents(2, halo));
    for (int i = 0; i < 2; ++i) CHECK(clReleaseEvent(halo[i]));
    if (stored) {
        if (clWaitForEvents(1, &stored) != CL_SUCCESS) {
            char why[256] = "";
            clGetTransferInfo(stored, CL_TRANSFER_ERROR_MESSAGE, sizeof why, why, NULL);
            fprintf(stderr, "storing the plate: %s\n", why);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        CHECK(clReleaseEvent(stored));
    }
    CHECK(clFinish(compute));
    CHECK(clReleaseMemObject(plate));
    CHECK(clReleaseCommandQueue(compute));
    CHECK(clReleaseCommandQueue(transfers));
    return heat_end(&heat);
}

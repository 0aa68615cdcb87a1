/* SPDX-License-Identifier: Apache-2.0 */
/* Step 2 of the tutorial: messages are commands of the queue, and the host waits for the plate only. */
#include <CL/cl_data_transfer.h>

#include "heat.h"

int main(int argc, char** argv) {
    struct heat heat = heat_begin(argc, argv, MPI_THREAD_MULTIPLE);
    const size_t n = heat.rows;
    cl_command_queue queue = heat_queue(&heat, 0);
    float* plate = malloc(heat.size);

    for (int step = 1; step <= heat.steps; ++step) {
        heat_compute(&heat, queue, 1, 1, n, 0, NULL, NULL);

        CHECK(clEnqueueSendrecvBuffer(queue, heat.to, heat.to, CL_FALSE, heat_row(&heat, 1), heat.row_size, heat.up, 0,
                                      heat_row(&heat, n + 1), heat.row_size, heat.down, 0, MPI_COMM_WORLD, 0, NULL,
                                      NULL));
        CHECK(clEnqueueSendrecvBuffer(queue, heat.to, heat.to, CL_FALSE, heat_row(&heat, n), heat.row_size, heat.down,
                                      1, heat_row(&heat, 0), heat.row_size, heat.up, 1, MPI_COMM_WORLD, 0, NULL, NULL));

        if (step % heat.every == 0) {
            CHECK(clEnqueueReadBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, 1), heat.size, plate, 0, NULL, NULL));
            heat_stored(fwrite(plate, 1, heat.size, heat.file) == heat.size);
        }
        heat_swap(&heat);
    }
    CHECK(clFinish(queue));
    CHECK(clReleaseCommandQueue(queue));
    free(plate);
    return heat_end(&heat);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Step 1 of the tutorial: an ordinary program with MPI and OpenCL. The host waits at every step. */
#include "heat.h"

int main(int argc, char** argv) {
    struct heat heat = heat_begin(argc, argv, MPI_THREAD_SINGLE);
    const size_t n = heat.rows;
    const int columns = (int)heat.columns;
    cl_command_queue queue = heat_queue(&heat, 0);
    float *above = malloc(heat.row_size), *below = malloc(heat.row_size); /* rows of the neighbours */
    float *first = malloc(heat.row_size), *last = malloc(heat.row_size);  /* our own, which they need */
    float* plate = malloc(heat.size);

    for (int step = 1; step <= heat.steps; ++step) {
        heat_compute(&heat, queue, 1, 1, n, 0, NULL, NULL);

        CHECK(clEnqueueReadBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, 1), heat.row_size, first, 0, NULL, NULL));
        CHECK(clEnqueueReadBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, n), heat.row_size, last, 0, NULL, NULL));
        MPI_Sendrecv(first, columns, MPI_FLOAT, heat.up, 0, below, columns, MPI_FLOAT, heat.down, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(last, columns, MPI_FLOAT, heat.down, 1, above, columns, MPI_FLOAT, heat.up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(clEnqueueWriteBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, 0), heat.row_size, above, 0, NULL, NULL));
        CHECK(
            clEnqueueWriteBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, n + 1), heat.row_size, below, 0, NULL, NULL));

        if (step % heat.every == 0) {
            CHECK(clEnqueueReadBuffer(queue, heat.to, CL_TRUE, heat_row(&heat, 1), heat.size, plate, 0, NULL, NULL));
            heat_stored(fwrite(plate, 1, heat.size, heat.file) == heat.size);
        }
        heat_swap(&heat);
    }
    CHECK(clReleaseCommandQueue(queue));
    free(above);
    free(below);
    free(first);
    free(last);
    free(plate);
    return heat_end(&heat);
}

// SPDX-License-Identifier: Apache-2.0
// Listing 4 of the paper: the work of Listing 2 with transfers as commands; the host waits once per iteration.
#include "jacobi.hpp"

using namespace jacobi;

int main(int argc, char** argv) {
    struct example with = example_begin(&argc, &argv);
    solver problem(with);
    const int rank = with.rank;
    const int N = iterations;
    const int up = problem.up;
    const int down = problem.down;
    const MPI_Comm comm = MPI_COMM_WORLD;

    cl_command_queue cmd1 = example_queue(&with), cmd2 = example_queue(&with);
    cl_mem p_new = problem.p_new, p_old = problem.p_old, p_tmp;
    cl_event e[2];
    const auto jacobi_kernel_even_A = [&](cl_command_queue cmd, cl_mem p, cl_uint n, const cl_event* list,
                                          cl_event* evt) { problem.enqueue_A(cmd, p, p_old, n, list, evt); };
    const auto jacobi_kernel_even_B = [&](cl_command_queue cmd, cl_mem p, cl_uint n, const cl_event* list,
                                          cl_event* evt) { problem.enqueue_B(cmd, p, p_old, n, list, evt); };
    const auto jacobi_kernel_odd_A = jacobi_kernel_even_A;
    const auto jacobi_kernel_odd_B = jacobi_kernel_even_B;

    for (int i(0); i < N; ++i) {
        p_tmp = p_new;
        p_new = p_old;
        p_old = p_tmp;
        if (rank % 2 == 0) {
            jacobi_kernel_even_A(cmd1, p_new, 0, NULL, &e[0]);
            clEnqueueSendrecvBuffer(cmd2, p_old, p_old, CL_FALSE, bottom_row, row_size, down, 0, bottom_halo, row_size,
                                    down, 0, comm, 0, NULL, &e[1]);
            jacobi_kernel_even_B(cmd2, p_new, 1, &e[1], NULL);
            clEnqueueSendrecvBuffer(cmd1, p_new, p_new, CL_FALSE, top_row, row_size, up, 1, top_halo, row_size, up, 1,
                                    comm, 1, &e[0], NULL);
        } else {
            jacobi_kernel_odd_B(cmd2, p_new, 0, NULL, &e[0]);
            clEnqueueSendrecvBuffer(cmd1, p_old, p_old, CL_FALSE, top_row, row_size, up, 0, top_halo, row_size, up, 0,
                                    comm, 0, NULL, &e[1]);
            jacobi_kernel_odd_A(cmd1, p_new, 1, &e[1], NULL);
            clEnqueueSendrecvBuffer(cmd2, p_new, p_new, CL_FALSE, bottom_row, row_size, down, 1, bottom_halo, row_size,
                                    down, 1, comm, 1, &e[0], NULL);
        }
        clFinish(cmd1);
        clFinish(cmd2);
        /* error calculation */
        clReleaseEvent(e[0]);
        clReleaseEvent(e[1]);
    }

    const int good = problem.is_right(cmd1, p_new);
    problem.release();
    clReleaseCommandQueue(cmd1);
    clReleaseCommandQueue(cmd2);
    return example_end(&with, "listing 4", good);
}

// SPDX-License-Identifier: Apache-2.0
// Listing 2 of the paper: overlap of communication and computation by hand, reduced to a Jacobi iteration.
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
    MPI_Request req;
    // Begin as the halos: a rank at the end of the line receives nothing and writes them back as they were.
    std::vector<float> sent(columns);
    std::vector<float> above(columns);
    std::vector<float> below(columns);

    cl_command_queue cmd1 = example_queue(&with), cmd2 = example_queue(&with);
    cl_mem p_new = problem.p_new, p_old = problem.p_old, p_tmp;
    EXAMPLE_CHECK(clEnqueueReadBuffer(cmd1, p_old, CL_TRUE, top_halo, row_size, above.data(), 0, NULL, NULL));
    EXAMPLE_CHECK(clEnqueueReadBuffer(cmd1, p_old, CL_TRUE, bottom_halo, row_size, below.data(), 0, NULL, NULL));
    const auto jacobi_kernel_even_A = [&](cl_command_queue cmd, cl_mem p) {
        problem.enqueue_A(cmd, p, p_old, 0, NULL, NULL);
    };
    const auto jacobi_kernel_even_B = [&](cl_command_queue cmd, cl_mem p) {
        problem.enqueue_B(cmd, p, p_old, 0, NULL, NULL);
    };
    const auto jacobi_kernel_odd_A = jacobi_kernel_even_A;
    const auto jacobi_kernel_odd_B = jacobi_kernel_even_B;

    for (int i(0); i < N; ++i) {
        // swap pointers
        p_tmp = p_new;
        p_new = p_old;
        p_old = p_tmp;
        if (rank % 2 == 0) {
            // the upper portion is calculated
            jacobi_kernel_even_A(cmd1, p_new);
            // the bottom plane is updated
            MPI_Irecv(below.data(), (int)columns, MPI_FLOAT, down, 0, comm, &req);
            clEnqueueReadBuffer(cmd2, p_old, CL_FALSE, bottom_row, row_size, sent.data(), 0, NULL, NULL);
            clFinish(cmd2); // blocking
            MPI_Send(sent.data(), (int)columns, MPI_FLOAT, down, 0, comm); // blocking
            MPI_Wait(&req, MPI_STATUS_IGNORE); // blocking
            clEnqueueWriteBuffer(cmd2, p_old, CL_FALSE, bottom_halo, row_size, below.data(), 0, NULL, NULL);
            // the lower portion is calculated
            jacobi_kernel_even_B(cmd2, p_new);
            // the top plane is updated
            MPI_Irecv(above.data(), (int)columns, MPI_FLOAT, up, 1, comm, &req);
            clEnqueueReadBuffer(cmd1, p_new, CL_FALSE, top_row, row_size, sent.data(), 0, NULL, NULL);
            clFinish(cmd1); // blocking
            MPI_Send(sent.data(), (int)columns, MPI_FLOAT, up, 1, comm); // blocking
            MPI_Wait(&req, MPI_STATUS_IGNORE); // blocking
            clEnqueueWriteBuffer(cmd1, p_new, CL_FALSE, top_halo, row_size, above.data(), 0, NULL, NULL);
        } else {
            jacobi_kernel_odd_B(cmd1, p_new);
            MPI_Irecv(above.data(), (int)columns, MPI_FLOAT, up, 0, comm, &req);
            clEnqueueReadBuffer(cmd2, p_old, CL_FALSE, top_row, row_size, sent.data(), 0, NULL, NULL);
            clFinish(cmd2); // blocking
            MPI_Send(sent.data(), (int)columns, MPI_FLOAT, up, 0, comm); // blocking
            MPI_Wait(&req, MPI_STATUS_IGNORE); // blocking
            clEnqueueWriteBuffer(cmd2, p_old, CL_FALSE, top_halo, row_size, above.data(), 0, NULL, NULL);
            jacobi_kernel_odd_A(cmd2, p_new);
            MPI_Irecv(below.data(), (int)columns, MPI_FLOAT, down, 1, comm, &req);
            clEnqueueReadBuffer(cmd1, p_new, CL_FALSE, bottom_row, row_size, sent.data(), 0, NULL, NULL);
            clFinish(cmd1); // blocking
            MPI_Send(sent.data(), (int)columns, MPI_FLOAT, down, 1, comm); // blocking
            MPI_Wait(&req, MPI_STATUS_IGNORE); // blocking
            clEnqueueWriteBuffer(cmd1, p_new, CL_FALSE, bottom_halo, row_size, below.data(), 0, NULL, NULL);
        }
        clFinish(cmd1);
        clFinish(cmd2); /* error calculation */
    }

    const int good = problem.is_right(cmd1, p_new);
    problem.release();
    clReleaseCommandQueue(cmd1);
    clReleaseCommandQueue(cmd2);
    return example_end(&with, "listing 2", good);
}

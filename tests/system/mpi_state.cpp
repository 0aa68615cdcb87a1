// SPDX-License-Identifier: Apache-2.0
// A program for one rank: the rank forms are refused while MPI is unusable. Argument: before, after, or a thread level.
#include "device.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace system_test;

int failures = 0;

void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("FAILED: %s\n", what);
    ++failures;
}

/// Every rank form, with arguments that would be good if MPI were.
void expect_all_refused(const rank_device& own, const char* advice = "MPI_THREAD_MULTIPLE") {
    const buffer one = own.make_buffer(256, 1);
    const buffer other = own.make_buffer(256, 2);
    const std::array<std::size_t, 3> origin{0, 0, 0};
    const std::array<std::size_t, 3> region{4, 4, 4};
    for (const cl_bool block : {CL_FALSE, CL_TRUE}) {
        event none;
        expect(clEnqueueSendBuffer(own.queue(), one.get(), block, 0, 8, 0, 1, MPI_COMM_WORLD, 0, nullptr, none.out()) ==
                   CL_INVALID_OPERATION,
               "a send is refused");
        expect(none.get() == nullptr, "a refused send gives no event");
        expect(std::strstr(causeway_error_last_message(), advice) != nullptr, "the refusal says what to do");
        expect(clEnqueueRecvBuffer(own.queue(), one.get(), block, 0, 8, 0, 1, MPI_COMM_WORLD, 0, nullptr, none.out()) ==
                   CL_INVALID_OPERATION,
               "a receive is refused");
        expect(clEnqueueSendrecvBuffer(own.queue(), one.get(), other.get(), block, 0, 8, 0, 1, 0, 8, 0, 1,
                                       MPI_COMM_WORLD, 0, nullptr, none.out()) == CL_INVALID_OPERATION,
               "a send-receive is refused");
        expect(clEnqueueSendBufferRect(own.queue(), one.get(), block, origin.data(), region.data(), 0, 0, 0, 1,
                                       MPI_COMM_WORLD, 0, nullptr, none.out()) == CL_INVALID_OPERATION,
               "a send of a box is refused");
        expect(clEnqueueRecvBufferRect(own.queue(), one.get(), block, origin.data(), region.data(), 0, 0, 0, 1,
                                       MPI_COMM_WORLD, 0, nullptr, none.out()) == CL_INVALID_OPERATION,
               "a receive of a box is refused");
        expect(none.get() == nullptr, "refused calls give no event");
    }
    expect(clAttachCommunicator(MPI_COMM_WORLD) == CL_INVALID_OPERATION, "attaching is refused");
    MPI_Request request = MPI_REQUEST_NULL;
    cl_int code = CL_SUCCESS;
    expect(clCreateEventFromMPIRequest(own.context(), &request, &code) == nullptr, "there is no event of a request");
    expect(code == CL_INVALID_OPERATION, "an event of a request is refused");
    expect(clFinish(own.queue()) == CL_SUCCESS, "the queue is as it was");
}

/// What needs no rank works without MPI.
void expect_files_work(const rank_device& own) {
    FILE* file = std::tmpfile();
    const bytes contents = pattern(0, 1, 1000);
    const buffer from = own.make_buffer(contents);
    const buffer to = own.make_buffer(1000, 0);
    expect(clEnqueueReadBufferToStdioFile(own.queue(), from.get(), CL_TRUE, 0, 1000, file, 0, nullptr, nullptr) ==
               CL_SUCCESS,
           "a buffer goes to a file");
    std::rewind(file);
    expect(clEnqueueWriteBufferFromStdioFile(own.queue(), to.get(), CL_TRUE, 0, 1000, file, 0, nullptr, nullptr) ==
               CL_SUCCESS,
           "and back");
    expect(own.read(to.get(), 0, 1000) == contents, "with its bytes");
    std::fclose(file);
}

} // namespace

int main(int argc, char** argv) {
    const std::string state = argc > 1 ? argv[1] : "before";
    const rank_device own(0);
    int provided = MPI_THREAD_SINGLE;
    if (state == "before") {
        expect_all_refused(own);
        expect_files_work(own);
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        // A refusal is no verdict for ever.
        const buffer one = own.make_buffer(8, 1);
        expect(clEnqueueSendBuffer(own.queue(), one.get(), CL_TRUE, 0, 8, MPI_PROC_NULL, 1, MPI_COMM_WORLD, 0, nullptr,
                                   nullptr) == CL_SUCCESS,
               "a send works once MPI is initialised");
        MPI_Finalize();
    } else if (state == "after") {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        const buffer one = own.make_buffer(8, 1);
        expect(clEnqueueSendBuffer(own.queue(), one.get(), CL_TRUE, 0, 8, MPI_PROC_NULL, 1, MPI_COMM_WORLD, 0, nullptr,
                                   nullptr) == CL_SUCCESS,
               "a send works while MPI does");
        MPI_Finalize();
        expect_all_refused(own, "has been finalised");
        expect_files_work(own);
    } else {
        const int level = state == "single"     ? MPI_THREAD_SINGLE
                          : state == "funneled" ? MPI_THREAD_FUNNELED
                                                : MPI_THREAD_SERIALIZED;
        MPI_Init_thread(&argc, &argv, level, &provided);
        if (provided == MPI_THREAD_MULTIPLE) {
            std::puts("skipped: this MPI gives MPI_THREAD_MULTIPLE unasked");
            MPI_Finalize();
            return 77;
        }
        expect_all_refused(own);
        expect_files_work(own);
        MPI_Finalize();
    }
    std::printf("mpi_state %s: %s\n", state.c_str(), failures ? "FAILED" : "passed");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

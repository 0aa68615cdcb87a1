// SPDX-License-Identifier: Apache-2.0
// The rank functions in a process that has not initialised MPI: refused, and nothing happens.
#include "support/events.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/causeway.h>

using namespace support;

namespace {

class refusals_without_mpi : public device_test {
  protected:
    refusals_without_mpi() : m_buffer(new_buffer(pattern(4096))) {}

    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }

    void expect_refused(cl_int code, cl_event event) {
        EXPECT_EQ(code, CL_INVALID_OPERATION);
        EXPECT_EQ(event, untouched);
        EXPECT_NE(std::string(causeway_error_last_message()).find("MPI"), std::string::npos)
            << causeway_error_last_message();
    }

    const cl_event untouched = reinterpret_cast<cl_event>(0x10);
    const std::size_t origin[3] = {0, 0, 0};
    const std::size_t region[3] = {16, 4, 2};

  private:
    buffer_handle m_buffer;
};
INSTANTIATE_TEST_SUITE_P(devices, refusals_without_mpi, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(refusals_without_mpi, a_send) {
    cl_event event = untouched;
    expect_refused(clEnqueueSendBuffer(queue(), buffer(), CL_FALSE, 0, 100, 0, 1, MPI_COMM_WORLD, 0, nullptr, &event),
                   event);
}

TEST_P(refusals_without_mpi, a_receive) {
    cl_event event = untouched;
    expect_refused(clEnqueueRecvBuffer(queue(), buffer(), CL_FALSE, 0, 100, 0, 1, MPI_COMM_WORLD, 0, nullptr, &event),
                   event);
}

TEST_P(refusals_without_mpi, a_send_receive) {
    cl_event event = untouched;
    expect_refused(clEnqueueSendrecvBuffer(queue(), buffer(), buffer(), CL_FALSE, 0, 100, 0, 1, 200, 100, 0, 1,
                                           MPI_COMM_WORLD, 0, nullptr, &event),
                   event);
}

TEST_P(refusals_without_mpi, a_send_of_a_box) {
    cl_event event = untouched;
    expect_refused(clEnqueueSendBufferRect(queue(), buffer(), CL_FALSE, origin, region, 0, 0, 0, 1, MPI_COMM_WORLD, 0,
                                           nullptr, &event),
                   event);
}

TEST_P(refusals_without_mpi, a_receive_of_a_box) {
    cl_event event = untouched;
    expect_refused(clEnqueueRecvBufferRect(queue(), buffer(), CL_FALSE, origin, region, 0, 0, 0, 1, MPI_COMM_WORLD, 0,
                                           nullptr, &event),
                   event);
}

TEST_P(refusals_without_mpi, an_event_from_a_request) {
    MPI_Request request = MPI_REQUEST_NULL;
    cl_int code = CL_SUCCESS;
    EXPECT_EQ(clCreateEventFromMPIRequest(context(), &request, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_OPERATION);
    EXPECT_EQ(clCreateEventFromMPIRequest(context(), &request, nullptr), nullptr);
}

TEST_P(refusals_without_mpi, a_message_space_of_its_own) {
    EXPECT_EQ(clAttachCommunicator(MPI_COMM_WORLD), CL_INVALID_OPERATION);
}

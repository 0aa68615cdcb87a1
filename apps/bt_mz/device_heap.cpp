// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/device_heap.hpp"

#include <causeway/symmetric.h>

#include <mpi.h>

namespace bt_mz {

device_heap::device_heap(cl_context context, cl_device_id device, std::size_t bytes) {
    // communication begin
    apps::check(causeway_symmetric_init(context, device, MPI_COMM_WORLD, bytes), "causeway_symmetric_init");
    // communication end
}

device_heap::~device_heap() {
    // communication begin
    causeway_symmetric_finalize();
    // communication end
}

buffer_location location_of(const double* address) {
    // communication begin
    std::size_t offset = 0;
    cl_int code = CL_SUCCESS;
    const cl_mem buffer = causeway_symmetric_buffer(address, &offset, &code);
    apps::check(code, "causeway_symmetric_buffer");
    return {buffer, offset / sizeof(double)};
    // communication end
}

} // namespace bt_mz

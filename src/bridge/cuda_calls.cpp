// SPDX-License-Identifier: Apache-2.0
// Finds CUDA's driver library and its functions.
#include "bridge/cuda_calls.hpp"

#include "base/error.hpp"
#include "bridge/library.hpp"

namespace causeway::bridge {

namespace {

template <class Function> void find(const library& from, Function*& wanted, const char* name) {
    wanted = from.find<Function>(name);
    if (wanted == nullptr) throw transfer_error(status::invalid_operation, std::string("libcuda.so.1 has no ") + name);
}

} // namespace

cuda_calls::cuda_calls() {
    const library cuda("libcuda.so.1");
    if (!cuda) throw transfer_error(status::invalid_operation, cuda.missing());
    cuda::result (*initialise)(unsigned) = nullptr;
    find(cuda, m_error_text, "cuGetErrorString");
    find(cuda, initialise, "cuInit");
    find(cuda, driver_version, "cuDriverGetVersion");
    find(cuda, device_count, "cuDeviceGetCount");
    find(cuda, device_uuid, "cuDeviceGetUuid_v2");
    find(cuda, can_access, "cuDeviceCanAccessPeer");
    find(cuda, retain_context, "cuDevicePrimaryCtxRetain");
    find(cuda, release_context, "cuDevicePrimaryCtxRelease_v2");
    find(cuda, push_current, "cuCtxPushCurrent_v2");
    find(cuda, pop_current, "cuCtxPopCurrent_v2");
    find(cuda, create_stream, "cuStreamCreate");
    find(cuda, destroy_stream, "cuStreamDestroy_v2");
    find(cuda, create_event, "cuEventCreate");
    find(cuda, record, "cuEventRecord");
    find(cuda, finish, "cuStreamSynchronize");
    find(cuda, query, "cuEventQuery");
    find(cuda, copy, "cuMemcpyAsync");
    find(cuda, import_memory, "cuMemImportFromShareableHandle");
    find(cuda, release_memory, "cuMemRelease");
    find(cuda, reserve, "cuMemAddressReserve");
    find(cuda, free_reserved, "cuMemAddressFree");
    find(cuda, map, "cuMemMap");
    find(cuda, unmap, "cuMemUnmap");
    find(cuda, set_access, "cuMemSetAccess");
    check(initialise(0), "cuInit");
}

void cuda_calls::check(cuda::result code, const char* what) const {
    if (code == cuda::success) return;
    const char* text = nullptr;
    (void)m_error_text(code, &text);
    throw transfer_error(status::out_of_resources,
                         std::string(what) + ": " + (text != nullptr ? text : "error " + std::to_string(code)));
}

} // namespace causeway::bridge

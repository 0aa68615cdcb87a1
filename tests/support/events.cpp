// SPDX-License-Identifier: Apache-2.0
// Gates, bounded waits, transfer information and options for tests.
#include "support/events.hpp"

#include <causeway/causeway.h>

#include <dlfcn.h>

#include <atomic>
#include <thread>

namespace support {

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

gate::gate(cl_context context) {
    cl_int code = CL_SUCCESS;
    m_event = event_handle(clCreateUserEvent(context, &code));
    if (code != CL_SUCCESS) {
        throw std::runtime_error("clCreateUserEvent gave " + std::to_string(code));
    }
}

gate::~gate() {
    if (!m_set) {
        clSetUserEventStatus(m_event.get(), -1);
    }
}

void gate::set(cl_int status) {
    m_set = true;
    if (clSetUserEventStatus(m_event.get(), status) != CL_SUCCESS) {
        throw std::runtime_error("clSetUserEventStatus refused " + std::to_string(status));
    }
}

static cl_event* pretended_kernel() { return static_cast<cl_event*>(dlsym(RTLD_DEFAULT, "pretend_kernel_elsewhere")); }

bool kernel_elsewhere::can_be_pretended() { return pretended_kernel() != nullptr; }

kernel_elsewhere::kernel_elsewhere(cl_context context) : m_kernel(context) { *pretended_kernel() = m_kernel.event(); }

kernel_elsewhere::~kernel_elsewhere() { *pretended_kernel() = nullptr; }

bool kernel_elsewhere::is_outrun_by(const std::function<void()>& work) {
    std::atomic<bool> ended{false};
    std::thread worker([&] {
        work();
        ended = true;
    });
    const bool in_time = eventually([&] { return ended.load(); });
    m_kernel.open();
    worker.join();
    return in_time;
}

cl_int status_of(cl_event event) {
    cl_int status = CL_QUEUED;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (code != CL_SUCCESS) {
        throw std::runtime_error("clGetEventInfo gave " + std::to_string(code));
    }
    return status;
}

cl_int await(cl_event event) {
    static_cast<void>(eventually([event] { return status_of(event) <= CL_COMPLETE; }));
    return status_of(event);
}

namespace {

testing::AssertionResult ends_with(const event_handle& event, cl_int expected) {
    const cl_int status = await(event.get());
    if (status == expected) {
        return testing::AssertionSuccess();
    }
    std::string text;
    std::size_t size = 0;
    if (clGetTransferInfo(event.get(), CL_TRANSFER_ERROR_MESSAGE, 0, nullptr, &size) == CL_SUCCESS) {
        text = transfer_text(event, CL_TRANSFER_ERROR_MESSAGE);
    }
    return testing::AssertionFailure() << "status " << status << ", expected " << expected
                                       << (status > CL_COMPLETE ? " (still pending)" : "") << "; message: " << text;
}

} // namespace

testing::AssertionResult completes(const event_handle& event) { return ends_with(event, CL_COMPLETE); }

testing::AssertionResult fails_with(const event_handle& event, cl_int status) { return ends_with(event, status); }

std::string transfer_text(const event_handle& event, cl_transfer_info name) {
    std::size_t size = 0;
    cl_int code = clGetTransferInfo(event.get(), name, 0, nullptr, &size);
    std::string text(size, '\0');
    if (code == CL_SUCCESS) {
        code = clGetTransferInfo(event.get(), name, size, text.data(), nullptr);
    }
    if (code != CL_SUCCESS || size == 0 || text.back() != '\0') {
        throw std::runtime_error("clGetTransferInfo gave " + std::to_string(code) + ", size " + std::to_string(size));
    }
    text.pop_back();
    return text;
}

std::size_t bytes_moved(const event_handle& event) {
    return transfer_info<std::size_t>(event, CL_TRANSFER_BYTES_MOVED);
}

int transfer_errno(const event_handle& event) { return transfer_info<int>(event, CL_TRANSFER_ERRNO); }

option_scope::option_scope(std::string name, const std::string& value) : m_name(std::move(name)) {
    char before[64] = "";
    if (causeway_option_get(m_name.c_str(), before, sizeof before) < 0 ||
        causeway_option_set(m_name.c_str(), value.c_str()) != 0) {
        throw std::runtime_error("the option " + m_name + ": " + causeway_error_last_message());
    }
    m_before = before;
}

option_scope::~option_scope() { causeway_option_set(m_name.c_str(), m_before.c_str()); }

} // namespace support

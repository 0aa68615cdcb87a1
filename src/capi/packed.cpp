// SPDX-License-Identifier: Apache-2.0
// Commands whose arguments come as words of 64 bits.
#include "base/error.hpp"
#include "runtime/guard.hpp"

#include <CL/cl_data_transfer.h>
#include <causeway/packed.h>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

using namespace causeway;
using namespace causeway::core;

static_assert(sizeof(void*) == sizeof(int64_t), "the words of a wait list are its events");

namespace {

template <class Argument> Argument argument_of(const int64_t* words, size_t index) {
    const int64_t word = words[index];
    if constexpr (std::is_pointer_v<Argument>) {
        return reinterpret_cast<Argument>(word); // NOLINT(performance-no-int-to-ptr): it came as a number
    } else {
        // What has 64 bits itself takes them as they are.
        if (sizeof(Argument) < sizeof(word) && !std::in_range<Argument>(word))
            throw transfer_error(status::invalid_value, "argument " + std::to_string(index) + " is " +
                                                            std::to_string(word) + ", which its type cannot hold");
        return static_cast<Argument>(word);
    }
}

/// Everything before the three arguments of events.
template <class... Arguments, size_t... Index> cl_int call(cl_int (*command)(Arguments...),
                                                           std::index_sequence<Index...>, const int64_t* words,
                                                           cl_uint count, cl_event* event) {
    constexpr cl_uint own = sizeof...(Index);
    if (count < own)
        throw transfer_error(status::invalid_value,
                             "a command of " + std::to_string(own) + " arguments got " + std::to_string(count));
    const cl_uint events = count - own;
    const auto* list = events > 0 ? reinterpret_cast<const cl_event*>(words + own) : nullptr;
    using types = std::tuple<Arguments...>;
    return command(argument_of<std::tuple_element_t<Index, types>>(words, Index)..., events, list, event);
}

template <class... Arguments> cl_int call(cl_int (*command)(Arguments...), const int64_t* words, cl_uint count,
                                          cl_event* event) {
    return call(command, std::make_index_sequence<sizeof...(Arguments) - 3>{}, words, count, event);
}

cl_int dispatch(int command, const int64_t* words, cl_uint count, cl_event* event) {
    switch (command) {
    case CAUSEWAY_PACKED_WRITE_BUFFER_FROM_FILE: return call(clEnqueueWriteBufferFromFile, words, count, event);
    case CAUSEWAY_PACKED_READ_BUFFER_TO_FILE: return call(clEnqueueReadBufferToFile, words, count, event);
    case CAUSEWAY_PACKED_PEER_COPY_BUFFER: return call(clEnqueuePeerCopyBuffer, words, count, event);
    case CAUSEWAY_PACKED_SEND_BUFFER: return call(clEnqueueSendBuffer, words, count, event);
    case CAUSEWAY_PACKED_RECV_BUFFER: return call(clEnqueueRecvBuffer, words, count, event);
    case CAUSEWAY_PACKED_SENDRECV_BUFFER: return call(clEnqueueSendrecvBuffer, words, count, event);
    case CAUSEWAY_PACKED_SEND_BUFFER_RECT: return call(clEnqueueSendBufferRect, words, count, event);
    case CAUSEWAY_PACKED_RECV_BUFFER_RECT: return call(clEnqueueRecvBufferRect, words, count, event);
    default: break;
    }
    throw transfer_error(status::invalid_value, "there is no packed command " + std::to_string(command));
}

struct note {
    int fd;
    std::uint64_t number;
};

void CL_CALLBACK write_note(cl_event, cl_int status, void* user_data) {
    const std::unique_ptr<const note> taken(static_cast<note*>(user_data));
    const std::array<std::uint64_t, 2> words{taken->number, static_cast<std::uint64_t>(std::int64_t{status})};
    // At most PIPE_BUF bytes of a pipe are written whole (pipe(7)).
    while (::write(taken->fd, words.data(), sizeof words) < 0 && errno == EINTR) {}
}

} // namespace

cl_int causeway_notify(cl_event event, int fd, uint64_t number) {
    auto wanted = std::make_unique<note>(note{fd, number});
    const auto code = clSetTransferCallback(event, write_note, wanted.get());
    if (code == CL_SUCCESS) (void)wanted.release();
    return code;
}

int64_t causeway_enqueue_packed(int command, const int64_t* words, cl_uint count) {
    cl_event event = nullptr;
    const int code = guard([&] {
        if (words == nullptr)
            throw transfer_error(status::invalid_value, "the words of the command are a null pointer");
        return dispatch(command, words, count, &event);
    });
    return event != nullptr ? reinterpret_cast<int64_t>(event) : code;
}

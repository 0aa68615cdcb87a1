// SPDX-License-Identifier: Apache-2.0
// Wraps functions of the platform so that observers hear of the program's calls.
#pragma once

#include "platform/event.hpp"
#include "platform/memory.hpp"
#include "platform/observer.hpp"

#include <tuple>
#include <type_traits>

namespace causeway::platform {

/// Describes what a call enqueues, from its unchecked arguments: dereferences none that may be invalid.
template <api_call Which, class... Arguments> command_shape shape_of(const std::tuple<Arguments...>& given) {
    command_shape shape;
    shape.queue = std::get<0>(given);
    const auto copy = [](const size_t* from, cl_uint count, std::array<size_t, 3>& to) {
        for (cl_uint i = 0; from != nullptr && i < std::min<cl_uint>(count, 3); ++i) to[i] = from[i];
    };
    const auto volume = [](const size_t* region) { return region == nullptr ? 0 : region[0] * region[1] * region[2]; };
    const auto pixel = [](const _cl_mem* image) {
        return image != nullptr && image->is(kind::mem) ? image->image.pixel_bytes : 0;
    };
    if constexpr (Which == api_call::clEnqueueNDRangeKernel) {
        shape.kernel = std::get<1>(given);
        shape.dimensions = std::get<2>(given);
        copy(std::get<3>(given), shape.dimensions, shape.offset);
        copy(std::get<4>(given), shape.dimensions, shape.global);
        if (std::get<5>(given) != nullptr) shape.local = {1, 1, 1};
        copy(std::get<5>(given), shape.dimensions, shape.local);
        shape.waits = std::get<6>(given);
        shape.wait_list = std::get<7>(given);
    } else if constexpr (Which == api_call::clEnqueueTask) {
        shape.kernel = std::get<1>(given);
        shape.dimensions = 1;
        shape.local = {1, 1, 1};
        shape.waits = std::get<2>(given);
        shape.wait_list = std::get<3>(given);
    } else {
        shape.object = std::get<1>(given);
        if constexpr (Which == api_call::clEnqueueReadBuffer || Which == api_call::clEnqueueWriteBuffer) {
            shape.blocks = std::get<2>(given) != CL_FALSE;
            shape.bytes = std::get<4>(given);
        } else if constexpr (Which == api_call::clEnqueueMapBuffer) {
            shape.blocks = std::get<2>(given) != CL_FALSE;
            shape.bytes = std::get<5>(given);
        } else if constexpr (Which == api_call::clEnqueueCopyBuffer || Which == api_call::clEnqueueFillBuffer) {
            shape.bytes = std::get<5>(given);
        } else if constexpr (Which == api_call::clEnqueueReadBufferRect ||
                             Which == api_call::clEnqueueWriteBufferRect) {
            shape.blocks = std::get<2>(given) != CL_FALSE;
            shape.bytes = volume(std::get<5>(given));
        } else if constexpr (Which == api_call::clEnqueueCopyBufferRect) {
            shape.bytes = volume(std::get<5>(given));
        } else if constexpr (Which == api_call::clEnqueueReadImage || Which == api_call::clEnqueueWriteImage) {
            shape.blocks = std::get<2>(given) != CL_FALSE;
            shape.bytes = volume(std::get<4>(given)) * pixel(shape.object);
        } else if constexpr (Which == api_call::clEnqueueMapImage) {
            shape.blocks = std::get<2>(given) != CL_FALSE;
            shape.bytes = volume(std::get<5>(given)) * pixel(shape.object);
        } else if constexpr (Which == api_call::clEnqueueFillImage) {
            shape.bytes = volume(std::get<4>(given)) * pixel(shape.object);
        } else if constexpr (Which == api_call::clEnqueueCopyImage || Which == api_call::clEnqueueCopyImageToBuffer) {
            if constexpr (Which == api_call::clEnqueueCopyImage)
                shape.bytes = volume(std::get<5>(given)) * pixel(shape.object);
            else
                shape.bytes = volume(std::get<4>(given)) * pixel(shape.object);
        } else if constexpr (Which == api_call::clEnqueueCopyBufferToImage) {
            shape.bytes = volume(std::get<5>(given)) * pixel(std::get<2>(given));
        }
    }
    return shape;
}

/// Whether the call launches a kernel or moves bytes. Markers and barriers take no time of their own.
[[nodiscard]] constexpr bool is_watched_command(api_call which) {
    switch (which) {
    case api_call::clEnqueueNDRangeKernel:
    case api_call::clEnqueueTask:
    case api_call::clEnqueueReadBuffer:
    case api_call::clEnqueueWriteBuffer:
    case api_call::clEnqueueCopyBuffer:
    case api_call::clEnqueueFillBuffer:
    case api_call::clEnqueueReadBufferRect:
    case api_call::clEnqueueWriteBufferRect:
    case api_call::clEnqueueCopyBufferRect:
    case api_call::clEnqueueReadImage:
    case api_call::clEnqueueWriteImage:
    case api_call::clEnqueueCopyImage:
    case api_call::clEnqueueCopyImageToBuffer:
    case api_call::clEnqueueCopyBufferToImage:
    case api_call::clEnqueueFillImage:
    case api_call::clEnqueueMapBuffer:
    case api_call::clEnqueueMapImage:
    case api_call::clEnqueueUnmapMemObject: return true;
    default: return false;
    }
}

[[nodiscard]] constexpr bool is_wait(api_call which) {
    return which == api_call::clFinish || which == api_call::clWaitForEvents ||
           which == api_call::clGetEventProfilingInfo;
}
/// Calls after which a driver's events may not be queried any more.
[[nodiscard]] constexpr bool is_farewell(api_call which) {
    return which == api_call::clReleaseCommandQueue || which == api_call::clReleaseContext;
}

/// Depth of nested calls in this thread. Only the outermost is observed; callbacks and the platform itself call too.
inline thread_local unsigned depth_of_calls = 0;

template <api_call Which, auto Function> struct observed;

template <api_call Which, class Result, class... Arguments, Result(CL_API_CALL* Function)(Arguments...)>
struct observed<Which, Function> {
    static Result CL_API_CALL call(Arguments... arguments) {
        const struct deeper {
            deeper() { ++depth_of_calls; }
            ~deeper() { --depth_of_calls; }
        } here;
        if (depth_of_calls > 1) return Function(arguments...);
        if constexpr (is_watched_command(Which))
            return watch(std::tuple<Arguments...>(arguments...));
        else
            return time(arguments...);
    }

  private:
    static Result time(Arguments... arguments) {
        if constexpr (is_farewell(Which))
            for (auto* const each : observer::all()) each->settle();
        const auto begin = observer::now();
        if constexpr (std::is_void_v<Result>) {
            Function(arguments...);
            tell(begin, observer::now());
        } else {
            const auto result = Function(arguments...);
            tell(begin, observer::now());
            if constexpr (is_wait(Which))
                for (auto* const each : observer::all()) each->settle();
            return result;
        }
    }

    /// Requests an event even where the program wants none, to get the command's times.
    static Result watch(std::tuple<Arguments...> given) {
        const auto shape = shape_of<Which>(given);
        for (auto* const each : observer::all()) each->enqueues(Which, shape);
        constexpr auto index = index_of_event();
        cl_event own = nullptr;
        const bool is_ours = std::get<index>(given) == nullptr;
        if (is_ours) std::get<index>(given) = &own;
        auto* const event = std::get<index>(given);
        const auto begin = observer::now();
        const auto result = std::apply(Function, given);
        const auto end = observer::now();
        tell(begin, end);
        if (!went_well(result)) return result;
        for (auto* const each : observer::all()) each->enqueued(Which, shape, **event, begin, end);
        if (is_ours) (void)release(own, CL_INVALID_EVENT);
        if (shape.blocks)
            for (auto* const each : observer::all()) each->settle();
        return result;
    }

    static void tell(observer::time begin, observer::time end) {
        for (auto* const each : observer::all()) each->called(Which, begin, end);
    }
    static constexpr std::size_t index_of_event() {
        constexpr std::array<bool, sizeof...(Arguments)> is_event{std::is_same_v<Arguments, cl_event*>...};
        std::size_t at = 0;
        while (!is_event[at]) ++at;
        return at;
    }
    static bool went_well(const void* made) { return made != nullptr; }
    static bool went_well(cl_int code) { return code == CL_SUCCESS; }
};

/// The function for the dispatch table: observed if any observer hears calls.
template <api_call Which, auto Function> auto observed_if_wanted() {
    return observer::hears_calls() ? &observed<Which, Function>::call : Function;
}

} // namespace causeway::platform

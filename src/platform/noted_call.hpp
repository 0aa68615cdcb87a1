// SPDX-License-Identifier: Apache-2.0
// Wraps functions of the platform so that the program's calls go into the call record.
#pragma once

#include "platform/cluster.hpp"
#include "platform/kernel.hpp"
#include "platform/memory.hpp"
#include "platform/program.hpp"
#include "platform/queue.hpp"
#include "platform/sampler.hpp"

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace causeway::platform {

/// True for calls that create, set, enqueue or wait. Queries and releases may differ between ranks.
[[nodiscard]] constexpr bool goes_into_record(std::string_view function) {
    for (const std::string_view other : {"clGet", "clRetain", "clRelease", "clUnload", "clSVM"})
        if (function.starts_with(other)) return false;
    return true;
}

template <class Value> constexpr bool is_handle = std::is_pointer_v<Value> &&
                                                  std::is_base_of_v<object, std::remove_pointer_t<Value>>;

template <class Value> call_argument argument_of(Value value) {
    using sort = call_argument::sort;
    if constexpr (is_handle<Value>) {
        constexpr std::uint64_t strange = UINT64_MAX;
        if (value == nullptr) return {sort::object, 0};
        return {sort::object, value->is(std::remove_pointer_t<Value>::own_kind) ? value->made_by : strange};
    } else if constexpr (std::is_pointer_v<Value>) {
        return {sort::pointer, value != nullptr ? 1U : 0U};
    } else {
        return {sort::number, static_cast<std::uint64_t>(value)};
    }
}

template <class Value> void name_made(Value made, std::uint64_t call) {
    if constexpr (is_handle<Value>)
        if (made != nullptr) made->made_by = call;
}

/// Functions that make a list, or only give its length if the list is null; its size argument then means nothing.
constexpr bool makes_list(api_call function) {
    return function == api_call::clCreateSubDevices || function == api_call::clCreateKernelsInProgram;
}

/// The arguments as they go into the record.
template <api_call Which, class... Arguments> auto meaning_of(Arguments... given) {
    std::array<call_argument, sizeof...(Arguments)> all{argument_of(given)...};
    if constexpr (makes_list(Which))
        for (std::size_t i = 1; i < all.size(); ++i)
            if (all[i].what == call_argument::sort::pointer && all[i].value == 0 &&
                all[i - 1].what == call_argument::sort::number)
                all[i - 1].value = 0;
    return all;
}

template <api_call Which, auto Function> struct noted;

template <api_call Which, class Result, class... Arguments, Result(CL_API_CALL* Function)(Arguments...)> struct noted<
    Which, Function> {
    static Result CL_API_CALL call(Arguments... arguments) {
        auto& job = cluster::of_process();
        if (job.is_alone()) return Function(arguments...);
        const auto begin = [&](const auto&... meant) { return job.begin_call(Which, meant...); };
        if (!std::apply(begin, meaning_of<Which>(arguments...))) return Function(arguments...);
        const auto number = job.record().number();
        const auto result = Function(arguments...);
        name_made(result, number);
        if (went_well(result)) (name_event(arguments, number), ...);
        job.end_call();
        return result;
    }

  private:
    static bool went_well(Result result) {
        if constexpr (std::is_pointer_v<Result>)
            return result != nullptr;
        else
            return result == CL_SUCCESS;
    }
    template <class Argument> static void name_event(Argument argument, std::uint64_t call) {
        if constexpr (std::is_same_v<Argument, cl_event*>)
            if (argument != nullptr) name_made(*argument, call);
    }
};

} // namespace causeway::platform

// SPDX-License-Identifier: Apache-2.0
// The table that loaders call through. Every slot is filled.
#include "platform/entry_points.hpp"
#include "platform/noted_call.hpp"
#include "platform/observed_call.hpp"

#include <tuple>

namespace causeway::platform {

namespace {

/// A function of any OpenCL signature that refuses: it returns the code, or nothing and the code through its last
/// argument.
template <class Function, cl_int Code> struct refused;

template <cl_int Code, class Result, class... Arguments> struct refused<Result(CL_API_CALL*)(Arguments...), Code> {
    static Result CL_API_CALL call(Arguments... arguments) {
        if constexpr (std::is_same_v<Result, cl_int>) {
            return Code;
        } else {
            auto* const code = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
            if constexpr (std::is_same_v<decltype(code), cl_int* const>)
                if (code != nullptr) *code = Code;
            return Result();
        }
    }
};

/// Slots whose types are known on Windows alone; 0 is a null handle there.
template <cl_int Code> struct refused<void*, Code> {
    static std::intptr_t CL_API_CALL call() { return Code; }
};

template <api_call Which, auto Function, bool IsNoted> auto function_for_programs() {
    if constexpr (IsNoted)
        return observed_if_wanted<Which, &noted<Which, Function>::call>();
    else
        return observed_if_wanted<Which, Function>();
}

template <class Slot, class Function> void fill(Slot& slot, Function function) {
    slot = reinterpret_cast<Slot>(function);
}

cl_icd_dispatch make_table() {
    cl_icd_dispatch table{};
#define CAUSEWAY_ENTRY(name)                                                                                           \
    table.name = function_for_programs<api_call::name, &entry::name, goes_into_record(#name)>();
#define CAUSEWAY_REFUSED(name, code) fill(table.name, refused<decltype(table.name), code>::call);
#include "platform/entry_points.def"
#undef CAUSEWAY_ENTRY
#undef CAUSEWAY_REFUSED
    return table;
}

} // namespace

const cl_icd_dispatch dispatch_table = make_table();

} // namespace causeway::platform

// SPDX-License-Identifier: Apache-2.0
// Samplers: one of each driver of the context behind each.
#pragma once

#include "platform/context.hpp"

#include <vector>

struct _cl_sampler final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::sampler;
    explicit _cl_sampler(_cl_context& of);
    ~_cl_sampler();

    const causeway::platform::ref<_cl_context> context;
    std::vector<causeway::platform::driver_object<cl_sampler>> raws; ///< one for each place
};

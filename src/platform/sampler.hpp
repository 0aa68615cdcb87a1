// SPDX-License-Identifier: Apache-2.0
// Samplers: behind each, one sampler of every driver of the context.
#pragma once

#include "platform/context.hpp"

#include <vector>

struct _cl_sampler final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::sampler;
    explicit _cl_sampler(_cl_context& of);
    ~_cl_sampler();

    const causeway::platform::ref<_cl_context> context;
    cl_bool normalised = CL_TRUE;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
    std::vector<cl_sampler_properties> property_list;                ///< as given to clCreateSamplerWithProperties
    std::vector<causeway::platform::driver_object<cl_sampler>> raws; ///< by driver context; null if for_queries
};

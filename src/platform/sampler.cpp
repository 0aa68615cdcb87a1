// SPDX-License-Identifier: Apache-2.0
// Making samplers and asking about them.
#include "platform/sampler.hpp"

#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/entry_points.hpp"
#include "platform/memory.hpp"

using namespace causeway::platform;

_cl_sampler::_cl_sampler(_cl_context& of) : object(own_kind), context(&of) { add_live_handle(this); }
_cl_sampler::~_cl_sampler() { remove_live_handle(this); }

namespace causeway::platform::entry {

namespace {

ref<_cl_sampler> create(cl_context handle, cl_bool normalised, cl_addressing_mode addressing, cl_filter_mode filter) {
    auto& context = checked(handle, CL_INVALID_CONTEXT);
    auto made = ref<_cl_sampler>::adopt(new _cl_sampler(context));
    for (auto* const place : context.here()) {
        auto& at = *place;
        cl_int code = CL_SUCCESS;
        made->raws.emplace_back(at.calls().clCreateSampler(at.context.raw(), normalised, addressing, filter, &code));
        check(code);
    }
    return made;
}

} // namespace

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalised, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int* code) {
    return make_everywhere(code, [&] { return create(context, normalised, addressing, filter); });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* list,
                                                     cl_int* code) {
    return make_everywhere(code, [&] {
        cl_bool normalised = CL_TRUE;
        cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
        cl_filter_mode filter = CL_FILTER_NEAREST;
        for (; list != nullptr && *list != 0; list += 2) {
            switch (list[0]) {
            case CL_SAMPLER_NORMALIZED_COORDS: normalised = static_cast<cl_bool>(list[1]); break;
            case CL_SAMPLER_ADDRESSING_MODE: addressing = static_cast<cl_addressing_mode>(list[1]); break;
            case CL_SAMPLER_FILTER_MODE: filter = static_cast<cl_filter_mode>(list[1]); break;
            default: throw refusal{CL_INVALID_VALUE};
            }
        }
        return create(context, normalised, addressing, filter);
    });
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) { return retain(sampler, CL_INVALID_SAMPLER); }
cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) { return release(sampler, CL_INVALID_SAMPLER); }

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler handle, cl_sampler_info name, size_t size, void* value,
                                    size_t* size_ret) {
    return guard([&] {
        const auto& sampler = checked(handle, CL_INVALID_SAMPLER);
        const answer to(size, value, size_ret);
        switch (name) {
        case CL_SAMPLER_REFERENCE_COUNT: return to(sampler.references());
        case CL_SAMPLER_CONTEXT: return to(static_cast<cl_context>(sampler.context.get()));
        default:
            return to.from([&](size_t room, void* where, size_t* used) {
                return sampler.raws.front().calls().clGetSamplerInfo(sampler.raws.front().raw(), name, room, where,
                                                                     used);
            });
        }
    });
}

} // namespace causeway::platform::entry

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

/// Makes the drivers' samplers.
ref<_cl_sampler> complete(ref<_cl_sampler> made) {
    for (auto* const each : made->context->here()) {
        auto& at = *each;
        cl_int code = CL_SUCCESS;
        made->raws.emplace_back(at.for_queries ? nullptr
                                               : at.calls().clCreateSampler(at.context.raw(), made->normalised,
                                                                            made->addressing, made->filter, &code));
        check(code);
    }
    return made;
}

} // namespace

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalised, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int* code) {
    return make_everywhere(code, [&] {
        auto made = ref<_cl_sampler>::adopt(new _cl_sampler(checked(context, CL_INVALID_CONTEXT)));
        made->normalised = normalised;
        made->addressing = addressing;
        made->filter = filter;
        return complete(std::move(made));
    });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* list,
                                                     cl_int* code) {
    return make_everywhere(code, [&] {
        auto made = ref<_cl_sampler>::adopt(new _cl_sampler(checked(context, CL_INVALID_CONTEXT)));
        if (list != nullptr) {
            for (; *list != 0; list += 2) {
                switch (list[0]) {
                case CL_SAMPLER_NORMALIZED_COORDS: made->normalised = static_cast<cl_bool>(list[1]); break;
                case CL_SAMPLER_ADDRESSING_MODE: made->addressing = static_cast<cl_addressing_mode>(list[1]); break;
                case CL_SAMPLER_FILTER_MODE: made->filter = static_cast<cl_filter_mode>(list[1]); break;
                default: throw refusal{CL_INVALID_VALUE};
                }
                made->property_list.insert(made->property_list.end(), {list[0], list[1]});
            }
            made->property_list.push_back(0);
        }
        note(made->property_list.data(), made->property_list.size() * sizeof(cl_sampler_properties));
        return complete(std::move(made));
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
        case CL_SAMPLER_NORMALIZED_COORDS: return to(sampler.normalised);
        case CL_SAMPLER_ADDRESSING_MODE: return to(sampler.addressing);
        case CL_SAMPLER_FILTER_MODE: return to(sampler.filter);
        case CL_SAMPLER_PROPERTIES: return to.list(std::span<const cl_sampler_properties>(sampler.property_list));
        default: return CL_INVALID_VALUE;
        }
    });
}

} // namespace causeway::platform::entry

// SPDX-License-Identifier: Apache-2.0
// A context of the platform: devices of any drivers, one place for each driver, or for each device.
#pragma once

#include "platform/place.hpp"

#include <deque>
#include <mutex>
#include <span>
#include <vector>

struct _cl_context final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::context;
    using notify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);

    struct destructor {
        void(CL_CALLBACK* call)(cl_context, void*);
        void* data;
    };

    _cl_context(std::vector<_cl_device_id*> of, std::vector<cl_context_properties> as_given, notify on_error,
                void* data);
    ~_cl_context();

    /// Throws CL_INVALID_DEVICE for a device of another context.
    [[nodiscard]] causeway::platform::place& place_of(const _cl_device_id& device);
    [[nodiscard]] bool has(const _cl_device_id& device) const;
    /// Whether contents of memory objects move between places, which only the platform sees to. In a cluster they do
    /// also from one place alone: the other ranks follow it.
    [[nodiscard]] bool spans() const { return m_spans; }
    /// Those of this rank; there is at least one.
    [[nodiscard]] std::span<causeway::platform::place* const> here() const { return m_here; }

    std::vector<causeway::platform::ref<_cl_device_id>> devices;
    std::vector<cl_context_properties> properties;
    std::deque<causeway::platform::place> places;

    std::mutex order; // of commands where the context spans places: memory objects' states change in the order of
                      // enqueue

    std::mutex destructors_mutex; // guards destructors
    std::vector<destructor> destructors;

  private:
    causeway::platform::place& add_place(const causeway::platform::driver& from);

    std::vector<causeway::platform::place*> m_here;
    bool m_spans = false;
};

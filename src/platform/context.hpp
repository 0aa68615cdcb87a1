// SPDX-License-Identifier: Apache-2.0
// A context of the platform: devices of any drivers, one driver context for each driver, or for each device.
#pragma once

#include "platform/driver_context.hpp"

#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace causeway::platform {
class cluster;
}

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
    [[nodiscard]] causeway::platform::driver_context& driver_context_of(const _cl_device_id& device);
    [[nodiscard]] bool has(const _cl_device_id& device) const;
    /// The context's device that `device` is; without a cluster also the one that it is a part of, because drivers may
    /// permit that (PoCL does). Throws CL_INVALID_DEVICE if there is none.
    [[nodiscard]] _cl_device_id& device_of(_cl_device_id& device) const;
    /// Whether the platform moves contents of memory objects between driver contexts. True in a cluster even with one
    /// driver context, because the other ranks follow it.
    [[nodiscard]] bool spans() const { return m_spans; }
    /// Driver contexts of this rank; at least one.
    [[nodiscard]] std::span<causeway::platform::driver_context* const> here() const { return m_here; }

    causeway::platform::cluster& job; ///< the ranks that run the program
    std::vector<causeway::platform::ref<_cl_device_id>> devices;
    std::vector<cl_context_properties> properties;
    std::deque<causeway::platform::driver_context> driver_contexts;

    std::mutex order; // where the context spans driver contexts, held while a command is enqueued: serialises changes
                      // of memory objects' states

    std::mutex destructors_mutex; // guards destructors
    std::vector<destructor> destructors;

  private:
    causeway::platform::driver_context& add_driver_context(const causeway::platform::driver& from);

    std::vector<causeway::platform::driver_context*> m_here;
    bool m_spans = false;
};

// SPDX-License-Identifier: Apache-2.0
// Base of all objects of the platform: the loader's dispatch word, a kind, two reference counts.
#pragma once

#include "platform/opencl.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace causeway::platform {

/// Dispatch table of this platform; the first word of each of its objects points to it.
extern const cl_icd_dispatch dispatch_table;

/// A call that is refused with an OpenCL code. The C boundary turns it into that code.
struct refusal {
    cl_int code;
};

enum class kind : std::uint32_t { none, platform, device, context, queue, mem, sampler, program, kernel, event };

/// Base of the structs behind OpenCL's handles. No virtual functions: the first word is the loader's.
///
/// Lives while anybody has a hold. All of the program's references together are one hold, so the program sees only its
/// own count. The handle stays valid while the object lives, even with no reference: other objects and callbacks hand
/// it out.
class object {
  public:
    explicit object(kind of) : m_kind(of) {}
    object(const object&) = delete;
    object& operator=(const object&) = delete;

    /// Whether this is a live object of kind `of`.
    [[nodiscard]] bool is(kind of) const {
        return m_dispatch == &dispatch_table && m_kind.load(std::memory_order_relaxed) == of;
    }
    [[nodiscard]] cl_uint references() const { return m_references.load(std::memory_order_relaxed); }

    /// Adds one of the program's references. True if it is the first: the caller then leaves its hold to the program.
    [[nodiscard]] bool retain() { return m_references.fetch_add(1, std::memory_order_acq_rel) == 0; }
    enum class released { nothing, one, last };
    /// Drops one of the program's references, if there is any. After `last` the caller drops the program's hold.
    [[nodiscard]] released release() {
        auto count = m_references.load(std::memory_order_relaxed);
        do {
            if (count == 0) return released::nothing;
        } while (!m_references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel));
        return count == 1 ? released::last : released::one;
    }

    void hold() { m_holds.fetch_add(1, std::memory_order_relaxed); }
    /// Drops a hold. True if it was the last: the caller must then delete the object.
    [[nodiscard]] bool drop() { return m_holds.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  protected:
    ~object() { end_life(); }
    /// Makes the handle invalid, also in destructor callbacks.
    void end_life() { m_kind.store(kind::none, std::memory_order_relaxed); }

  private:
    const cl_icd_dispatch* m_dispatch = &dispatch_table;
    std::atomic<kind> m_kind;
    std::atomic<cl_uint> m_references{1};
    std::atomic<std::uint32_t> m_holds{1};

  public: // the loader's word comes first
    /// In a cluster: the number of the call that made it, the same on every rank.
    std::uint64_t made_by = 0;
};

/// Holds an object of the platform. Null is allowed.
template <class Object> class ref {
  public:
    ref() = default;
    explicit ref(Object* held) : m_object(held) {
        if (m_object != nullptr) m_object->hold();
    }
    ref(const ref& other) : ref(other.m_object) {}
    ref(ref&& other) noexcept : m_object(std::exchange(other.m_object, nullptr)) {}
    ref& operator=(ref other) noexcept {
        std::swap(m_object, other.m_object);
        return *this;
    }
    ~ref() {
        if (m_object != nullptr && m_object->drop()) delete m_object;
    }
    /// Takes over the hold that an object is created with.
    [[nodiscard]] static ref adopt(Object* made) {
        ref result;
        result.m_object = made;
        return result;
    }

    [[nodiscard]] Object* get() const { return m_object; }
    Object* operator->() const { return m_object; }
    Object& operator*() const { return *m_object; }
    [[nodiscard]] explicit operator bool() const { return m_object != nullptr; }
    /// Gives the object to the program, with this hold and the reference that it was created with.
    [[nodiscard]] Object* give() { return std::exchange(m_object, nullptr); }

  private:
    Object* m_object = nullptr;
};

/// The object behind the program's handle; throws `code` for one that is null, foreign or dead.
template <class Object> Object& checked(Object* handle, cl_int code) {
    if (handle == nullptr || !handle->is(Object::own_kind)) throw refusal{code};
    return *handle;
}

template <class Object> cl_int retain(Object* handle, cl_int code) {
    if (handle == nullptr || !handle->is(Object::own_kind)) return code;
    ref<Object> hold(handle); // before it is counted: another thread may release at the same time
    if (handle->retain()) (void)hold.give();
    return CL_SUCCESS;
}

template <class Object> cl_int release(Object* handle, cl_int code) {
    if (handle == nullptr || !handle->is(Object::own_kind)) return code;
    const auto what = handle->release();
    if (what == object::released::last) (void)ref<Object>::adopt(handle);
    return what == object::released::nothing ? code : CL_SUCCESS;
}

} // namespace causeway::platform

// SPDX-License-Identifier: Apache-2.0
// A shared library that is found at run time, or not.
#pragma once

#include <dlfcn.h>

#include <string>

namespace causeway::bridge {

/// Stays loaded for the life of the process, as drivers want it.
class library {
  public:
    explicit library(const char* name) : m_handle(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        if (m_handle == nullptr) m_missing = ::dlerror();
    }
    [[nodiscard]] explicit operator bool() const { return m_handle != nullptr; }
    /// Why it could not be loaded.
    [[nodiscard]] const std::string& missing() const { return m_missing; }
    /// Null if there is no such function.
    template <class Function> [[nodiscard]] Function* find(const char* name) const {
        return m_handle != nullptr ? reinterpret_cast<Function*>(::dlsym(m_handle, name)) : nullptr;
    }

  private:
    void* m_handle;
    std::string m_missing;
};

} // namespace causeway::bridge

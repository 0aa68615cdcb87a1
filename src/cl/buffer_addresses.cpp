// SPDX-License-Identifier: Apache-2.0
// Keeps addresses by handle, and forgets them before a handle can be another buffer's.
#include "cl/buffer_addresses.hpp"

#include <mutex>
#include <unordered_map>

namespace causeway::cl {

namespace {

struct address_book {
    std::mutex mutex; // guards entries
    std::unordered_map<cl_mem, std::byte*> entries;
};

address_book& book() {
    static auto& one = *new address_book; // drivers may call back while the process ends
    return one;
}

void CL_CALLBACK destroyed(cl_mem buffer, void*) {
    const std::lock_guard lock(book().mutex);
    book().entries.erase(buffer);
}

} // namespace

void follow(cl_mem buffer) {
    {
        const std::lock_guard lock(book().mutex);
        if (!book().entries.emplace(buffer, nullptr).second) return;
    }
    if (clSetMemObjectDestructorCallback(buffer, destroyed, nullptr) != CL_SUCCESS) destroyed(buffer, nullptr);
}

std::byte* address_of(cl_mem buffer) {
    const std::lock_guard lock(book().mutex);
    const auto found = book().entries.find(buffer);
    return found == book().entries.end() ? nullptr : found->second;
}

void keep_address(cl_mem buffer, std::byte* first) {
    const std::lock_guard lock(book().mutex);
    if (const auto found = book().entries.find(buffer); found != book().entries.end()) found->second = first;
}

} // namespace causeway::cl

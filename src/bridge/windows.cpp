// SPDX-License-Identifier: Apache-2.0
// Counts and finds windows.
#include "bridge/windows.hpp"

#include "base/error.hpp"

#include <iterator>
#include <random>
#include <utility>

namespace causeway::bridge {

void windows::break_off(const std::string& why) {
    if (std::exchange(m_is_broken, true)) return;
    m_listener(why, given_up::for_good);
}

std::shared_ptr<known_window> windows::create(const device_uuid& device, std::size_t bytes) {
    auto& own = m_own[device];
    std::erase_if(own, [](const auto& each) { return each.expired(); });
    std::size_t taken = 0;
    for (const auto& each : own)
        if (const auto alive = each.lock()) taken += alive->bytes();
    const auto whole = m_bridge->rounded(bytes);
    if (taken + whole > m_options[option::window])
        throw transfer_error(status::out_of_resources,
                             bytes_text(whole) + " more for a window would be more than the " +
                                 bytes_text(m_options[option::window]) + " that CAUSEWAY_WINDOW allows on the device");
    auto made = create_for_program(device, bytes);
    own.push_back(made);
    return made;
}

std::shared_ptr<known_window> windows::create_for_program(const device_uuid& device, std::size_t bytes) {
    static thread_local std::mt19937_64 random{std::random_device{}()};
    m_bridge->start(device); // a link that does not start breaks all of them off, at its first copy
    return keep(std::make_shared<known_window>(random() | 1, device, m_bridge->create(device, bytes), descriptor()));
}

std::shared_ptr<known_window> windows::open(const device_uuid& device, std::uint64_t key, descriptor shared,
                                            std::size_t bytes) {
    auto second = descriptor::copy_of(shared.get());
    auto memory = m_bridge->open(device, std::move(shared), bytes);
    return keep(std::make_shared<known_window>(key, device, std::move(memory), std::move(second)));
}

std::shared_ptr<known_window> windows::keep(std::shared_ptr<known_window> made) {
    std::erase_if(m_windows, [](const auto& each) { return each.second.expired(); });
    m_windows.insert_or_assign(made->address(), made);
    return made;
}

std::shared_ptr<known_window> windows::at(const std::byte* where) const {
    const auto next = m_windows.upper_bound(where);
    if (next == m_windows.begin()) return nullptr;
    auto found = std::prev(next)->second.lock();
    return found && found->contains(where) ? found : nullptr;
}

} // namespace causeway::bridge

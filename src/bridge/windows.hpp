// SPDX-License-Identifier: Apache-2.0
// The windows that this process has made or opened, and the copies between them.
#pragma once

#include "base/options.hpp"
#include "bridge/device_bridge.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace causeway::bridge {

/// Whether links are given up for good, or transfers go on trying.
enum class given_up { for_now, for_good };

/// A window under the number by which processes name it to each other.
class known_window {
  public:
    known_window(std::uint64_t key, const device_uuid& device, std::unique_ptr<window> memory, descriptor shared)
        : m_key(key), m_device(device), m_memory(std::move(memory)), m_shared(std::move(shared)) {}

    [[nodiscard]] std::uint64_t key() const { return m_key; }
    [[nodiscard]] const device_uuid& device() const { return m_device; }
    [[nodiscard]] std::byte* address() const { return m_memory->address(); }
    [[nodiscard]] std::size_t bytes() const { return m_memory->bytes(); }
    /// A new descriptor for another process to open. Throws transfer_error.
    [[nodiscard]] descriptor shared() const {
        return m_shared.get() >= 0 ? descriptor::copy_of(m_shared.get()) : m_memory->share();
    }
    [[nodiscard]] bool contains(const std::byte* where) const {
        return where >= address() && where < address() + bytes();
    }

  private:
    std::uint64_t m_key;
    device_uuid m_device;
    std::unique_ptr<window> m_memory;
    descriptor m_shared; // of another process's window; our own are shared on demand, because descriptors are scarce
};

/// One for each process. Engine's thread only.
class windows {
  public:
    explicit windows(const options& settings) : m_options(settings) {}

    /// From now on there is a bridge.
    void use(std::unique_ptr<device_bridge> made) { m_bridge = std::move(made); }
    /// Null while there is none.
    [[nodiscard]] device_bridge* bridge() const { return m_bridge.get(); }
    /// Whether windows of `device` can be had.
    [[nodiscard]] bool serves(const device_uuid& device) const {
        return m_bridge && !m_is_broken && m_bridge->has(device);
    }
    /// Another process has said that its messages come from `device`.
    void used_elsewhere(const device_uuid& device) { m_used_elsewhere.insert(device); }
    [[nodiscard]] bool is_used_elsewhere(const device_uuid& device) const { return m_used_elsewhere.contains(device); }
    /// A copy has failed: an interface that fails once fails for good. Existing windows stay until they are released.
    void break_off(const std::string& why);
    /// Tells the listener that transfers take another way, and why.
    void tell(const std::string& why) const { m_listener(why, given_up::for_now); }
    using listener = std::function<void(const std::string& why, given_up how_long)>;
    void tell_to(listener who) { m_listener = std::move(who); }

    /// Throws transfer_error, also if `device` would give more than the option `window` allows.
    [[nodiscard]] std::shared_ptr<known_window> create(const device_uuid& device, std::size_t bytes);
    /// For a buffer of the program, which the option does not limit. Throws transfer_error.
    [[nodiscard]] std::shared_ptr<known_window> create_for_program(const device_uuid& device, std::size_t bytes);
    /// The window that another process calls `key`. Throws transfer_error.
    [[nodiscard]] std::shared_ptr<known_window> open(const device_uuid& device, std::uint64_t key, descriptor shared,
                                                     std::size_t bytes);
    /// The window that `where` lies in; null for ordinary memory.
    [[nodiscard]] std::shared_ptr<known_window> at(const std::byte* where) const;

  private:
    std::shared_ptr<known_window> keep(std::shared_ptr<known_window> made);

    const options& m_options;
    bool m_is_broken = false;
    listener m_listener = [](const std::string&, given_up) {};
    std::unique_ptr<device_bridge> m_bridge;
    std::map<const std::byte*, std::weak_ptr<known_window>> m_windows; // by first byte
    std::map<device_uuid, std::vector<std::weak_ptr<known_window>>> m_own;
    std::set<device_uuid> m_used_elsewhere;
};

} // namespace causeway::bridge

// SPDX-License-Identifier: Apache-2.0
// One-sided commands over a direct link: this PE's device copies straight into, and out of, the heaps of others.
#pragma once

#include "bridge/windows.hpp"
#include "comm/local_socket.hpp"
#include "comm/node_post.hpp"
#include "endpoints/device/device_endpoint.hpp"
#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"
#include "runtime/heap_request.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::core {

class runtime;

/// What a PE tells the others of the window that its heap lies in.
struct heap_window {
    comm::socket_key post;
    std::uint64_t key = 0;
    std::uint64_t bytes = 0; ///< 0: it lies in none
    bridge::device_uuid device{};
};

/// The windows of the heaps that this PE's device reaches. All other PEs are served by messages.
class heap_link {
  public:
    /// `own` lies in a window.
    heap_link(runtime& process, const endpoints::buffer_location& own, int own_pe, int pes);
    ~heap_link();
    heap_link(const heap_link&) = delete;
    heap_link& operator=(const heap_link&) = delete;

    [[nodiscard]] heap_window introduction() const;
    /// Collective: hands the own window to all PEs of the node that have one, and opens theirs; `is_near` says by PE
    /// which are of this node. Waits for their descriptors, but not for ever.
    void connect(const std::vector<heap_window>& all, const std::vector<bool>& is_near);
    /// All PEs are connected.
    void connected() { m_post.reset(); }

    /// Any thread, once it is connected.
    [[nodiscard]] bool reaches(int pe) const { return !m_is_broken && m_windows[static_cast<std::size_t>(pe)]; }
    [[nodiscard]] const bridge::known_window* window(int pe) const {
        return m_windows[static_cast<std::size_t>(pe)].get();
    }
    /// The device that copies.
    [[nodiscard]] const bridge::device_uuid& device() const { return m_own->device(); }
    [[nodiscard]] runtime& process() const { return m_process; }
    /// Call after a failure, on the engine's thread: if links were given up, reaches() is false from now on.
    void look_after_failure();

  private:
    runtime& m_process;
    std::shared_ptr<bridge::known_window> m_own;
    int m_own_pe;
    comm::socket_key m_key;
    std::unique_ptr<comm::node_post> m_post;
    std::vector<std::shared_ptr<bridge::known_window>> m_windows; // by PE
    std::atomic<bool> m_is_broken{false};
};

/// The target of a put into the heap of a PE of this node. `link` reaches that heap, or the put has no bytes. The
/// signal is set in memory that both share.
[[nodiscard]] std::unique_ptr<transfer::endpoint>
make_linked_put(std::shared_ptr<heap_server> server, std::shared_ptr<heap_link> link,
                const endpoints::heap_location& where, std::size_t bytes, std::optional<endpoints::heap_signal> then);
/// The source of a get from such a heap.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_linked_get(std::shared_ptr<heap_server> server,
                                                                  std::shared_ptr<heap_link> link,
                                                                  const endpoints::heap_location& where,
                                                                  std::size_t bytes, in_order order = in_order::yes);

} // namespace causeway::core

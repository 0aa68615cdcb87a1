// SPDX-License-Identifier: Apache-2.0
// What flow, carriers and endpoints hand each other: where the bytes of a block lie on their way.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace causeway::transfer {

/// What kind of memory an address names.
enum class memory_kind : std::uint8_t {
    host,  ///< the host may touch it
    window ///< a device's, in a window that other devices reach: the address only names bytes in it
};

/// Where the memory of a block begins.
struct block_memory {
    std::byte* first = nullptr;
    memory_kind kind = memory_kind::host;

    explicit operator bool() const { return first != nullptr; }
};

/// The bytes of one block in some memory.
class block_reference {
  public:
    block_reference() = default;
    block_reference(block_memory memory, std::size_t bytes) : m_memory(memory), m_bytes(bytes) {}
    /// Of host memory.
    template <std::convertible_to<std::span<std::byte>> Range>
        requires(!std::same_as<std::remove_cvref_t<Range>, block_reference>)
    block_reference(Range&& bytes) : m_memory{std::span<std::byte>(bytes).data()}, m_bytes(std::size(bytes)) {}
    /// Of host memory that a target only reads.
    [[nodiscard]] static block_reference to_write(std::span<const std::byte> bytes) {
        return {{const_cast<std::byte*>(bytes.data())}, bytes.size()};
    }

    [[nodiscard]] memory_kind kind() const { return m_memory.kind; }
    [[nodiscard]] bool is_window() const { return m_memory.kind == memory_kind::window; }
    [[nodiscard]] std::size_t size() const { return m_bytes; }

    /// Host memory only.
    [[nodiscard]] std::byte* data() const {
        assert(!is_window());
        return m_memory.first;
    }
    [[nodiscard]] std::byte* begin() const { return data(); }
    [[nodiscard]] std::byte* end() const { return data() + m_bytes; }
    [[nodiscard]] std::span<std::byte> host() const { return {data(), m_bytes}; }
    /// The address, of either kind of memory. Never dereference a window's.
    [[nodiscard]] std::byte* address() const { return m_memory.first; }

  private:
    block_memory m_memory;
    std::size_t m_bytes = 0;
};

} // namespace causeway::transfer

/// It refers to memory that outlives it, as a std::span does.
template <> inline constexpr bool std::ranges::enable_borrowed_range<causeway::transfer::block_reference> = true;

// SPDX-License-Identifier: Apache-2.0
// Carves blocks out of segments, and keeps what is mapped and page-locked of other processes'.
#include "endpoints/mpi/windows.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace causeway::endpoints {

namespace {

constexpr std::size_t page = 4096;
/// A process has 1,024 descriptors where nobody raised the limit: sixteen small blocks share one.
constexpr std::size_t blocks_of_segment = 16;
constexpr std::size_t shared_segment_bytes = std::size_t{4} << 20;
constexpr std::size_t segments_of_cap = 16;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

std::shared_ptr<void> pin_if_possible(const std::shared_ptr<transfer::staging_allocator>& device, std::byte* memory,
                                      std::size_t bytes) {
    if (!device) return nullptr;
    try {
        return device->pin(memory, bytes);
    } catch (const transfer_error&) {
        return nullptr; // slower, and as correct
    }
}

} // namespace

window_allocator::window& window_allocator::window_for(std::size_t bytes) {
    const auto stride = whole_pages(bytes);
    auto fit = std::find_if(m_windows.begin(), m_windows.end(), [&](const auto& each) {
        return each.second.block_bytes == stride && !each.second.free.empty();
    });
    if (fit == m_windows.end()) {
        const auto most = std::min<std::size_t>(shared_segment_bytes, m_options[option::staging] / segments_of_cap);
        const auto blocks = std::clamp<std::size_t>(most / stride, 1, blocks_of_segment);
        window made;
        made.segment = comm::shared_segment::create(blocks * stride);
        made.pinned = pin_if_possible(m_device, made.segment->memory(), blocks * stride);
        made.block_bytes = stride;
        for (auto block = blocks; block > 0; --block)
            made.free.push_back(made.segment->memory() + (block - 1) * stride);
        const auto* const first = made.segment->memory();
        fit = m_windows.emplace(first, std::move(made)).first;
    }
    return fit->second;
}

void window_allocator::secure(std::size_t bytes) {
    // Blocks that are none's now lie in the pool, and are used again.
    const auto stride = whole_pages(bytes);
    if (std::none_of(m_windows.begin(), m_windows.end(),
                     [&](const auto& each) { return each.second.block_bytes == stride; }))
        (void)window_for(bytes);
}

std::byte* window_allocator::allocate(std::size_t bytes) {
    auto& from = window_for(bytes);
    auto* const block = from.free.back();
    from.free.pop_back();
    ++from.used;
    return block;
}

void window_allocator::release(std::byte* memory, std::size_t) noexcept {
    const auto found = m_windows.find(window_of(memory)->first);
    auto& from = found->second;
    // One that was given up is never handed out again: it goes with its segment.
    if (m_given_up.erase(memory) == 0) from.free.push_back(memory);
    if (--from.used == 0) m_windows.erase(found);
}

block_address window_allocator::address_of(const std::byte* memory) const {
    const auto& [first, window] = *window_of(memory);
    return {window.segment->address(), static_cast<std::uint64_t>(memory - first)};
}

void mapped_window::pin(const std::shared_ptr<transfer::staging_allocator>& allocator) {
    if (!allocator || m_pinned.count(allocator) != 0) return;
    m_pinned.emplace(allocator, pin_if_possible(allocator, memory(), m_segment->address().bytes));
}

std::shared_ptr<window_allocator> windows::allocator_for(const std::shared_ptr<transfer::staging_allocator>& device,
                                                         std::size_t block_bytes) {
    auto& known = m_allocators[device];
    if (!known) known = std::make_shared<window_allocator>(m_options, device);
    try {
        known->secure(block_bytes);
    } catch (const transfer_error& failed) {
        warn_once(std::string("messages between ranks of this node go through MPI, which is slower: ") + failed.what());
        return nullptr;
    }
    return known;
}

std::shared_ptr<mapped_window> windows::find(const comm::segment_address& where) {
    auto& known = m_mapped[where.key];
    if (!known) {
        auto opened = m_open(where);
        if (!opened) {
            m_mapped.erase(where.key);
            return nullptr;
        }
        known = std::make_shared<mapped_window>(std::move(opened));
    } else if (const auto& address = known->m_segment->address(); address.bytes != where.bytes ||
                                                                  address.process != where.process ||
                                                                  address.descriptor != where.descriptor) {
        return nullptr; // no process gives two segments one key
    }
    known->m_touched = true;
    return known;
}

bool windows::trim(time_point now) {
    const auto keep = std::chrono::milliseconds(m_options[option::keep]);
    std::erase_if(m_mapped, [&](const auto& each) {
        auto& window = *each.second;
        const bool used = each.second.use_count() > 1;
        if (std::exchange(window.m_touched, false) || used) window.m_last_used = now;
        return !used && now - window.m_last_used >= keep;
    });
    std::erase_if(m_allocators, [](const auto& each) { return each.second.use_count() == 1; });
    return !m_mapped.empty() || !m_allocators.empty();
}

} // namespace causeway::endpoints

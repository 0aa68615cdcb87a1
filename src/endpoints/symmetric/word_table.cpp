// SPDX-License-Identifier: Apache-2.0
// Finds words by looking at all of them: a program has a few, and those lie in a row.
#include "endpoints/symmetric/word_table.hpp"

#include <atomic>
#include <cstring>

namespace causeway::endpoints {

namespace {

constexpr std::uint64_t key_of(std::size_t offset, std::size_t bytes) { return std::uint64_t{offset} * 16 + bytes; }

constexpr bool is_in(std::uint64_t key, std::size_t offset, std::size_t bytes) {
    const auto first = static_cast<std::size_t>(key / 16), size = static_cast<std::size_t>(key % 16);
    return key != 0 && first < offset + bytes && offset < first + size;
}

std::uint64_t load(const std::uint64_t& from) { return __atomic_load_n(&from, __ATOMIC_ACQUIRE); }

} // namespace

word_table::slot* word_table::slot_of(std::size_t offset, std::size_t bytes) const {
    const auto wanted = key_of(offset, bytes);
    auto* const all = slots();
    for (std::size_t i = 0, count = used(); i < count; ++i)
        if (load(all[i].key) == wanted) return all + i;
    return nullptr;
}

std::byte* word_table::find(std::size_t offset, std::size_t bytes) const {
    auto* const found = slot_of(offset, bytes);
    if (found == nullptr || __atomic_load_n(&found->is, __ATOMIC_ACQUIRE) != kept) return nullptr;
    return reinterpret_cast<std::byte*>(&found->value);
}

bool word_table::overlaps(std::size_t offset, std::size_t bytes) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (__atomic_load_n(&m_head->is_incomplete, __ATOMIC_ACQUIRE) != 0) return true;
    const auto* const all = slots();
    for (std::size_t i = 0, count = used(); i < count; ++i)
        if (is_in(load(all[i].key), offset, bytes)) return true;
    return false;
}

bool word_table::begin(std::size_t offset, std::size_t bytes) {
    auto* const all = slots();
    const auto count = used();
    bool is_taken = false;
    for_each(offset, bytes, [&](std::size_t, std::size_t) { is_taken = true; });
    std::size_t free = 0;
    while (free < count && (load(all[free].key) != 0 || __atomic_load_n(&all[free].is, __ATOMIC_ACQUIRE) != unused))
        ++free;
    if (is_taken || free == most_words) {
        __atomic_store_n(&m_head->is_incomplete, 1u, __ATOMIC_SEQ_CST);
        return false;
    }
    __atomic_store_n(&all[free].is, loading, __ATOMIC_RELEASE);
    __atomic_store_n(&all[free].key, key_of(offset, bytes), __ATOMIC_RELEASE);
    if (free == count) __atomic_store_n(&m_head->used, std::uint64_t{count + 1}, __ATOMIC_RELEASE);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
}

void word_table::keep(std::size_t offset, std::size_t bytes, std::uint64_t value) {
    auto* const found = slot_of(offset, bytes);
    if (found == nullptr) return;
    __atomic_store_n(&found->value, value, __ATOMIC_RELAXED);
    __atomic_store_n(&found->is, kept, __ATOMIC_RELEASE);
}

void word_table::reload(std::size_t offset, std::size_t bytes) {
    if (auto* const found = slot_of(offset, bytes)) __atomic_store_n(&found->is, loading, __ATOMIC_SEQ_CST);
}

void word_table::remove(std::size_t offset, std::size_t bytes) {
    auto* const all = slots();
    for (std::size_t i = 0, count = used(); i < count; ++i) {
        if (!is_in(load(all[i].key), offset, bytes)) continue;
        __atomic_store_n(&all[i].key, std::uint64_t{0}, __ATOMIC_RELEASE);
        __atomic_store_n(&all[i].is, unused, __ATOMIC_RELEASE);
    }
}

void word_table::for_each(std::size_t offset, std::size_t bytes,
                          const std::function<void(std::size_t, std::size_t)>& call) const {
    const auto* const all = slots();
    for (std::size_t i = 0, count = used(); i < count; ++i)
        if (const auto key = load(all[i].key); is_in(key, offset, bytes))
            call(static_cast<std::size_t>(key / 16), static_cast<std::size_t>(key % 16));
}

} // namespace causeway::endpoints

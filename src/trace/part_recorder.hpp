// SPDX-License-Identifier: Apache-2.0
// Records into the part of a timeline that one process writes.
#pragma once

#include "base/clock.hpp"
#include "trace/part.hpp"
#include "transfer/recorder.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace causeway::trace {

/// What host code of the program did, in nanoseconds of the monotonic clock.
struct host_call {
    std::string_view kind, name;
    std::int64_t begin = 0, end = 0;
    std::uint64_t bytes = 0;
};

/// A record costs a copy into mapped memory; a chunk of a few thousand records costs one or two system calls. Only new
/// texts allocate. One thread at a time.
class part_recorder final : public transfer::recorder {
  public:
    /// `to` and `clock` outlive it.
    part_recorder(part& to, const monotonic_clock& clock) : m_part(to), m_clock(clock), m_number(to.next_recorder()) {}
    ~part_recorder() override { part::give_back(m_chunk); }
    part_recorder(const part_recorder&) = delete;
    part_recorder& operator=(const part_recorder&) = delete;

    [[nodiscard]] time_point now() const override { return m_clock.now(); }
    void block_over(const transfer::block_span& what) override;
    void transfer_over(const transfer::transfer_span& what) override;
    void command_over(const transfer::command_span& what) override;
    void waited_for(std::uint64_t transfer, const transfer::command_span& what) override;
    void waited_for(std::uint64_t transfer, std::uint64_t other) override;
    void command_waits(std::uint64_t number, std::uint64_t transfer) override;
    void firing_over(const transfer::firing_span& what) override;
    void clock_seen(const transfer::clock_sample& what) override;
    void peer_seen(const transfer::peer_clock& what) override;
    void level_is(transfer::level what, std::uint64_t value) override;
    void call_over(const host_call& what);

  private:
    template <class Record> void put(record::kind what, const Record& value);
    void put(record::kind what, const void* first, std::size_t first_bytes, const void* rest, std::size_t rest_bytes);
    [[nodiscard]] std::uint32_t number_of(std::string_view text);
    /// As number_of(), for a text that lives as long as the process: looked up by address.
    [[nodiscard]] std::uint32_t number_of_resource(std::string_view resource);
    [[nodiscard]] std::uint32_t tell(std::string_view text);
    void put_command(record::kind what, std::uint64_t transfer, const transfer::command_span& seen);

    part& m_part;
    const monotonic_clock& m_clock;
    std::uint32_t m_number;
    std::byte* m_chunk = nullptr;
    std::size_t m_used = 0;
    bool m_full = false;
    std::uint32_t m_last_text = 0;
    std::map<std::string, std::uint32_t, std::less<>> m_texts;
    struct known_resource {
        const char* first = nullptr;
        std::uint32_t number = 0;
    };
    std::array<known_resource, 8> m_resources{};
};

} // namespace causeway::trace

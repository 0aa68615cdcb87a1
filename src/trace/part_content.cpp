// SPDX-License-Identifier: Apache-2.0
// Reads records, and numbers the texts of all recorders anew.
#include "trace/part_content.hpp"

#include "base/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace causeway::trace {

namespace {

class reader {
  public:
    explicit reader(part_content& into) : m_into(into) {}

    void chunk(std::string_view bytes) {
        record::chunk_header owner{};
        std::memcpy(&owner, bytes.data(), sizeof owner);
        m_texts = &m_texts_of[owner.recorder];
        bytes.remove_prefix(sizeof owner);
        while (bytes.size() >= sizeof(record::head)) {
            record::head head{};
            std::memcpy(&head, bytes.data(), sizeof head);
            bytes.remove_prefix(sizeof head);
            if (head.what == record::kind::none || head.bytes > bytes.size()) return;
            take(head.what, bytes.substr(0, head.bytes));
            bytes.remove_prefix(head.bytes);
        }
    }

  private:
    template <class Record> Record* add(std::vector<Record>& to, std::string_view bytes) {
        if (bytes.size() < sizeof(Record)) return nullptr;
        std::memcpy(&to.emplace_back(), bytes.data(), sizeof(Record));
        return &to.back();
    }

    void rename(std::uint32_t& number) const {
        const auto found = m_texts->find(number);
        number = found != m_texts->end() ? found->second : 0;
    }

    void take(record::kind what, std::string_view bytes) {
        switch (what) {
        case record::kind::none: break;
        case record::kind::text: take_text(bytes); break;
        case record::kind::block:
            if (auto* const told = add(m_into.blocks, bytes)) rename(told->resource);
            break;
        case record::kind::transfer:
            if (auto* const told = add(m_into.transfers, bytes))
                for (auto* const each : {&told->source, &told->target, &told->strategy, &told->error}) rename(*each);
            break;
        case record::kind::command: take_command(m_into.commands, bytes); break;
        case record::kind::wait_for_command: take_command(m_into.waits_for_commands, bytes); break;
        case record::kind::wait_for_transfer: (void)add(m_into.waits_for_transfers, bytes); break;
        case record::kind::command_wait: (void)add(m_into.command_waits, bytes); break;
        case record::kind::firing:
            if (auto* const told = add(m_into.firings, bytes))
                for (auto* const each : {&told->graph, &told->actor, &told->resource}) rename(*each);
            break;
        case record::kind::clock:
            if (auto* const told = add(m_into.clocks, bytes)) rename(told->resource);
            break;
        case record::kind::peer: (void)add(m_into.peers, bytes); break;
        case record::kind::level: (void)add(m_into.levels, bytes); break;
        case record::kind::call:
            if (auto* const told = add(m_into.calls, bytes))
                for (auto* const each : {&told->kind, &told->name}) rename(*each);
            break;
        }
    }

    void take_command(std::vector<record::command>& to, std::string_view bytes) {
        if (auto* const told = add(to, bytes))
            for (auto* const each : {&told->resource, &told->name}) rename(*each);
    }

    void take_text(std::string_view bytes) {
        record::text told{};
        if (bytes.size() < sizeof told) return;
        std::memcpy(&told, bytes.data(), sizeof told);
        (*m_texts)[told.number] = static_cast<std::uint32_t>(m_into.texts.size());
        m_into.texts.emplace_back(bytes.substr(sizeof told, told.length));
    }

    part_content& m_into;
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> m_texts_of; // by recorder
    std::map<std::uint32_t, std::uint32_t>* m_texts = nullptr;
};

/// Less at the end of the file, or where it cannot be read.
std::size_t read_at(int file, std::uint64_t offset, void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const auto now = ::pread(file, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) break;
        done += static_cast<std::size_t>(now);
    }
    return done;
}

/// Such numbers as a process can have written: those beyond would overflow in sums.
bool is_possible(const record::file_header& header) {
    constexpr int most_ranks = 1 << 24;
    constexpr std::int64_t latest = std::int64_t{1} << 61;
    const auto is_time = [](std::int64_t when) { return when >= 0 && when < latest; };
    return header.rank >= 0 && header.rank < most_ranks && header.ranks > 0 && header.ranks <= most_ranks &&
           header.process > 0 && header.process <= INT32_MAX && is_time(header.begun) &&
           is_time(header.begun_since_1970) && is_time(header.ended);
}

template <std::size_t Size> void end_text(char (&text)[Size]) { text[Size - 1] = '\0'; }

} // namespace

std::optional<record::file_header> read_header(int file) {
    record::file_header header{};
    if (read_at(file, 0, &header, sizeof header) != sizeof header ||
        std::memcmp(header.magic, record::magic, sizeof record::magic) != 0 || !is_possible(header))
        return std::nullopt;
    end_text(header.job);
    end_text(header.host);
    end_text(header.version);
    end_text(header.links);
    return header;
}

part_content read_part(int file, const std::string& path) {
    const auto header = read_header(file);
    if (!header)
        throw transfer_error(status::io_error, path + " cannot be read, or is no part of a timeline of this version");
    part_content read;
    read.header = *header;
    reader to(read);
    std::string bytes(record::chunk_bytes, '\0');
    for (auto at = std::uint64_t{record::header_bytes}; read_at(file, at, bytes.data(), bytes.size()) == bytes.size();
         at += bytes.size())
        to.chunk(bytes);
    return read;
}

} // namespace causeway::trace

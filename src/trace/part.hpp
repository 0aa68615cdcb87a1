// SPDX-License-Identifier: Apache-2.0
// The file in which one process records its part of a timeline.
#pragma once

#include "trace/record.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace causeway::trace {

/// Who records.
struct identity {
    int rank = 0, ranks = 1;
    std::uint64_t node = 0;
    std::string job, version;
    bool is_job_guessed = false; ///< no launcher told it; other ranks may have guessed another
};

/// The file is mapped, so that what was written survives any end of the process. It is locked as long as the process
/// lives. Any thread.
class part {
  public:
    /// Makes `timeline`.<host>.<process>.part, for its user alone, numbered if there is one already; throws
    /// transfer_error if it cannot. Takes at most `most_bytes`.
    part(const std::string& timeline, const identity& who, std::uint64_t most_bytes);
    ~part();
    part(const part&) = delete;
    part& operator=(const part&) = delete;

    /// A chunk for one recorder, zero but for its header; null when the file is full. The caller gives it back.
    [[nodiscard]] std::byte* take_chunk(std::uint32_t recorder);
    static void give_back(std::byte* chunk);
    [[nodiscard]] std::uint32_t next_recorder() { return ++m_recorders; }

    void set_rank(int rank, int ranks);
    /// Sets the text on direct links between devices: which kind, or why none. One thread at a time.
    void set_links(const std::string& links);
    /// Marks the part as ended: nothing more is recorded.
    void end();
    [[nodiscard]] const std::string& path() const { return m_path; }

  private:
    /// Creates and locks m_path. False with errno EEXIST if another process has it.
    [[nodiscard]] bool claim();

    std::string m_path;
    std::uint64_t m_most_bytes;
    int m_file = -1;
    record::file_header* m_header = nullptr;
    std::atomic<std::uint32_t> m_recorders{0};
    std::mutex m_mutex; // guards m_bytes
    std::uint64_t m_bytes = record::header_bytes;
};

} // namespace causeway::trace

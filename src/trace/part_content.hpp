// SPDX-License-Identifier: Apache-2.0
// A part of a timeline, read back.
#pragma once

#include "trace/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::trace {

/// A part's records, by kind. Text numbers in them are indices into `texts`, whose first is empty.
struct part_content {
    record::file_header header{};
    std::vector<std::string> texts{""};
    std::vector<record::block> blocks;
    std::vector<record::transfer> transfers;
    std::vector<record::command> commands;       ///< that were watched
    std::vector<record::command> waits_for_commands;
    std::vector<record::wait> waits_for_transfers;
    std::vector<record::command_wait> command_waits;
    std::vector<record::firing> firings;
    std::vector<record::clock> clocks;
    std::vector<record::peer> peers;
    std::vector<record::level> levels;
    std::vector<record::call> calls;

    [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts[number]; }
};

/// Nothing if `file` cannot be read or is no part of a timeline of this version.
[[nodiscard]] std::optional<record::file_header> read_header(int file);

/// Reads all complete records; throws transfer_error if `path` cannot be read or is no part of a timeline.
[[nodiscard]] part_content read_part(int file, const std::string& path);

} // namespace causeway::trace

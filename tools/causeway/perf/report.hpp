// SPDX-License-Identifier: Apache-2.0
// What was measured: as a table, as JSON and as a picture.
#pragma once

#include "perf/measurement.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace perf {

/// Names and values, in the order of printing.
using facts = std::vector<std::pair<std::string, std::string>>;

struct report {
    facts machine;
    std::vector<row> rows;
    std::vector<limit_part> parts;
    std::vector<std::string> notes; // what was left out, and why
};

void print_heading();
void print(const row& line);
void print(const facts& machine);
/// A line for each route: the library's own choice at its largest size, beside code by hand and the limit.
void print_summary(const report& all);
/// Of the table: limits with their parts, the library's own choices beside forced ones, and notes.
void print_end(const report& all);

/// Throws std::runtime_error if the file cannot be written.
void write_json(const report& all, const std::filesystem::path& file);

/// Throws usage_error if `picture` cannot be drawn here: the message names the package that is missing, or its suffix.
void check_plotting(const std::filesystem::path& picture);

/// Draws the figures of the files of write_json() into `picture` (.png, .svg or .pdf).
void plot(const std::vector<std::filesystem::path>& results, const std::filesystem::path& picture);

} // namespace perf

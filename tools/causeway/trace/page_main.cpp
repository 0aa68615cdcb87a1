// SPDX-License-Identifier: Apache-2.0
// Makes the page of a timeline, as `causeway trace view` does: for the demonstration, which builds no more than it
// needs.
#include "trace/page.hpp"

#include <cstdio>
#include <exception>
#include <limits>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: timeline_page TIMELINE PAGE\n");
        return 2;
    }
    try {
        trace::write_page(argv[1], argv[2], {0, std::numeric_limits<double>::infinity()});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "timeline_page: %s\n", error.what());
        return 1;
    }
    return 0;
}

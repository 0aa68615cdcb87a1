// SPDX-License-Identifier: Apache-2.0
// The stream that stands in for standard input.
#pragma once

#include <cstdio>

namespace causeway_run {

/// Whether stdin is a stream of ours, and `of` is that one.
[[nodiscard]] bool is_replaced_stdin(const std::FILE* of);
/// The C library's own stream, which is stdin again from now on.
[[nodiscard]] std::FILE* give_stdin_back();

} // namespace causeway_run

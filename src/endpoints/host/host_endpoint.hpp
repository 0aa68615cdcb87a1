// SPDX-License-Identifier: Apache-2.0
// A range of the program's own memory as an endpoint.
#pragma once

#include "transfer/endpoint.hpp"

#include <memory>

namespace causeway::endpoints {

/// The memory from `first` on, which must stay valid until the transfer is complete. A source is only read.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_host_endpoint(std::byte* first);

/// A source or target without bytes, for commands that only wait. `name` is for error texts, and a literal.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_empty_endpoint(const char* name);

} // namespace causeway::endpoints

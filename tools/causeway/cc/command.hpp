// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cc {

/// True if the words are `causeway cc …`: they are a compiler's, and nobody here reads them.
bool is_asked(int argc, char** argv);
/// Goes on as causeway-cc. Returns only if that is not there: an exit status, after a message.
int become_compiler(int argc, char** argv);

} // namespace cc

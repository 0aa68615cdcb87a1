// SPDX-License-Identifier: Apache-2.0
// The subcommand `cc`: the directive compiler, causeway-cc.
#pragma once

namespace cc {

/// True for `causeway cc …`, whose arguments are the compiler's and are not parsed here.
bool is_asked(int argc, char** argv);
/// Replaces this process by causeway-cc (exec). Returns only if that fails: an exit status, after a message.
int become_compiler(int argc, char** argv);

} // namespace cc

// SPDX-License-Identifier: Apache-2.0
// What the end of MPI has to know of the platform of a cluster.
#pragma once

namespace causeway::capi {

/// Ends the messages of the platform's ranks, if there are any, while the engine still takes transfers. Once.
void end_messages();

} // namespace causeway::capi

// SPDX-License-Identifier: Apache-2.0
// OpenACC's internal control variables; each host thread has its own.
#pragma once

namespace causeway::acc {

struct selection {
    bool host = false;
    int number = 0;
    long default_queue = 0; // of `async` without a number
};
selection& selected();

} // namespace causeway::acc

// SPDX-License-Identifier: Apache-2.0
// OpenACC's internal control variables, of each host thread.
#pragma once

namespace causeway::acc {

struct selection {
    bool host = false;
    int number = 0;
    long default_queue = -1; // acc_async_noval
};
selection& selected();

} // namespace causeway::acc

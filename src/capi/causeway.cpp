// SPDX-License-Identifier: Apache-2.0
// Version, options and the last error.
#include "capi/guard.hpp"
#include "capi/runtime.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstring>

using namespace causeway;
using namespace causeway::capi;

const char* causeway_version(void) { return CAUSEWAY_VERSION; }

int causeway_option_set(const char* name, const char* value) {
    const int code = guard([&] {
        if (name == nullptr || value == nullptr)
            throw transfer_error(status::invalid_value, "the option's name or value is null");
        process_options().set(name, value);
        return 0;
    });
    return code == 0 ? 0 : -1;
}

int causeway_option_get(const char* name, char* value, size_t size) {
    int length = -1;
    (void)guard([&] {
        const auto text = name != nullptr ? process_options().get(name) : std::nullopt;
        if (!text)
            throw transfer_error(status::invalid_value,
                                 std::string("no option is called '") + (name != nullptr ? name : "") + "'");
        length = static_cast<int>(text->size());
        if (value != nullptr && size > 0) {
            const auto copied = std::min(size - 1, text->size());
            std::memcpy(value, text->data(), copied);
            value[copied] = '\0';
        }
        return 0;
    });
    return length;
}

const char* causeway_error_last_message(void) { return last_message().c_str(); }

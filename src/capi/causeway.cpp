// SPDX-License-Identifier: Apache-2.0
// Version, options and the last error.
#include "runtime/guard.hpp"
#include "runtime/runtime.hpp"

#include <causeway/causeway.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

using namespace causeway;
using namespace causeway::core;

namespace {

std::string described(const options& settings) {
    static constexpr std::array origins = {"default", "environment", "program"};
    const options untouched;
    auto all = nlohmann::json::array();
    std::size_t index = 0;
    for (const auto& row : option_table()) {
        std::string variable = "CAUSEWAY_" + std::string(row.name);
        std::transform(variable.begin(), variable.end(), variable.begin(),
                       [](unsigned char letter) { return std::toupper(letter); });
        const auto from = static_cast<std::size_t>(settings.origin_of(static_cast<option>(index++)));
        all.push_back({{"name", row.name},
                       {"environment", variable},
                       {"value", *settings.get(row.name)},
                       {"default", *untouched.get(row.name)},
                       {"values", row.unit},
                       {"description", description_of(row)},
                       {"from", origins[from]}});
    }
    // Names of files need not be text of any kind.
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

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
        length = static_cast<int>(give_text(*text, value, size));
        return 0;
    });
    return length;
}

long causeway_options(char* text, size_t size) {
    long length = -1;
    (void)guard([&] {
        length = give_text(described(process_options()), text, size);
        return 0;
    });
    return length;
}

const char* causeway_error_last_message(void) { return last_message().c_str(); }

// SPDX-License-Identifier: Apache-2.0
#include "acc/offered.hpp"

#include "acc/failure.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace causeway::acc {
namespace {

struct registry {
    std::mutex mutex; // guards all
    std::map<std::string, causeway_acc_routine*> all;
};

/// Never destroyed: programs may end in the middle of a region.
registry& routines() {
    static auto& one = *new registry;
    return one;
}

/// As the program spells it: a kernel's name for it says where its pointers point to, too.
std::string name_in_source(const std::string& name) {
    constexpr std::string_view prefix = "acc_call_";
    const auto plain = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    const auto ways = plain.rfind('_');
    const bool has_ways = ways != std::string::npos && plain.find_first_not_of("gp", ways + 1) == std::string::npos;
    return has_ways ? plain.substr(0, ways) : plain;
}

} // namespace

std::vector<causeway_acc_routine*> offered(const causeway_acc_program& to) {
    auto& known = routines();
    const std::lock_guard lock(known.mutex);
    std::vector<causeway_acc_routine*> all;
    const auto add = [&](const causeway_acc_program& program) {
        for (const auto* name = program.needed; name && *name; ++name) {
            const auto found = known.all.find(*name);
            if (found == known.all.end())
                fail_here("no source of the program offers the routine " + quoted(name_in_source(*name).c_str()) +
                          " to such a call: its source has to be compiled by causeway-cc, with '#pragma acc routine'");
            if (!found->second->program.source)
                fail_here("a kernel calls the routine " + quoted(name_in_source(*name).c_str()) + ": " +
                          found->second->why);
            if (std::find(all.begin(), all.end(), found->second) == all.end()) all.push_back(found->second);
        }
    };
    add(to);
    for (std::size_t each = 0; each < all.size(); ++each) add(all[each]->program);
    return all;
}

} // namespace causeway::acc

using namespace causeway::acc;

void causeway_acc_offer_routine(const causeway_acc_location* location, causeway_acc_routine* routine) {
    const scope here(location);
    auto& known = routines();
    const std::lock_guard lock(known.mutex);
    known.all.emplace(routine->name, routine);
}

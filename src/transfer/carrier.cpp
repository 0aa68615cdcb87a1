// SPDX-License-Identifier: Apache-2.0
// The carriers that there are.
#include "transfer/carrier.hpp"

namespace causeway::transfer {

std::span<const make_carrier> standard_carriers() {
    static constexpr make_carrier all[] = {make_direct_carrier, make_in_place_carrier, make_lent_carrier};
    return all;
}

} // namespace causeway::transfer

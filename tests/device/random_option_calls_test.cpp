// SPDX-License-Identifier: Apache-2.0
// Calls about options and about transfers with arguments by chance, most of them wrong: what is refused changes nothing
// and has a text, what is taken is what is there afterwards, nothing is written behind the room that a call is given,
// and transfers move the right bytes whatever the options say. CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a run.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"
#include "support/random_arguments.hpp"

#include <causeway/causeway.h>

#include <fcntl.h>

#include <cstring>
#include <map>

using namespace support;

namespace {

enum class kinds { choice, on_off, bytes, count, text };
struct row {
    std::string name;
    kinds kind;
    unsigned __int128 minimum, maximum;
    std::string unit;
    bool is_programs;
};
const std::vector<row>& rows() {
    constexpr bool library = true, platform = false;
    using enum kinds;
    static const std::vector<row> all{
#define CAUSEWAY_OPTION(name, kind, value, minimum, maximum, unit, reader, sentence)                                   \
    {#name, kind, minimum, maximum, unit, reader},
#include "base/options.def"
#undef CAUSEWAY_OPTION
    };
    return all;
}

/// What the pages promise of a value.
bool is_value(const row& of, const std::string& text) {
    if (of.kind == kinds::text) return true;
    if (of.kind == kinds::on_off && (text == "0" || text == "1")) return true;
    if (of.kind == kinds::choice || of.kind == kinds::on_off)
        return !text.empty() && text.find('|') == std::string::npos &&
               ("|" + of.unit + "|").find("|" + text + "|") != std::string::npos;
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || text.empty()) return false;
    unsigned __int128 value = 0;
    for (std::size_t i = 0; i < std::min(digits, text.size()); ++i)
        if (value < static_cast<unsigned __int128>(1) << 100) value = value * 10 + static_cast<unsigned>(text[i] - '0');
    if (digits != std::string::npos) {
        const auto suffix = std::string("KMGkmg").find(text.substr(digits));
        if (of.kind != kinds::bytes || digits + 1 != text.size() || suffix == std::string::npos) return false;
        value <<= 10 * (suffix % 3 + 1);
    }
    return of.minimum <= value && value <= of.maximum;
}

class random_option_calls : public device_test, protected random_numbers {
  protected:
    random_option_calls() {
        const auto seed = number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, 4096);
        RecordProperty("seed", std::to_string(seed));
        for (const auto& each : rows()) m_before[each.name] = value_of(each.name);
    }
    ~random_option_calls() override {
        for (const auto& each : rows())
            if (each.is_programs) causeway_option_set(each.name.c_str(), m_before[each.name].c_str());
    }
    static std::uint64_t calls() { return number_of("CAUSEWAY_TEST_CALLS", 1000); }

    static std::string value_of(const std::string& name) {
        std::string value(1 << 17, '\0');
        const int length = causeway_option_get(name.c_str(), value.data(), value.size());
        EXPECT_GE(length, 0) << name;
        value.resize(static_cast<std::size_t>(std::max(length, 0)));
        return value;
    }

    std::string any_text() {
        std::string made;
        switch (below(8)) {
        case 0: return "";
        case 1: return std::string(below(3) == 0 ? 70000 : 300, static_cast<char>('a' + below(26)));
        case 2:
            for (auto i = below(40); i-- != 0;) made += static_cast<char>(1 + below(255));
            return made;
        default: {
            const auto& of = rows()[below(rows().size())];
            auto word = one_of(2) ? of.name : of.unit.substr(0, of.unit.find('|'));
            if (one_of(2) && !word.empty()) word[below(word.size())] = static_cast<char>(1 + below(255));
            return word;
        }
        }
    }
    std::string any_value(const row& of) {
        if (of.kind == kinds::choice || of.kind == kinds::on_off) {
            if (one_of(3)) return one_of(2) ? of.unit : std::to_string(below(4));
            auto at = below(of.unit.size());
            at = of.unit.rfind('|', at) == std::string::npos ? 0 : of.unit.rfind('|', at) + 1;
            return of.unit.substr(at, of.unit.find('|', at) - at);
        }
        const auto edge = [&](unsigned __int128 limit) {
            return std::to_string(static_cast<std::uint64_t>(limit) + below(3) - 1);
        };
        auto made = one_of(3) ? edge(of.maximum) : one_of(3) ? edge(of.minimum) : std::to_string(number());
        if (one_of(3)) made += "KMGkmgTQ +-\n"[below(12)];
        if (one_of(24)) made = "0" + made + made;
        return made;
    }

    /// Room of `size` bytes at the end of which is nobody's page.
    char* room_of(std::size_t size) {
        auto* const room = reinterpret_cast<char*>(m_memory.last(size));
        if (size != 0) std::memset(room, 0x5a, size);
        return room;
    }

    std::map<std::string, std::string> m_before;
    guarded_memory m_memory{1 << 16};
};

INSTANTIATE_TEST_SUITE_P(devices, random_option_calls, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(random_option_calls, set_what_they_say_or_nothing) {
    std::uint64_t taken = 0;
    const auto contents = pattern(5000, 3);
    const auto buffer = new_buffer(contents);
    const temporary_folder folder;
    const auto file = open_descriptor(folder.path("file"), O_RDWR | O_CREAT);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        const auto& of = rows()[below(rows().size())];
        const auto name = one_of(6) ? any_text() : of.name;
        const auto value = one_of(6) ? any_text() : any_value(of);
        const auto found = std::find_if(rows().begin(), rows().end(),
                                        [&](const row& each) { return each.name == name; });
        const bool is_right = found != rows().end() && found->is_programs && is_value(*found, value);
        const auto before = found == rows().end() ? "" : value_of(name);
        SCOPED_TRACE("call " + std::to_string(i) + ", " + name.substr(0, 100) + "=" + value.substr(0, 100));
        ASSERT_EQ(causeway_option_set(name.c_str(), value.c_str()), is_right ? 0 : -1) << causeway_error_last_message();
        taken += is_right;
        if (!is_right) {
            ASSERT_STRNE(causeway_error_last_message(), "");
            ASSERT_TRUE(found == rows().end() || value_of(name) == before);
        } else if (found->kind == kinds::text || found->kind == kinds::choice) {
            ASSERT_EQ(value_of(name), value);
        } else if (found->kind == kinds::bytes || found->kind == kinds::count) {
            const auto now = value_of(name); // in bytes, and taken again for the same
            ASSERT_EQ(now.find_first_not_of("0123456789"), std::string::npos);
            ASSERT_TRUE(is_value(*found, now));
            ASSERT_EQ(causeway_option_set(name.c_str(), now.c_str()), 0);
            ASSERT_EQ(value_of(name), now);
        }
        if (one_of(4)) {
            const auto size = one_of(2) ? below(80) : below(60000);
            auto* const room = one_of(12) ? nullptr : room_of(size);
            const bool is_one = one_of(2);
            const long length = is_one ? causeway_option_get(name.c_str(), room, room == nullptr ? 0 : size)
                                       : causeway_options(room, room == nullptr ? 0 : size);
            ASSERT_EQ(length >= 0, !is_one || found != rows().end());
            if (length >= 0 && room != nullptr && size != 0) {
                ASSERT_EQ(std::strlen(room), std::min<std::size_t>(size - 1, static_cast<std::size_t>(length)));
            }
        }
        if (one_of(50)) {
            // What these begin would outlast the test.
            for (const auto& [quiet, off] : {std::pair("trace", ""), std::pair("explain", "off")})
                ASSERT_EQ(causeway_option_set(quiet, off), 0);
            const auto size = below(contents.size());
            ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, size, file.get(), 0)));
            bytes there(size);
            ASSERT_EQ(::pread(file.get(), there.data(), size, 0), static_cast<ssize_t>(size));
            ASSERT_TRUE(std::equal(there.begin(), there.end(), contents.begin()));
        }
    }
    EXPECT_GT(taken, calls() / 20);
    EXPECT_EQ(causeway_option_set(nullptr, "1"), -1);
    EXPECT_EQ(causeway_option_set("depth", nullptr), -1);
}

TEST_P(random_option_calls, about_transfers_write_into_their_room_alone) {
    const auto buffer = new_buffer(bytes(1000));
    const temporary_folder folder;
    const auto file = open_descriptor(folder.path("file"), O_RDWR | O_CREAT);
    const auto over = read_buffer_to(queue(), buffer.get(), 0, 1000, file.get(), 0);
    ASSERT_TRUE(completes(over));
    const auto failed = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get(), 500);
    ASSERT_TRUE(fails_with(failed, CL_TRANSFER_END_OF_FILE));
    const gate start(context());
    const auto waiting = read_buffer_to(queue(), buffer.get(), 0, 1000, file.get(), 0, {start.event()});
    const std::array<cl_event, 5> events{over.get(), failed.get(), waiting.get(), start.event(), nullptr};
    for (std::uint64_t i = 0; i < calls(); ++i) {
        const auto which = below(events.size());
        const auto name = one_of(6) ? static_cast<cl_transfer_info>(number())
                                    : CL_TRANSFER_STATUS - 1 + static_cast<cl_transfer_info>(below(24));
        const auto size = one_of(6) ? number() : below(200);
        const bool has_room = !one_of(6), wants_size = !one_of(3);
        SCOPED_TRACE("call " + std::to_string(i) + ", event " + std::to_string(which) + ", " + std::to_string(name) +
                     ", size " + std::to_string(size));
        const auto offered = std::min<std::size_t>(size, 1 << 16);
        auto* const room = has_room ? room_of(offered) : nullptr;
        constexpr std::size_t untouched = 77777;
        std::size_t needed = untouched;
        const auto code = clGetTransferInfo(events[which], name, has_room ? offered : size, room,
                                            wants_size ? &needed : nullptr);
        if (which >= 3) {
            ASSERT_EQ(code, CL_INVALID_EVENT);
        } else if (code == CL_SUCCESS) {
            ASSERT_GE(name, CL_TRANSFER_STATUS);
            ASSERT_LE(name, CL_TRANSFER_TIME_ENDED);
            if (wants_size) {
                ASSERT_NE(needed, untouched);
                ASSERT_TRUE(!has_room || needed <= offered);
                if (has_room) {
                    ASSERT_TRUE(std::all_of(room + needed, room + offered, [](char each) { return each == 0x5a; }));
                }
            }
        } else {
            ASSERT_EQ(code, CL_INVALID_VALUE);
            ASSERT_STRNE(causeway_error_last_message(), "");
            if (has_room) {
                ASSERT_TRUE(std::all_of(room, room + offered, [](char each) { return each == 0x5a; }));
            }
            if (name >= CL_TRANSFER_STATUS && name <= CL_TRANSFER_TIME_ENDED) {
                ASSERT_TRUE(has_room);
            }
        }
        if (one_of(8)) {
            ASSERT_EQ(clSetTransferCallback(events[which], nullptr, nullptr), CL_INVALID_VALUE);
        }
        if (one_of(8) && which != 2) {
            ASSERT_EQ(clCancelTransfer(events[which]), which >= 3 ? CL_INVALID_EVENT : CL_INVALID_OPERATION);
        }
    }
    ASSERT_EQ(clCancelTransfer(waiting.get()), CL_SUCCESS);
    ASSERT_TRUE(fails_with(waiting, CL_TRANSFER_CANCELLED));
}

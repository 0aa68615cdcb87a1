// SPDX-License-Identifier: Apache-2.0
// Figures outlive the process; a file that is damaged, foreign or not ours does no harm.
#include "transfer/tuner/figures_file.hpp"
#include "support/cases.hpp"
#include "unit/stranger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

using namespace causeway;
using namespace causeway::transfer;
using testing::HasSubstr;

namespace {

constexpr std::int64_t now = 2'000'000'000;
constexpr std::int64_t day = 24 * 3600;

class figures : public testing::Test {
  protected:
    figures() {
        std::string name = (std::filesystem::temp_directory_path() / "causeway-figures-XXXXXX").string();
        folder = mkdtemp(name.data());
        path = folder / "causeway" / "tuner.json";
    }
    ~figures() override {
        std::error_code ignored;
        std::filesystem::permissions(folder / "causeway", std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(folder, ignored);
    }
    void write(const std::string& text) const {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    [[nodiscard]] std::string text() const {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] figures_file file() const { return figures_file(path.string()); }

    static known_stage stage(const std::string& resource, operation what, double latency, std::int64_t seen = now) {
        return {resource, what, stage_model::line(latency, 5e9, 12e9), seen};
    }
    std::filesystem::path folder, path;
};

class environment {
  public:
    environment(const char* name, const char* value) : m_name(name) {
        if (const char* const old = std::getenv(name)) m_old = old;
        value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    ~environment() { m_old.empty() ? ::unsetenv(m_name) : ::setenv(m_name, m_old.c_str(), 1); }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;

  private:
    const char* m_name;
    std::string m_old;
};

} // namespace

TEST_F(figures, come_back_as_they_were_kept) {
    std::string problem;
    EXPECT_TRUE(file().load(now, problem).empty());
    const auto odd = stage("a \"device\"\n\xff", operation::copy_in, 1e-5);
    EXPECT_EQ(file().save({odd, stage("disk", operation::read, 2e-5)}, now), "");
    const auto found = file().load(now, problem);
    EXPECT_EQ(problem, "");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].resource, "disk");
    EXPECT_EQ(found[1].what, operation::read);
    EXPECT_EQ(found[1].model.seconds_at, stage_model::line(2e-5, 5e9, 12e9).seconds_at);
    EXPECT_EQ(found[1].model.ceiling, 12e9);
    EXPECT_EQ(found[1].seen, now);
}

TEST_F(figures, are_for_their_user_alone) {
    ASSERT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
    struct stat facts{};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat(path.parent_path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(figures, of_several_processes_are_merged_the_younger_ones_winning) {
    ASSERT_EQ(file().save({stage("one", operation::read, 1), stage("both", operation::read, 1, now - 10)}, now), "");
    ASSERT_EQ(file().save({stage("other", operation::read, 2), stage("both", operation::read, 2, now - 20)}, now), "");
    std::string problem;
    const auto found = file().load(now, problem);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].resource, "both");
    EXPECT_NEAR(found[0].model.latency(), 1, 0.1);
}

TEST_F(figures, that_are_old_are_measured_anew) {
    const auto old = stage("old", operation::read, 1, now), fresh = stage("new", operation::read, 1, now + 2 * day);
    ASSERT_EQ(file().save({old, fresh}, now + 2 * day), "");
    std::string problem;
    const auto found = file().load(now + 31 * day, problem);
    EXPECT_EQ(problem, "");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].resource, "new");
    ASSERT_EQ(file().save({}, now + 31 * day), "");
    EXPECT_EQ(text().find("old"), std::string::npos);
    // A clock that was wrong then, or is now.
    EXPECT_TRUE(file().load(now - 31 * day, problem).empty());
}

TEST_F(figures, of_a_damaged_file_are_ignored_and_the_file_is_replaced) {
    ASSERT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
    const auto good = text();
    std::vector<std::string> damaged = {"",
                                        "{",
                                        "[]",
                                        "null",
                                        "\xff garbage",
                                        R"({"version":3})",
                                        R"({"version":"1","stages":[]})",
                                        R"({"version":3,"stages":{}})",
                                        R"({"version":3,"stages":[{}]})",
                                        std::string(2u << 20, ' '),
                                        R"({"version":3,"stages":[)" + std::string(200000, '[')};
    for (std::size_t cut = 1; cut + 2 < good.size(); cut += 7) damaged.push_back(good.substr(0, cut));
    for (const char* const seconds :
         {"[]", "1", "[1,2,3,4,5,6]", "[1,2,3,4,5,6,7,8]", "[2,1,3,4,5,6,7]", "[0,1,2,3,4,5,6]"}) {
        auto text = good;
        const std::string field = "\"seconds\": ";
        const auto at = text.find(field), end = text.find(']', at);
        damaged.push_back(text.replace(at + field.size(), end + 1 - at - field.size(), seconds));
    }
    for (const char* const wrong : {"-1.0", "0", "1e999", "\"1\"", "null"}) {
        auto text = good;
        const std::string field = "\"bytes_per_second_at_once\": ";
        const auto at = text.find(field);
        ASSERT_NE(at, std::string::npos);
        damaged.push_back(text.insert(at + field.size(), std::string(wrong) + ", \"unused\": "));
    }
    for (const auto& each : damaged) {
        write(each);
        std::string problem;
        EXPECT_TRUE(file().load(now, problem).empty()) << each.substr(0, 100);
        EXPECT_THAT(problem, HasSubstr("damaged")) << each.substr(0, 100);
        EXPECT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
        EXPECT_EQ(text(), good);
    }
}

TEST_F(figures, of_a_file_that_was_changed_by_chance_make_sense_or_are_ignored) {
    ASSERT_EQ(file().save({stage("disk", operation::read, 1), stage("net", operation::copy_in, 2)}, now), "");
    const auto good = text();
    const std::vector<std::string> pieces{
        "1e999",       "-1",   "NaN",   "18446744073709551615", "9223372036854775807",
        "\"\\u0000\"", "null", "[[[[[", "{\"version\":3,",      "\xff\xfe\xfd",
        "1e-320",      "0.0",  "true",  std::string(5000, '9'), std::string(600, 'p')};
    for (unsigned seed = 0; seed < support::cases(3000); ++seed) {
        std::mt19937 chance(seed);
        const auto below = [&](std::size_t limit) { return chance() % limit; };
        auto changed = good;
        for (auto left = 1 + below(4); left > 0; --left) {
            const auto at = below(changed.size() + 1), span = below(12);
            switch (below(5)) {
            case 0: changed.insert(at, pieces[below(pieces.size())]); break;
            case 1: changed.replace(at, span, pieces[below(pieces.size())]); break;
            case 2: changed.erase(at, span); break;
            case 3: changed.resize(at); break;
            default:
                for (std::size_t k = 0; k < span && at + k < changed.size(); ++k)
                    changed[at + k] = static_cast<char>(below(256));
            }
        }
        write(changed);
        std::string problem;
        for (const auto& each : file().load(now, problem)) {
            ASSERT_TRUE(!each.resource.empty() && each.resource.size() <= 512) << seed;
            double before = 0;
            for (const auto seconds : each.model.seconds_at) {
                ASSERT_TRUE(std::isfinite(seconds) && seconds > 0 && seconds >= before) << seed;
                before = seconds;
            }
            ASSERT_TRUE(std::isfinite(each.model.gap) && each.model.gap > 0 && each.model.ceiling > 0) << seed;
        }
        // And what is known is kept, but beside the figures of a later version, which stay.
        const auto kept = file().save({stage("own", operation::write, 1)}, now);
        if (kept.find("stays as it is") != std::string::npos) continue;
        ASSERT_EQ(kept, "") << seed;
        const auto found = file().load(now, problem = "");
        ASSERT_EQ(problem, "") << seed;
        ASSERT_TRUE(std::ranges::any_of(found, [](const auto& each) { return each.resource == "own"; })) << seed;
    }
}

TEST_F(figures, of_many_long_names_can_be_read_again) {
    std::vector<known_stage> most;
    for (int i = 0; i < 1024; ++i)
        most.push_back(stage(std::to_string(i) + std::string(500, '\x01'), operation::read, 1.0 / 3, now));
    ASSERT_EQ(file().save(most, now), "");
    std::string problem;
    EXPECT_FALSE(file().load(now, problem).empty());
    EXPECT_EQ(problem, "");
}

TEST_F(figures, are_not_believed_where_others_or_nobody_wrote_them) {
    const std::string good = "{\"version\": 3, \"stages\": []}";
    std::string problem;
    // A gigabyte of nothing, of which only the beginning is read.
    write("");
    ASSERT_EQ(::truncate(path.c_str(), 1 << 30), 0);
    EXPECT_TRUE(file().load(now, problem).empty());
    EXPECT_THAT(problem, HasSubstr("damaged"));
    EXPECT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
    EXPECT_LT(std::filesystem::file_size(path), 10000u);
    // Links that lead nowhere, in a circle and to what never ends.
    for (const char* const to : {"nowhere", "tuner.json", "/dev/zero"}) {
        std::filesystem::remove(path);
        std::filesystem::create_symlink(to, path);
        problem = "";
        EXPECT_TRUE(file().load(now, problem).empty()) << to;
        EXPECT_EQ(file().save({stage("disk", operation::read, 1)}, now), "") << to;
        EXPECT_EQ(file().load(now, problem = "").size(), 1u) << to;
    }
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can give a file away";
    for (const bool is_link : {false, true}) {
        const auto his = folder / "his.json";
        std::ofstream(his) << good;
        ASSERT_EQ(::chown(his.c_str(), unit::stranger::user, unit::stranger::user), 0);
        std::filesystem::remove(path);
        is_link ? std::filesystem::create_symlink(his, path) : std::filesystem::rename(his, path);
        EXPECT_TRUE(file().load(now, problem = "").empty());
        EXPECT_THAT(problem, HasSubstr("another user"));
        EXPECT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
        EXPECT_EQ(file().load(now, problem = "").size(), 1u);
    }
}

TEST_F(figures, of_a_later_version_are_ignored_and_stay) {
    const std::string foreign = "{\"version\": 4, \"stages\": []}";
    write(foreign);
    std::string problem;
    EXPECT_TRUE(file().load(now, problem).empty());
    EXPECT_THAT(problem, HasSubstr("version 4"));
    EXPECT_THAT(file().save({stage("disk", operation::read, 1)}, now), HasSubstr("version 4"));
    EXPECT_EQ(text(), foreign);
}

TEST_F(figures, of_an_earlier_version_are_replaced) {
    write(R"({"version": 1, "stages": []})");
    std::string problem;
    EXPECT_TRUE(file().load(now, problem).empty());
    EXPECT_EQ(problem, "");
    EXPECT_EQ(file().save({stage("disk", operation::read, 1)}, now), "");
    EXPECT_EQ(file().load(now, problem).size(), 1u);
}

TEST_F(figures, of_machines_that_share_a_home_do_not_mix) {
    const figures_file one(path.string(), "1"), other(path.string(), "2");
    ASSERT_EQ(one.save({stage("file system nfs 0:42", operation::read, 1)}, now), "");
    ASSERT_EQ(other.save({stage("file system nfs 0:42", operation::read, 2)}, now), "");
    std::string problem;
    ASSERT_EQ(one.load(now, problem).size(), 1u);
    EXPECT_NEAR(one.load(now, problem)[0].model.latency(), 1, 0.1) << "kept, and not the other's";
    EXPECT_EQ(machine_digits().size(), 8u);
}

TEST_F(figures, of_many_machines_leave_room_for_the_youngest) {
    const int machines = 1100;
    for (int i = 0; i < machines; i += 100) {
        std::vector<known_stage> some;
        for (int k = 0; k < 100; ++k) some.push_back(stage("place " + std::to_string(k), operation::read, 1, now + i));
        ASSERT_EQ(figures_file(path.string(), std::to_string(i)).save(some, now + i), "");
    }
    std::string problem;
    EXPECT_EQ(figures_file(path.string(), "1000").load(now + machines, problem).size(), 100u);
    EXPECT_LT(figures_file(path.string(), "0").load(now + machines, problem).size(), 100u);
    EXPECT_EQ(problem, "");
}

TEST_F(figures, of_root_leave_nothing_in_the_home_of_somebody_else) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can write there";
    const auto home = folder / "home";
    std::filesystem::create_directory(home);
    ASSERT_EQ(::chown(home.c_str(), 4711, 4711), 0);
    const figures_file his((home / ".cache" / "causeway" / "tuner.json").string());
    EXPECT_THAT(his.save({stage("disk", operation::read, 1)}, now), HasSubstr("belongs to another user"));
    EXPECT_TRUE(std::filesystem::is_empty(home));
}

TEST_F(figures, are_not_read_from_what_is_no_file) {
    std::filesystem::create_directories(path);
    std::string problem;
    EXPECT_TRUE(file().load(now, problem).empty());
    EXPECT_NE(problem, "");
    EXPECT_NE(file().save({stage("disk", operation::read, 1)}, now), "");
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(file().load(now, problem).empty());
    EXPECT_THAT(problem, HasSubstr("no regular file"));
}

TEST_F(figures, that_cannot_be_written_leave_nothing_behind) {
    write("{\"version\":2,\"stages\":[]}");
    using std::filesystem::perms;
    std::filesystem::permissions(path.parent_path(), perms::owner_read | perms::owner_exec);
    const auto problem = file().save({stage("disk", operation::read, 1)}, now);
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms::owner_all);
    EXPECT_THAT(problem, HasSubstr(::geteuid() != 0 ? "Permission denied" : ""));
    const auto files = std::filesystem::directory_iterator(path.parent_path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    // Whoever is root writes anywhere, but not below a file.
    const figures_file impossible((path / "causeway" / "tuner.json").string());
    EXPECT_NE(impossible.save({stage("disk", operation::read, 1)}, now), "");
}

TEST_F(figures, are_whole_whoever_writes_them_at_the_same_time) {
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer)
        writers.emplace_back([this, writer] {
            for (int i = 0; i < 50; ++i) {
                const auto own = stage("place " + std::to_string(writer), operation::read, i + 1, now + i);
                EXPECT_EQ(file().save({own}, now), "");
                std::string problem;
                EXPECT_FALSE(file().load(now, problem).empty());
                EXPECT_EQ(problem, "");
            }
        });
    for (auto& each : writers) each.join();
    const auto files = std::filesystem::directory_iterator(path.parent_path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(figures, lie_where_the_user_keeps_such_things) {
    const environment home("HOME", "/home/somebody");
    {
        const environment cache("XDG_CACHE_HOME", "/cache");
        EXPECT_EQ(figures_file::of_user().path(), "/cache/causeway/tuner.json");
    }
    {
        const environment cache("XDG_CACHE_HOME", "not/absolute");
        EXPECT_EQ(figures_file::of_user().path(), "/home/somebody/.cache/causeway/tuner.json");
    }
    const environment cache("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(figures_file::of_user().path(), "/home/somebody/.cache/causeway/tuner.json");
    const environment nowhere("HOME", nullptr);
    EXPECT_EQ(figures_file::of_user().path(), "");
    std::string problem;
    EXPECT_TRUE(figures_file::of_user().load(now, problem).empty());
    EXPECT_EQ(figures_file::of_user().save({stage("disk", operation::read, 1)}, now), "");
    EXPECT_EQ(problem, "");
}

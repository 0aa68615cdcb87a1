// SPDX-License-Identifier: Apache-2.0
// Files read and written whole, and which descriptor that takes where the standard ones are closed.
#include "base/whole_file.hpp"

#include "support/standard_descriptors.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

using namespace causeway;
namespace fs = std::filesystem;

namespace {

class whole_file : public testing::Test {
  protected:
    whole_file() {
        std::string name = (fs::temp_directory_path() / "causeway-test.XXXXXX").string();
        m_folder = ::mkdtemp(name.data()) != nullptr ? name : std::string();
    }
    ~whole_file() override {
        std::error_code ignored;
        fs::remove_all(m_folder, ignored);
    }
    [[nodiscard]] fs::path path(const char* name) const { return m_folder / name; }

    [[nodiscard]] fs::path new_pipe() const {
        EXPECT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
        return path("pipe");
    }

  private:
    fs::path m_folder;
};

/// A number that no closed descriptor of 0 to 2 gives.
int opened_high(const fs::path& file, int flags) {
    const int number = ::open(file.c_str(), flags | O_CLOEXEC);
    const int high = ::fcntl(number, F_DUPFD_CLOEXEC, 100);
    ::close(number);
    return high;
}

} // namespace

TEST_F(whole_file, is_read_as_it_was_written) {
    for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 1'000'000U}) {
        std::string text(size, '\0');
        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7);
        ASSERT_TRUE(write_file(path("file"), text));
        EXPECT_EQ(read_file(path("file")), text);
    }
}

TEST_F(whole_file, tells_its_first_line) {
    ASSERT_TRUE(write_file(path("file"), "one\ntwo\n"));
    EXPECT_EQ(first_line_of(path("file")), "one");
    ASSERT_TRUE(write_file(path("file"), "no end of a line"));
    EXPECT_EQ(first_line_of(path("file")), "no end of a line");
    EXPECT_EQ(first_line_of(path("missing")), "");
}

TEST_F(whole_file, that_cannot_be_opened_leaves_the_reason) {
    errno = 0;
    EXPECT_FALSE(read_file(path("missing")));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(write_file(path("missing") / "file", "text"));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(read_file(path(""))); // a folder
    EXPECT_EQ(errno, EISDIR);
    EXPECT_FALSE(write_file("/dev/full", "text"));
    EXPECT_EQ(errno, ENOSPC);
}

TEST_F(whole_file, of_the_kernel_is_read_though_it_tells_no_size) {
    EXPECT_FALSE(read_file("/proc/self/mountinfo").value_or("").empty());
}

TEST_F(whole_file, of_a_folder_are_found_but_the_folder_itself) {
    ASSERT_TRUE(write_file(path("one"), ""));
    ASSERT_TRUE(write_file(path("two"), ""));
    auto found = files_in(path(""));
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector{path("one"), path("two")}));
    EXPECT_TRUE(files_in(path("missing")).empty());
}

TEST_F(whole_file, is_read_by_no_standard_descriptor) {
    const auto pipe = new_pipe();
    std::string read;
    bool are_free = false;
    {
        const support::without_standard_descriptors closed;
        std::thread reader([&] { read = read_file(pipe).value_or("nothing"); });
        const int to = opened_high(pipe, O_WRONLY);
        (void)!::write(to, "one", 3);
        for (int left = 1; left != 0 && ::ioctl(to, FIONREAD, &left) == 0;) std::this_thread::yield();
        are_free = support::without_standard_descriptors::open_ones().empty();
        ::close(to);
        reader.join();
    }
    EXPECT_TRUE(are_free);
    EXPECT_EQ(read, "one");
}

TEST_F(whole_file, is_written_by_no_standard_descriptor) {
    const auto pipe = new_pipe();
    const std::string text(1'000'000, 'x'); // more than a pipe holds
    std::string read(text.size(), '\0');
    bool are_free = false, is_written = false;
    {
        const support::without_standard_descriptors closed;
        std::thread writer([&] { is_written = write_file(pipe, text); });
        const int from = opened_high(pipe, O_RDONLY);
        std::size_t done = 0;
        for (ssize_t count = 1; count > 0 && done < read.size(); done += static_cast<std::size_t>(count)) {
            count = ::read(from, read.data() + done, read.size() - done);
            if (done == 0) are_free = support::without_standard_descriptors::open_ones().empty();
        }
        writer.join();
        ::close(from);
    }
    EXPECT_TRUE(are_free);
    EXPECT_TRUE(is_written);
    EXPECT_EQ(read, text);
}

TEST_F(whole_file, of_a_folder_are_found_by_no_standard_descriptor) {
    std::vector<fs::path> found;
    {
        const support::without_standard_descriptors closed;
        found = files_in("/proc/self/fd"); // lists its own, too
    }
    for (const char* const each : {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"})
        EXPECT_EQ(std::count(found.begin(), found.end(), fs::path(each)), 0) << each;
    EXPECT_FALSE(found.empty());
}

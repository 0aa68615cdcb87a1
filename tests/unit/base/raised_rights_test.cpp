// SPDX-License-Identifier: Apache-2.0
// A program that runs with more rights than its caller: what of the environment it does not follow.
#include "base/cache_file.hpp"
#include "base/opencl_vendors.hpp"
#include "base/options.hpp"
#include "unit/stranger.hpp"

#include <gtest/gtest.h>

#include <sys/auxv.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace causeway;

/// Run by the test below, in a process with such rights.
TEST(raised_rights, DISABLED_seen_from_inside) {
    ASSERT_NE(::getauxval(AT_SECURE), 0u) << "are files of other users not set-user-ID here (nosuid)?";
    for (const auto reader : {option_reader::library, option_reader::platform}) {
        options settings;
        settings.read_environment(environ, reader);
        EXPECT_EQ(settings.text(option::trace), "");
        EXPECT_EQ(settings.text(option::vendors), "");
        EXPECT_EQ(settings[option::depth], 3u) << "what names no file counts";
    }
    EXPECT_EQ(cache_file("figures"), "");
    EXPECT_EQ(opencl_vendors::default_folder(), "/etc/OpenCL/vendors");
    // Past the leak sanitizer, which cannot look into a process with the rights of another.
    std::fflush(nullptr);
    std::_Exit(HasFailure() ? 1 : 0);
}

TEST(raised_rights, keep_the_environment_from_naming_files_and_code) {
    if (!unit::may_change_user()) GTEST_SKIP() << "only root can give a file to another user";
    std::string folder = "/tmp/causeway-rights-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto program = folder + "/program";
    std::filesystem::copy("/proc/self/exe", program);
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    ASSERT_EQ(::chown(program.c_str(), unit::stranger::user, unit::stranger::user), 0);
    ASSERT_EQ(::chmod(program.c_str(), 04755), 0); // this user runs it with the rights of the other
    const auto
        command = "CAUSEWAY_TRACE=/tmp/t.json CAUSEWAY_VENDORS=/tmp/evil.so CAUSEWAY_DEPTH=3 OPENCL_VENDOR_PATH=/tmp "
                  "XDG_CACHE_HOME=/tmp HOME=/tmp " +
                  program +
                  " --gtest_also_run_disabled_tests --gtest_filter=raised_rights.DISABLED_seen_from_inside 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::filesystem::remove_all(folder);
}

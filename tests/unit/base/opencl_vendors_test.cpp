// SPDX-License-Identifier: Apache-2.0
// Where implementations of OpenCL are looked for, by what OCL_ICD_VENDORS may be.
#include "base/opencl_vendors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace causeway::opencl_vendors;
namespace fs = std::filesystem;

/// A default folder with two files of implementations, and another file.
class opencl_vendors : public testing::Test {
  protected:
    opencl_vendors() {
        std::string name = (fs::temp_directory_path() / "vendors-XXXXXX").string();
        m_folder = mkdtemp(name.data());
        write("b.icd", "libb.so.2\nmore\n");
        write("a.icd", "/opt/liba.so");
        write("notes.txt", "nothing");
        setenv("OPENCL_VENDOR_PATH", m_folder.c_str(), 1);
    }
    ~opencl_vendors() override {
        unsetenv("OPENCL_VENDOR_PATH");
        fs::remove_all(m_folder);
    }
    void write(const std::string& name, const std::string& text) const { std::ofstream(m_folder / name) << text; }
    [[nodiscard]] std::string file(const std::string& name) const { return (m_folder / name).string(); }

    fs::path m_folder;
};

} // namespace

TEST_F(opencl_vendors, are_those_of_the_default_folder_if_nothing_is_named) {
    const auto found = source_of("");
    EXPECT_EQ(found.what, kind::folder);
    EXPECT_EQ(found.name, m_folder);
    ASSERT_EQ(found.implementations.size(), 2u);
    EXPECT_EQ(found.implementations[0].file, file("a.icd"));
    EXPECT_EQ(found.implementations[0].library, "/opt/liba.so");
    EXPECT_EQ(found.implementations[1].library, "libb.so.2");
}

TEST_F(opencl_vendors, have_a_default_folder_if_its_variable_is_unset_or_empty) {
    setenv("OPENCL_VENDOR_PATH", "", 1);
    EXPECT_EQ(default_folder(), "/etc/OpenCL/vendors");
    unsetenv("OPENCL_VENDOR_PATH");
    EXPECT_EQ(default_folder(), "/etc/OpenCL/vendors");
}

TEST_F(opencl_vendors, are_those_of_a_folder_with_or_without_a_slash_at_its_end) {
    for (const auto& name : {m_folder.string(), m_folder.string() + "/"}) {
        EXPECT_EQ(source_of(name).what, kind::folder);
        EXPECT_EQ(source_of(name).implementations.size(), 2u);
    }
}

TEST_F(opencl_vendors, are_the_one_of_a_file) {
    const auto found = source_of(file("b.icd"));
    EXPECT_EQ(found.what, kind::file);
    ASSERT_EQ(found.implementations.size(), 1u);
    EXPECT_EQ(found.implementations[0].library, "libb.so.2");
}

TEST_F(opencl_vendors, are_looked_for_in_the_default_folder_if_a_file_has_none) {
    const auto found = source_of("a.icd");
    EXPECT_EQ(found.what, kind::file);
    EXPECT_EQ(found.name, file("a.icd"));
    EXPECT_EQ(found.implementations.at(0).library, "/opt/liba.so");
    EXPECT_EQ(source_of("elsewhere.icd").name, "elsewhere.icd");
    EXPECT_EQ(source_of("elsewhere.icd").implementations.at(0).library, "");
}

TEST_F(opencl_vendors, are_a_library_if_it_is_neither) {
    for (const std::string name : {"libb.so.2", "/opt/liba.so"}) {
        const auto found = source_of(name);
        EXPECT_EQ(found.what, kind::library);
        EXPECT_EQ(found.implementations.at(0).library, name);
    }
}

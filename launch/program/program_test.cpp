// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of MPI libraries, the search of the dynamic linker and interpreters of scripts. Whole programs:
// tests/launch/test_bindings.py.
#include "launch/program/binding_plan.hpp"
#include "launch/program/script.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace zipmpi::launch {
namespace {

struct Expected {
    const char* name;
    MpiAbi abi;
    bool supported;
};

TEST(MpiSoname, Versions) {
    for (const Expected& e : {Expected{"libmpi.so.40", MpiAbi::openmpi, true},
                              {"libmpi.so.40.30.4", MpiAbi::openmpi, true},
                              {"libmpi.so.20", MpiAbi::openmpi, false},
                              {"libmpi.so.12", MpiAbi::mpich, true},
                              {"libmpich.so.12", MpiAbi::mpich, true},
                              {"libmpich.so.10", MpiAbi::mpich, false},
                              {"libmpichfort.so.12", MpiAbi::mpich, true},
                              {"libmpi_mpifh.so.40", MpiAbi::openmpi, true},
                              {"libmpi_abi.so.1", MpiAbi::standard, true},
                              {"libmpi_abi.so.0", MpiAbi::standard, false}}) {
        const auto found = read_mpi_soname(e.name);
        ASSERT_TRUE(found) << e.name;
        EXPECT_EQ(found->abi, e.abi) << e.name;
        EXPECT_EQ(found->supported, e.supported) << e.name;
    }
    for (const char* other :
         {"libmpi.so", "libmpi", "", "libmpifr.so.6", "libmpc.so.3", "libhdf5_openmpi.so.103"})
        EXPECT_FALSE(read_mpi_soname(other)) << other;
}

class ProgramFiles : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/program_test_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& bytes) {
        std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
        return folder_ + "/" + name;
    }
    std::string folder_;
};

// A cache with one entry, in the format of glibc 2.2 and later.
std::string cache_with(const std::string& name, const std::string& file) {
    std::string bytes(48 + 24, '\0');
    std::memcpy(bytes.data(), "glibc-ld.so.cache1.1", 20);
    const uint32_t words[] = {1, static_cast<uint32_t>(name.size() + file.size() + 2)};
    std::memcpy(bytes.data() + 20, words, sizeof words);
    const uint32_t entry[] = {0x303, 72, static_cast<uint32_t>(72 + name.size() + 1)};
    std::memcpy(bytes.data() + 48, entry, sizeof entry);
    return bytes + name + '\0' + file + '\0';
}

TEST_F(ProgramFiles, Cache) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string cache = write("cache", cache_with("libodd.so.7", self));
    LibrarySearch search("", cache);
    const LibrarySearch::Result found = search.find("libodd.so.7", {});
    EXPECT_EQ(found.path, self);
    EXPECT_EQ(found.by, FoundBy::cache);
    EXPECT_TRUE(search.find("libodd.so.8", {}).path.empty());
    const std::string whole = cache_with("libodd.so.7", self);
    for (size_t size = 0; size < whole.size(); size += 5) { // cut off: no entry, and no access beyond the end
        LibrarySearch damaged("", write("cut", whole.substr(0, size)));
        EXPECT_TRUE(damaged.find("libodd.so.7", {}).path.empty() || size > 72);
    }
}

TEST_F(ProgramFiles, OrderOfTheSearch) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (const char* sub : {"rpath", "variable", "runpath"}) {
        std::filesystem::create_directory(folder_ + "/" + sub);
        std::filesystem::create_symlink(self, folder_ + "/" + sub + "/libx.so");
    }
    LibrarySearch search(folder_ + "/variable", "/nowhere");
    SearchScope scope{folder_, "$ORIGIN/rpath", "", nullptr};
    EXPECT_EQ(search.find("libx.so", scope).by, FoundBy::rpath);
    const SearchScope library{folder_, "", "", &scope}; // DT_RPATH of the program holds for its libraries
    EXPECT_EQ(search.find("libx.so", library).by, FoundBy::rpath);
    scope.runpath = "${ORIGIN}/runpath"; // makes the linker ignore DT_RPATH
    EXPECT_EQ(search.find("libx.so", scope).by, FoundBy::library_path);
    LibrarySearch without("", "/nowhere");
    EXPECT_EQ(without.find("libx.so", scope).path, folder_ + "/runpath/libx.so");
}

TEST_F(ProgramFiles, Interpreters) {
    EXPECT_EQ(read_interpreter(write("a", "#! /bin/sh -e\n"), "").path, "/bin/sh");
    EXPECT_EQ(read_interpreter(write("b", "#!/usr/bin/env -S sh -e\n"), "/nowhere:/bin").path, "/bin/sh");
    EXPECT_EQ(read_interpreter(write("c", "#!/nowhere/sh"), "").kind, Interpreter::Kind::missing);
    EXPECT_EQ(read_interpreter(write("d", "#!"), "").kind, Interpreter::Kind::missing);
    EXPECT_EQ(read_interpreter(write("e", "#!/bin/sh\r\n"), "").kind, Interpreter::Kind::missing);
    EXPECT_EQ(read_interpreter(write("f", "echo\n"), "").kind, Interpreter::Kind::none);
    EXPECT_EQ(read_interpreter(folder_ + "/none", "").kind, Interpreter::Kind::none);
}

TEST_F(ProgramFiles, FoldersAreMovedToTheFront) {
    const BindingFolders bindings{"/b/openmpi", "/b/mpich"};
    const std::string script = write("s", "echo\n");
    const auto path = [&](const std::string& before) {
        return plan_binding(script, MpiMode::automatic, bindings, {before, "", "", ""})
            .variables.library_path;
    };
    EXPECT_EQ(path(""), "/b/openmpi:/b/mpich");
    EXPECT_EQ(path("/x"), "/b/openmpi:/b/mpich:/x");
    EXPECT_EQ(path("/b/openmpi:/b/mpich"), "/b/openmpi:/b/mpich");
    EXPECT_EQ(path("/x:/b/mpich:/y"), "/b/openmpi:/b/mpich:/x:/y");
    EXPECT_EQ(path("/x:/b/openmpi"), "/b/openmpi:/b/mpich:/x");
    EXPECT_EQ(plan_binding(script, MpiMode::own, bindings, {"/x", "", "", ""}).variables.library_path, "/x");
}

} // namespace
} // namespace zipmpi::launch

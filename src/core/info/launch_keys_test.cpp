// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/info/launch_keys.hpp"

#include <gtest/gtest.h>

namespace zipmpi::core {
namespace {

TEST(MemoryKinds, AlwaysContainSystemAndMpi) {
    EXPECT_EQ(supported_memory_kinds(""), "mpi,system");
    EXPECT_EQ(supported_memory_kinds("system"), "system,mpi");
    EXPECT_EQ(supported_memory_kinds("cuda,rocm:device"), "mpi,system");
}

TEST(MemoryKinds, KeepKnownRestrictors) {
    EXPECT_EQ(supported_memory_kinds("mpi:alloc_mem,system"), "mpi:alloc_mem,system");
    EXPECT_EQ(supported_memory_kinds("system,mpi:win_allocate:win_allocate_shared"),
              "system,mpi:win_allocate:win_allocate_shared");
    EXPECT_EQ(supported_memory_kinds("mpi:device,system:x"), "mpi,system");
}

TEST(MemoryKinds, ContainNoDuplicates) {
    EXPECT_EQ(supported_memory_kinds("mpi,mpi,,system"), "mpi,system");
    EXPECT_EQ(supported_memory_kinds("mpi:alloc_mem,mpi"), "mpi:alloc_mem,mpi,system");
}

} // namespace
} // namespace zipmpi::core

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/line_prefix.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace zipmpi::launch;

namespace {

const PatternValues third{3, 12, 1, "n1"};

OutputPolicy labeled(OutputPolicy::Tag tag) {
    OutputPolicy p;
    p.label = OutputPolicy::Label::rank;
    p.tag = tag;
    return p;
}

TEST(LinePrefix, TagFormats) {
    EXPECT_TRUE(prefix_of({}, third, 0).empty());
    EXPECT_EQ(prefix_of(labeled(OutputPolicy::Tag::rank), third, 1).label, "[3] ");
    EXPECT_EQ(prefix_of(labeled(OutputPolicy::Tag::openmpi), third, 0).label, "[1,3]<stdout>:");
    EXPECT_EQ(prefix_of(labeled(OutputPolicy::Tag::openmpi), third, 1).label, "[1,3]<stderr>:");
    OutputPolicy p = labeled(OutputPolicy::Tag::pattern);
    p.tag_pattern = "%h/%R> ";
    EXPECT_EQ(prefix_of(p, third, 0).label, "n1/03> ");
}

TEST(LinePrefix, FoldedLinesHaveNoLabel) {
    OutputPolicy p = labeled(OutputPolicy::Tag::rank);
    p.label = OutputPolicy::Label::fold;
    p.timestamps = true;
    EXPECT_TRUE(prefix_of(p, third, 0).empty());
}

TEST(LinePrefix, OpenMpiTimeStampHasStreamName) {
    OutputPolicy p;
    p.tag = OutputPolicy::Tag::openmpi;
    EXPECT_TRUE(prefix_of(p, third, 0).empty());
    p.timestamps = true;
    EXPECT_EQ(prefix_of(p, third, 0).label, "<stdout>:");
    EXPECT_EQ(prefix_of(p, third, 0).stamp, LinePrefix::Stamp::openmpi);
}

TEST(LinePrefix, TimeStamps) {
    setenv("TZ", "UTC", 1);
    tzset();
    const timespec at{1'794'855'363, 45'000'000};
    EXPECT_EQ(time_stamp(LinePrefix::Stamp::iso, at), "2026-11-16 18:56:03.045 ");
    EXPECT_EQ(time_stamp(LinePrefix::Stamp::openmpi, at), "Mon Nov 16 18:56:03 2026");
    EXPECT_EQ(time_stamp(LinePrefix::Stamp::none, at), "");
    OutputPolicy p = labeled(OutputPolicy::Tag::rank);
    p.timestamps = true;
    std::string line;
    prefix_of(p, third, 0).append_to(line);
    EXPECT_EQ(line.size(), std::string("2026-11-16 18:56:03.045 [3] ").size());
    EXPECT_EQ(line.substr(0, 2), "20");
}

} // namespace

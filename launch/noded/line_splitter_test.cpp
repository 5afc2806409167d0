// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/line_splitter.hpp"

#include <gtest/gtest.h>

using zipmpi::launch::LinePrefix;
using zipmpi::launch::LineSplitter;

namespace {

LinePrefix label(std::string text) { return {LinePrefix::Stamp::none, std::move(text)}; }

TEST(LineSplitter, KeepsUnfinishedLine) {
    LineSplitter c;
    EXPECT_EQ(c.feed("ab"), "");
    EXPECT_TRUE(c.pending());
    EXPECT_EQ(c.feed("c\nde\nf"), "abc\nde\n");
    EXPECT_EQ(c.flush(), "f");
    EXPECT_FALSE(c.pending());
}

TEST(LineSplitter, LabelsEachLineOnce) {
    LineSplitter c(label("[3] "));
    EXPECT_EQ(c.feed("a\n\nb"), "[3] a\n[3] \n");
    EXPECT_EQ(c.flush(), "[3] b");
    EXPECT_TRUE(c.mid_line());
    EXPECT_EQ(c.feed("c\nd\n"), "c\n[3] d\n");
}

TEST(LineSplitter, InterruptedLineIsLabeledAgain) {
    LineSplitter c(label("[0] "));
    c.feed("prompt: ");
    EXPECT_EQ(c.flush(), "[0] prompt: ");
    c.begin_new_line();
    EXPECT_EQ(c.feed("x\n"), "[0] x\n");
}

TEST(LineSplitter, LongLineIsSplit) {
    LineSplitter c;
    size_t out = 0;
    const std::string block(65536, 'x');
    for (int i = 0; i < 100; ++i) out += c.feed(block).size();
    out += c.flush().size();
    EXPECT_EQ(out, 6553600U);
}

TEST(LineSplitter, LosesNoBytes) {
    const std::string text = "one\ntwo\n\nthree and a half\nend";
    for (size_t step = 1; step < text.size(); ++step) {
        LineSplitter c;
        std::string got;
        for (size_t i = 0; i < text.size(); i += step) got += c.feed(std::string_view(text).substr(i, step));
        EXPECT_EQ(got + c.flush(), text);
    }
}

} // namespace

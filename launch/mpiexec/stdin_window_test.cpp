// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/stdin_window.hpp"

#include <gtest/gtest.h>

using zipmpi::launch::StdinWindow;

namespace {

TEST(StdinWindow, SlowestNodeLimits) {
    StdinWindow w;
    w.add_node(0);
    w.add_node(4);
    EXPECT_EQ(w.available(), StdinWindow::max_in_flight);
    w.on_sent(1000);
    w.on_consumed(0, 1000);
    EXPECT_EQ(w.available(), StdinWindow::max_in_flight - 1000);
    w.on_consumed(4, 600);
    EXPECT_EQ(w.available(), StdinWindow::max_in_flight - 400);
    w.on_closed(4);
    EXPECT_EQ(w.available(), StdinWindow::max_in_flight);
}

TEST(StdinWindow, EndsWithLastReader) {
    StdinWindow w;
    EXPECT_FALSE(w.has_readers());
    w.add_node(1);
    w.on_closed(0);
    EXPECT_TRUE(w.has_readers());
    w.on_closed(1);
    EXPECT_FALSE(w.has_readers());
}

TEST(StdinWindow, RejectsInvalidCounts) {
    StdinWindow w;
    w.add_node(0);
    w.on_sent(10);
    w.on_consumed(0, UINT64_MAX / 2);
    w.on_consumed(7, 5);
    w.on_sent(10);
    EXPECT_EQ(w.available(), StdinWindow::max_in_flight - 10);
}

} // namespace

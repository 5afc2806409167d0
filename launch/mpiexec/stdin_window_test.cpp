// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/stdin_window.hpp"

#include <gtest/gtest.h>

using zipmpi::launch::StdinWindow;

namespace {

TEST(StdinWindow, TheSlowestNodeCounts) {
    StdinWindow w;
    w.add_node(0);
    w.add_node(4);
    EXPECT_EQ(w.room(), StdinWindow::most);
    w.sent(1000);
    w.taken(0, 1000);
    EXPECT_EQ(w.room(), StdinWindow::most - 1000);
    w.taken(4, 600);
    EXPECT_EQ(w.room(), StdinWindow::most - 400);
    w.closed(4);
    EXPECT_EQ(w.room(), StdinWindow::most);
}

TEST(StdinWindow, EndsWithTheLastReader) {
    StdinWindow w;
    EXPECT_FALSE(w.anybody_reads());
    w.add_node(1);
    w.closed(0);
    EXPECT_TRUE(w.anybody_reads());
    w.closed(1);
    EXPECT_FALSE(w.anybody_reads());
}

TEST(StdinWindow, WhatNodesSayIsNotTrusted) {
    StdinWindow w;
    w.add_node(0);
    w.sent(10);
    w.taken(0, UINT64_MAX / 2);
    w.taken(7, 5);
    w.sent(10);
    EXPECT_EQ(w.room(), StdinWindow::most - 10);
}

} // namespace

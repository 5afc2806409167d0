// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/bootstrap.hpp"

#include "base/job_protocol.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr int wait_ms = 1000;

bool read_text(const std::string& text, Bootstrap& out, Diagnostic& why) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const os::Fd in(ends[0]);
    os::Fd to(ends[1]);
    const bool written = write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    to.reset();
    return written && read_bootstrap(in.get(), wait_ms, out, why);
}

Bootstrap example() {
    Bootstrap b;
    b.range = {3, 5};
    b.secret.fill(7);
    b.job_id = "job";
    return b;
}

// As encoded by a process with another text of the same length.
std::string encoded_by(const std::string& version) {
    std::string text = encode(example());
    return text.replace(text.find(job_protocol_text()), job_protocol_text().size(), version);
}

TEST(Bootstrap, IsReadAsWritten) {
    Bootstrap b;
    Diagnostic why;
    ASSERT_TRUE(read_text(encode(example()), b, why)) << format(why);
    EXPECT_EQ(b.range.node, 3U);
    EXPECT_EQ(b.range.end, 5U);
    EXPECT_EQ(b.secret, example().secret);
    EXPECT_EQ(b.job_id, "job");
}

TEST(Bootstrap, PatchReleasesUnderstandEachOther) {
    std::string other(job_protocol_text());
    other[other.find(',') - 1] = '9';
    Bootstrap b;
    Diagnostic why;
    EXPECT_TRUE(read_text(encoded_by(other), b, why)) << format(why);
}

TEST(Bootstrap, OtherProtocolsAreRefusedWithBothVersions) {
    std::string other(job_protocol_text());
    other.back() = '0';
    Bootstrap b;
    Diagnostic why;
    EXPECT_FALSE(read_text(encoded_by(other), b, why));
    EXPECT_NE(why.why.find(other), std::string::npos) << format(why);
    EXPECT_NE(why.why.find(job_protocol_text()), std::string::npos) << format(why);
}

TEST(Bootstrap, TruncatedDataAreRefused) {
    const std::string text = encode(example());
    for (size_t n = 0; n < text.size(); ++n) {
        Bootstrap b;
        Diagnostic why;
        EXPECT_FALSE(read_text(text.substr(0, n), b, why)) << n;
    }
}

} // namespace

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/job_protocol.hpp"

#include <gtest/gtest.h>

namespace zipmpi {
namespace {

TEST(JobProtocol, TextHasTheNumber) {
    EXPECT_TRUE(job_protocol_text().ends_with(", job protocol " + std::to_string(job_protocol)))
        << job_protocol_text();
    EXPECT_TRUE(is_same_job_protocol(job_protocol_text(), job_protocol_text()));
}

TEST(JobProtocol, OnlyTheNumberCounts) {
    EXPECT_TRUE(is_same_job_protocol("ZipMPI 0.2.0, job protocol 1", "ZipMPI 0.2.7, job protocol 1"));
    EXPECT_FALSE(is_same_job_protocol("ZipMPI 0.2.0, job protocol 1", "ZipMPI 0.2.0, job protocol 2"));
    EXPECT_FALSE(is_same_job_protocol("ZipMPI 0.2.0, job protocol 1", "ZipMPI 0.2.0, job protocol 11"));
}

TEST(JobProtocol, OtherTextsAreRefused) {
    EXPECT_FALSE(is_same_job_protocol("", ""));
    EXPECT_FALSE(is_same_job_protocol("ZipMPI 0.2.0", "ZipMPI 0.2.0"));
    EXPECT_FALSE(is_same_job_protocol(job_protocol_text(), ""));
}

TEST(JobProtocol, ReasonNamesBothVersions) {
    const std::string reason = job_protocol_reason("mpiexec", "ZipMPI 0.9.1, job protocol 4");
    EXPECT_NE(reason.find("mpiexec is of ZipMPI 0.9.1, job protocol 4"), std::string::npos) << reason;
    EXPECT_NE(reason.find(job_protocol_text()), std::string::npos) << reason;
}

} // namespace
} // namespace zipmpi

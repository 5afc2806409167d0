// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs with ranks on this host, read from their shared memory.
#pragma once

#include "top/job_source.hpp"
#include "top/top.hpp"

#include <memory>

namespace zipmpi::tool {

struct WatchedJob {
    segment::NodeSegment segment;
    std::string id;
    std::vector<pid_t> holders;
};

// Jobs of this user that match the options, oldest first.
std::vector<std::unique_ptr<WatchedJob>> find_jobs(const TopOptions& options);

// These jobs as sources of the view.
std::vector<std::unique_ptr<JobSource>> find_local_jobs(const TopOptions& options);

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi top`: shows the ranks of a job on this node or on all hosts, or the gateways of this host, while
// they run. On this host it reads their shared memory; the processes are not involved.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::tool {

struct TopOptions {
    std::string job; // id, or a substring of it
    pid_t pid = 0;   // a process of the job
    double interval = 0.5;
    bool once = false;
    bool json = false;
    bool gateways = false;
    bool all_hosts = false; // ask mpiexec for the ranks of all hosts
    bool links = false;     // start with the traffic between ranks
    std::string sort = "rank";
};
int run_top(const TopOptions& options);

// A page shown by the loop of top.
class TopView {
  public:
    TopView() = default;
    TopView(const TopView&) = delete;
    TopView& operator=(const TopView&) = delete;
    virtual ~TopView() = default;
    // Takes a sample. Returns false if the job or gateway has ended.
    virtual bool sample() = 0;
    // Up to `rows` lines; bright: index of the heading.
    virtual std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) = 0;
    virtual void key(char key) = 0;
};

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi top`: the ranks of a job on this node, or the gateways of this host, while they work. It reads what
// they write for themselves; they do not notice.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace zipmpi::tool {

struct TopOptions {
    std::string job; // id, or a part of it
    pid_t pid = 0;   // a process of the job
    double delay = 0.5;
    bool once = false;
    bool gateways = false;
    bool links = false; // begin with what goes from rank to rank
    std::string sort = "rank";
};
int run_top(const TopOptions& options);

// A view that the loop of top shows.
class View {
  public:
    View() = default;
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    virtual ~View() = default;
    // Looks. False: there is nothing any more.
    virtual bool sample() = 0;
    // As many lines as are of use; bright: the heading.
    virtual std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) = 0;
    virtual void key(char key) = 0;
};

} // namespace zipmpi::tool

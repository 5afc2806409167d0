// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of a job on this node.
#pragma once

#include "top/jobs.hpp"
#include "top/rows.hpp"
#include "top/top.hpp"

#include <memory>

namespace zipmpi::tool {

struct WatchedJob {
    boot::NodeSegment segment;
    std::string id;
    std::vector<pid_t> holders;
};

// Of all jobs of this user, those that the options choose; oldest first.
std::vector<std::unique_ptr<WatchedJob>> find_jobs(const TopOptions& options);

class JobView final : public View {
  public:
    explicit JobView(const TopOptions& options);
    [[nodiscard]] bool found() const { return !jobs_.empty(); }
    bool sample() override;
    std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) override;
    void key(char key) override;

  private:
    void choose(size_t job);
    [[nodiscard]] std::vector<std::string> table(size_t rows, size_t& bright);
    [[nodiscard]] std::vector<std::string> roll_call(size_t columns) const;
    [[nodiscard]] std::string title() const;

    std::vector<std::unique_ptr<WatchedJob>> jobs_;
    size_t shown_ = 0;
    Order order_;
    bool calls_roll_ = false;
    size_t scrolled_ = 0;
    std::vector<Sums> before_, now_;
    uint64_t before_ns_ = 0, now_ns_ = 0;
    launch::Snapshot places_;
};

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of a job on this node.
#pragma once

#include "top/jobs.hpp"
#include "top/link_rates.hpp"
#include "top/rows.hpp"
#include "top/top.hpp"

#include <functional>
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
    enum class Page : uint8_t { ranks, links, roll_call };
    void choose(size_t job);
    void turn_to(Page page);
    [[nodiscard]] std::vector<std::string> rank_table(size_t rows, size_t& bright);
    [[nodiscard]] std::vector<std::string> link_table(size_t rows, size_t& bright);
    // The lines that fit between the heading and the keys, of so many; says with the keys which these are.
    [[nodiscard]] std::vector<std::string> page_of(std::vector<std::string> head, size_t all,
                                                   const std::function<std::string(size_t)>& line_at,
                                                   std::string keys, size_t rows);
    [[nodiscard]] std::vector<std::string> roll_call(size_t columns) const;
    [[nodiscard]] std::string title() const;

    std::vector<std::unique_ptr<WatchedJob>> jobs_;
    size_t shown_ = 0;
    Order order_;
    Page page_ = Page::ranks;
    LinkRates links_;
    size_t scrolled_ = 0;
    std::vector<Sums> before_, now_;
    uint64_t before_ns_ = 0, now_ns_ = 0;
    launch::Snapshot places_;
};

} // namespace zipmpi::tool

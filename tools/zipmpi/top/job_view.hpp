// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// View of the ranks of a job on this node.
#pragma once

#include "json.hpp"
#include "top/job_discovery.hpp"
#include "top/link_rates.hpp"
#include "top/rank_table.hpp"
#include "top/top.hpp"

#include <functional>
#include <memory>

namespace zipmpi::tool {

struct WatchedJob {
    segment::NodeSegment segment;
    std::string id;
    std::vector<pid_t> holders;
};

// Jobs of this user that match the options, oldest first.
std::vector<std::unique_ptr<WatchedJob>> find_jobs(const TopOptions& options);

class JobView final : public TopView {
  public:
    explicit JobView(const TopOptions& options);
    [[nodiscard]] bool found() const { return !jobs_.empty(); }
    bool sample() override;
    std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) override;
    void key(char key) override;
    [[nodiscard]] Json facts() const; // for --json: the current job and its ranks

  private:
    enum class Page : uint8_t { ranks, links, wait_list };
    void select_job(size_t job);
    void set_page(Page page);
    [[nodiscard]] std::vector<RankRow> rows() const;
    [[nodiscard]] std::vector<std::string> rank_table(size_t rows, size_t& bright);
    [[nodiscard]] std::vector<std::string> link_table(size_t rows, size_t& bright);
    // Visible lines of a page with `all` lines, between the heading and the key line, which shows the range.
    [[nodiscard]] std::vector<std::string> page_of(std::vector<std::string> head, size_t all,
                                                   const std::function<std::string(size_t)>& line_at,
                                                   std::string keys, size_t rows);
    [[nodiscard]] std::vector<std::string> wait_list(size_t columns) const;
    [[nodiscard]] std::string title() const;

    std::vector<std::unique_ptr<WatchedJob>> jobs_;
    size_t current_job_ = 0;
    Order order_;
    Page page_ = Page::ranks;
    LinkRates links_;
    size_t scroll_offset_ = 0;
    std::vector<CounterTotals> before_, now_;
    uint64_t before_ns_ = 0, now_ns_ = 0;
    launch::Snapshot snapshot_;
};

} // namespace zipmpi::tool

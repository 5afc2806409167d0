// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// View of the ranks of a job, on this host or on all.
#pragma once

#include "top/job_source.hpp"
#include "top/link_rates.hpp"
#include "top/rank_table.hpp"
#include "top/top.hpp"

#include <functional>
#include <memory>
#include <unordered_map>

namespace zipmpi::tool {

class JobView final : public TopView {
  public:
    JobView(const TopOptions& options, std::vector<std::unique_ptr<JobSource>> jobs);
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
    [[nodiscard]] Hosts hosts() const { return now_.hosts.empty() ? Hosts::this_one : Hosts::all; }

    std::vector<std::unique_ptr<JobSource>> jobs_;
    size_t current_job_ = 0;
    Order order_;
    Page page_ = Page::ranks;
    LinkRates links_;
    size_t scroll_offset_ = 0;
    JobSample now_;
    std::unordered_map<int, CounterTotals> before_; // by rank
    uint64_t before_ns_ = 0, now_ns_ = 0;
};

} // namespace zipmpi::tool

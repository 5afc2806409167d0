// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/job_view.hpp"

#include "launch/report/hang.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace zipmpi::tool {
namespace {

constexpr std::string_view sort_keys = "rscpmbu"; // in the order of Column
constexpr std::string_view sort_names[] = {"rank",     "state", "call",      "peer",
                                           "messages", "bytes", "unexpected"};

// Wraps text to the given width; continuation lines are indented.
void wrap(std::string text, size_t columns, std::vector<std::string>& out) {
    constexpr const char* indent = "      ";
    const size_t width = std::max<size_t>(columns, 20);
    while (text.size() > width) {
        size_t cut = text.rfind(' ', width);
        if (cut == std::string::npos || cut < 10) cut = width;
        out.push_back(text.substr(0, cut));
        text = indent + text.substr(text[cut] == ' ' ? cut + 1 : cut);
    }
    out.push_back(std::move(text));
}

} // namespace

JobView::JobView(const TopOptions& options, std::vector<std::unique_ptr<JobSource>> jobs)
    : jobs_(std::move(jobs)) {
    for (size_t i = 0; i < std::size(sort_names); ++i)
        if (options.sort == sort_names[i]) order_.by = static_cast<Column>(i);
    if (options.links) page_ = Page::links;
    if (found()) select_job(0);
}

void JobView::select_job(size_t job) {
    current_job_ = job % jobs_.size();
    scroll_offset_ = 0;
    now_ = {};
    now_ns_ = 0;
    links_.begin();
    sample();
}

// Selecting the current page again returns to the ranks.
void JobView::set_page(Page page) {
    const segment::NodeSegment* const segment = jobs_[current_job_]->segment();
    if (page == Page::links && segment == nullptr) return;
    page_ = page == page_ ? Page::ranks : page;
    scroll_offset_ = 0;
    links_.begin();
    if (page_ == Page::links) links_.sample(*segment, now_.ranks);
}

bool JobView::sample() {
    before_.clear();
    for (size_t i = 0; i < now_.ranks.size(); ++i) before_[now_.ranks[i].rank] = now_.totals[i];
    before_ns_ = std::exchange(now_ns_, os::now_ns());
    const bool goes_on = jobs_[current_job_]->sample(now_);
    if (page_ == Page::links) links_.sample(*jobs_[current_job_]->segment(), now_.ranks);
    return goes_on;
}

std::string JobView::title() const {
    const JobSource& job = *jobs_[current_job_];
    std::string text = fmt::format("job {}  ", job.id());
    if (const std::string extent = job.extent(); !extent.empty()) text += extent + "  ";
    if (jobs_.size() > 1) text += fmt::format("({} of {} jobs, n: next)  ", current_job_ + 1, jobs_.size());
    return text + summary(now_.ranks);
}

std::vector<std::string> JobView::page_of(std::vector<std::string> head, size_t all,
                                          const std::function<std::string(size_t)>& line_at, std::string keys,
                                          size_t rows) {
    const size_t visible_rows = std::max(rows, head.size() + 2) - head.size() - 1;
    scroll_offset_ = std::min(scroll_offset_, all > visible_rows ? all - visible_rows : 0);
    const size_t end = std::min(all, scroll_offset_ + visible_rows);
    for (size_t i = scroll_offset_; i < end; ++i) head.push_back(line_at(i));
    if (all > visible_rows) keys += fmt::format("  arrows: {}-{} of {}", scroll_offset_ + 1, end, all);
    head.push_back(std::move(keys));
    return head;
}

std::vector<RankRow> JobView::rows() const {
    std::vector<RankRow> all;
    const double seconds = std::max(1e-6, static_cast<double>(now_ns_ - before_ns_) / 1e9);
    for (size_t i = 0; i < now_.ranks.size(); ++i) {
        const auto before = before_.find(now_.ranks[i].rank);
        all.push_back(make_row(now_.ranks[i], before == before_.end() ? now_.totals[i] : before->second,
                               now_.totals[i], seconds));
        if (!now_.hosts.empty()) all.back().host = now_.hosts[i];
    }
    sort_rows(all, order_);
    return all;
}

Json JobView::facts() const {
    Json ranks = Json::array();
    for (const RankRow& r : rows()) {
        ranks.push_back({{"rank", r.rank},
                         {"state", r.state},
                         {"call", r.call},
                         {"peer", r.peer},
                         {"messages_per_second", r.messages},
                         {"bytes_per_second", r.bytes},
                         {"unexpected", r.unexpected},
                         {"path", r.path}});
        if (hosts() == Hosts::all) ranks.back()["host"] = r.host;
    }
    Json facts = jobs_[current_job_]->facts();
    facts["ranks"] = ranks;
    return facts;
}

std::vector<std::string> JobView::rank_table(size_t rows, size_t& bright) {
    const std::vector<RankRow> all = this->rows();
    bright = 1;
    return page_of(
        {title(), heading(order_, hosts())}, all.size(), [&](size_t i) { return line_of(all[i]); },
        "q quit  w wait list  l links  rscpmbu sort", rows);
}

std::vector<std::string> JobView::link_table(size_t rows, size_t& bright) {
    const std::vector<LinkRates::LinkRow>& all = links_.rows();
    bright = 2;
    return page_of(
        {title(), links_.summary(), LinkRates::heading()}, all.size(),
        [&](size_t i) { return LinkRates::line_of(all[i], all.front().bytes); }, "q quit  l ranks", rows);
}

std::vector<std::string> JobView::wait_list(size_t columns) const {
    std::vector<std::string> out{title()};
    std::string text = launch::hang_report(now_.ranks);
    constexpr std::string_view speaker = "mpiexec: ";
    if (text.starts_with(speaker)) text.erase(0, speaker.size());
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        wrap(text.substr(begin, end - begin), columns, out);
        begin = end + 1;
    }
    if (const auto* segment = jobs_[current_job_]->segment(); segment != nullptr && segment->nodes() > 1)
        out.emplace_back("(ranks of this node only: --all-hosts shows all ranks)");
    out.emplace_back("w ranks  q quit");
    return out;
}

std::vector<std::string> JobView::lines(size_t rows, size_t columns, size_t& bright) {
    bright = 0;
    if (page_ == Page::wait_list) return wait_list(columns);
    return page_ == Page::links ? link_table(rows, bright) : rank_table(rows, bright);
}

void JobView::key(char key) {
    constexpr size_t page = 10;
    if (key == 'w') set_page(Page::wait_list);
    if (key == 'l') set_page(Page::links);
    if (key == 'n') select_job(current_job_ + 1);
    if (key == 'D') ++scroll_offset_;
    if (key == 'U' && scroll_offset_ > 0) --scroll_offset_;
    if (key == 'N') scroll_offset_ += page;
    if (key == 'P') scroll_offset_ -= std::min(scroll_offset_, page);
    if (const size_t at = sort_keys.find(key); at != std::string_view::npos) {
        const auto by = static_cast<Column>(at);
        order_ = {by, by == order_.by && !order_.reverse};
    }
}

} // namespace zipmpi::tool

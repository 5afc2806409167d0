// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/job_view.hpp"

#include "launch/report/hang.hpp"
#include "launch/report/read_segment.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <cstring>
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

bool is_alive(const WatchedJob& job) {
    for (uint32_t i = 0; i < job.segment.local_ranks(); ++i) {
        const auto state = static_cast<wire::RankState>(job.segment.block(i).state.load());
        if (state == wire::RankState::absent || state == wire::RankState::running) return true;
    }
    return false;
}

bool is_selected(const WatchedJob& job, const TopOptions& o) {
    if (!o.job.empty() && job.id.find(o.job) == std::string::npos) return false;
    return o.pid == 0 || any_descends_from(job.holders, o.pid);
}

} // namespace

std::vector<std::unique_ptr<WatchedJob>> find_jobs(const TopOptions& options) {
    std::vector<std::unique_ptr<WatchedJob>> jobs;
    for (SharedFile& file : find_shared_files("zipmpi-node")) {
        auto job = std::make_unique<WatchedJob>();
        Diagnostic why; // another version, or not initialized yet
        if (!segment::NodeSegment::attach(std::move(file.fd), job->segment, why, os::Access::read_only))
            continue;
        const char* id = job->segment.header().job_id;
        job->id.assign(id, strnlen(id, sizeof job->segment.header().job_id));
        job->holders = std::move(file.holders);
        if (is_selected(*job, options) && is_alive(*job)) jobs.push_back(std::move(job));
    }
    std::sort(jobs.begin(), jobs.end(),
              [](const auto& a, const auto& b) { return a->holders.front() < b->holders.front(); });
    return jobs;
}

JobView::JobView(const TopOptions& options)
    : jobs_(find_jobs(options)) {
    for (size_t i = 0; i < std::size(sort_names); ++i)
        if (options.sort == sort_names[i]) order_.by = static_cast<Column>(i);
    if (options.links) page_ = Page::links;
    if (found()) select_job(0);
}

void JobView::select_job(size_t job) {
    current_job_ = job % jobs_.size();
    scroll_offset_ = 0;
    now_.assign(jobs_[current_job_]->segment.local_ranks(), {});
    now_ns_ = 0;
    links_.begin();
    sample();
    before_ = now_;
}

// Selecting the current page again returns to the ranks.
void JobView::set_page(Page page) {
    page_ = page == page_ ? Page::ranks : page;
    scroll_offset_ = 0;
    links_.begin();
    if (page_ == Page::links) links_.sample(jobs_[current_job_]->segment, snapshot_);
}

bool JobView::sample() {
    const segment::NodeSegment& segment = jobs_[current_job_]->segment;
    std::swap(before_, now_);
    before_ns_ = std::exchange(now_ns_, os::now_ns());
    now_.resize(segment.local_ranks());
    snapshot_.clear();
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
        now_[i] = read_totals(segment.block(i).counters);
        snapshot_.push_back(launch::read_rank_snapshot(segment, i));
    }
    if (page_ == Page::links) links_.sample(segment, snapshot_);
    return is_alive(*jobs_[current_job_]);
}

std::string JobView::title() const {
    const WatchedJob& job = *jobs_[current_job_];
    const wire::SegmentHeader& h = job.segment.header();
    std::string text = fmt::format("job {}  ", job.id);
    if (h.nodes > 1) text += fmt::format("node {} of {}  ", h.node, h.nodes);
    if (jobs_.size() > 1) text += fmt::format("({} of {} jobs, n: next)  ", current_job_ + 1, jobs_.size());
    return text + summary(snapshot_);
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
    for (size_t i = 0; i < snapshot_.size(); ++i)
        all.push_back(make_row(snapshot_[i], before_[i], now_[i], seconds));
    sort_rows(all, order_);
    return all;
}

Json JobView::facts() const {
    const WatchedJob& job = *jobs_[current_job_];
    Json ranks = Json::array();
    for (const RankRow& r : rows())
        ranks.push_back({{"rank", r.rank},
                         {"state", r.state},
                         {"call", r.call},
                         {"peer", r.peer},
                         {"messages_per_second", r.messages},
                         {"bytes_per_second", r.bytes},
                         {"unexpected", r.unexpected},
                         {"path", r.path}});
    return {{"job", job.id},
            {"node", job.segment.header().node},
            {"nodes", job.segment.header().nodes},
            {"world_size", job.segment.header().world_size},
            {"ranks", ranks}};
}

std::vector<std::string> JobView::rank_table(size_t rows, size_t& bright) {
    const std::vector<RankRow> all = this->rows();
    bright = 1;
    return page_of(
        {title(), heading(order_)}, all.size(), [&](size_t i) { return line_of(all[i]); },
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
    std::string text = launch::hang_report(snapshot_);
    constexpr std::string_view speaker = "mpiexec: ";
    if (text.starts_with(speaker)) text.erase(0, speaker.size());
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        wrap(text.substr(begin, end - begin), columns, out);
        begin = end + 1;
    }
    if (jobs_[current_job_]->segment.nodes() > 1)
        out.emplace_back("(ranks of this node only: SIGQUIT to mpiexec reports all ranks)");
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

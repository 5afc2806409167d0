// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMIx for the ranks of this node: what libpmix cannot answer itself goes through the tree.
#include "launch/link/scratch.hpp"
#include "launch/noded/daemon.hpp"
#include "launch/noded/module.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// What others write to stderr meanwhile goes nowhere.
class QuietStderr {
  public:
    QuietStderr()
        : kept_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
        const os::Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
        if (kept_ && null) dup2(null.get(), STDERR_FILENO);
    }
    QuietStderr(const QuietStderr&) = delete;
    QuietStderr& operator=(const QuietStderr&) = delete;
    ~QuietStderr() {
        if (kept_) dup2(kept_.get(), STDERR_FILENO);
    }

  private:
    os::Fd kept_;
};

} // namespace

std::string Daemon::scratch_name() const {
    return network_ ? scratch_of_node(request_.job_id, place_.node) : request_.job_id;
}

void Daemon::start_pmix() {
    setenv("PMIX_MCA_gds", "hash", 0); // the default store writes about missing keys to stderr
    const auto get =
        reinterpret_cast<GetPmixModule>(load_symbol("zipmpi_pmix_server.so", "zipmpi_pmix_module"));
    if (get == nullptr) return;
    file_scratch_ = make_file_scratch(scratch_name());
    if (file_scratch_.empty()) return;
    memory_scratch_ = make_memory_scratch(scratch_name());
    pmix_event_ = os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    watch(epoll_.get(), pmix_event_.get(), EPOLLIN, Source::pmix);
    std::vector<uint32_t> apps;
    std::vector<uint32_t> nodes;
    for (const NodeRun& run : seen_map_.runs()) nodes.insert(nodes.end(), run.ranks, run.node);
    for (uint32_t r = 0; r < request_.world_size; ++r) apps.push_back(request_.app_of(r));
    std::vector<const char*> names;
    for (const uint32_t node : request_.map.nodes())
        names.push_back(alone() ? host_.c_str() : request_.tree.hosts[node].c_str());
    const PmixJob job{request_.job_id.c_str(),
                      file_scratch_.c_str(),
                      request_.world_size,
                      apps.data(),
                      static_cast<uint32_t>(request_.apps.size()),
                      nodes.data(),
                      names.data(),
                      static_cast<uint32_t>(names.size()),
                      nodes_of_the_job().own};
    const auto on_event = [](void* arg, const PmixEvent& e) {
        static_cast<Daemon*>(arg)->queue_pmix({e.kind,
                                               e.rank,
                                               e.status,
                                               e.text != nullptr ? e.text : "",
                                               std::string(e.data, e.size),
                                               e.cookie,
                                               {}});
    };
    const PmixModule* module = get();
    const QuietStderr quiet; // a host without loopback: libpmix complains, but most programs need no PMIx
    if (module->start(job, on_event, this)) pmix_ = module;
}

// On libpmix's thread.
void Daemon::queue_pmix(PmixTask task) {
    const std::lock_guard lock(pmix_mutex_);
    pmix_tasks_.push_back(std::move(task));
    eventfd_write(pmix_event_.get(), 1);
}

void Daemon::on_pmix() {
    eventfd_t count = 0;
    eventfd_read(pmix_event_.get(), &count);
    std::deque<PmixTask> tasks;
    {
        const std::lock_guard lock(pmix_mutex_);
        tasks.swap(pmix_tasks_);
    }
    for (PmixTask& t : tasks) on_pmix(t);
}

void Daemon::on_pmix(PmixTask& t) {
    if (t.answer) return route({FrameType::routed, encode(*t.answer)});
    if (t.kind == PmixEvent::Kind::fence) {
        pmix_fences_.push_back(t.cookie);
        pmix_fence_.add_own(t.data);
        return pass_pmix_fence_on();
    }
    if (t.kind == PmixEvent::Kind::modex) {
        std::vector<void*>& asking = pmix_asking_[t.rank];
        asking.push_back(t.cookie);
        if (asking.size() > 1) return; // the answer serves all
        const Routed question{Routed::Kind::ask_modex, place_.node, request_.map.node_of(t.rank),
                              std::to_string(t.rank),  false,       {}};
        return route({FrameType::routed, encode(question)});
    }
    const auto it =
        std::find_if(ranks_.begin(), ranks_.end(), [&](const Rank& rank) { return rank.world == t.rank; });
    if (it == ranks_.end()) return;
    if (t.kind == PmixEvent::Kind::abort)
        on_abort(static_cast<uint32_t>(it - ranks_.begin()), t.status, t.text);
    else
        it->pmix_inside = t.kind == PmixEvent::Kind::connected;
}

void Daemon::pass_pmix_fence_on() {
    if (pmix_fence_.any() && (pmix_fence_.has_own() || live_ == 0) && pmix_fence_.all_below(below_))
        channel_.send(FrameType::pmix_fence_in, pmix_fence_.take());
}

void Daemon::pmix_fence_done(std::string_view data) {
    if (pmix_ == nullptr || pmix_fences_.empty()) return;
    pmix_->answer(pmix_fences_.front(), true, data.data(), data.size());
    pmix_fences_.pop_front();
}

void Daemon::on_modex(const Routed& m) {
    const auto rank = static_cast<uint32_t>(std::strtoul(m.key.c_str(), nullptr, 10));
    if (m.kind == Routed::Kind::modex) {
        const auto it = pmix_asking_.find(rank);
        if (it == pmix_asking_.end() || pmix_ == nullptr) return;
        const std::vector<void*> asking = std::move(it->second);
        pmix_asking_.erase(it);
        for (void* cookie : asking) pmix_->answer(cookie, m.found, m.value.data(), m.value.size());
        return;
    }
    struct Question {
        Daemon* daemon;
        Routed answer;
    };
    auto* question = new Question{this, {Routed::Kind::modex, place_.node, m.from, m.key, false, {}}};
    const auto got = [](void* arg, bool found, const char* data, size_t size) {
        auto* q = static_cast<Question*>(arg);
        q->answer.found = found;
        if (found) q->answer.value.assign(data, size);
        q->daemon->queue_pmix({{}, 0, 0, {}, {}, nullptr, std::move(q->answer)});
        delete q;
    };
    if (pmix_ != nullptr)
        pmix_->ask(rank, got, question);
    else
        got(question, false, nullptr, 0);
}

} // namespace zipmpi::launch

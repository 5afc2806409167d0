// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// PMIx for the ranks of this node: requests that libpmix cannot answer go through the tree.
#include "launch/noded/daemon.hpp"
#include "launch/noded/load_module.hpp"
#include "launch/protocol/scratch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

// Discards what other code writes to stderr in this scope.
class QuietStderr {
  public:
    QuietStderr()
        : saved_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
        const os::Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
        if (saved_ && null) dup2(null.get(), STDERR_FILENO);
    }
    QuietStderr(const QuietStderr&) = delete;
    QuietStderr& operator=(const QuietStderr&) = delete;
    ~QuietStderr() {
        if (saved_) dup2(saved_.get(), STDERR_FILENO);
    }

  private:
    os::Fd saved_;
};

} // namespace

std::string Daemon::scratch_name() const {
    return network_ ? node_scratch_name(request_.job_id, range_.node) : request_.job_id;
}

void Daemon::start_pmix() {
    setenv("PMIX_MCA_gds", "hash", 0); // the default store reports missing keys on stderr
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
    for (const NodeRun& run : dense_map_.runs()) nodes.insert(nodes.end(), run.ranks, run.node);
    for (uint32_t r = 0; r < request_.world_size; ++r) apps.push_back(request_.app_of(r));
    std::vector<const char*> names;
    for (const uint32_t node : request_.map.nodes())
        names.push_back(is_single_node() ? host_.c_str() : request_.tree.hosts[node].c_str());
    const PmixJob job{request_.job_id.c_str(),
                      file_scratch_.c_str(),
                      request_.world_size,
                      apps.data(),
                      static_cast<uint32_t>(request_.apps.size()),
                      nodes.data(),
                      names.data(),
                      static_cast<uint32_t>(names.size()),
                      node_table().own};
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
    const QuietStderr
        quiet; // on a host without loopback libpmix prints errors, but most programs need no PMIx
    if (module->start(job, on_event, this)) pmix_ = module;
}

// Called on libpmix's thread.
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
    if (t.reply) return route({ControlFrameType::routed, encode(*t.reply)});
    if (t.kind == PmixEvent::Kind::fence) {
        pmix_fences_.push_back(t.cookie);
        pmix_fence_.add_local(t.data);
        return forward_pmix_fence();
    }
    if (t.kind == PmixEvent::Kind::modex) {
        std::vector<void*>& waiting = pmix_pending_gets_[t.rank];
        waiting.push_back(t.cookie);
        if (waiting.size() > 1) return; // one reply serves all
        const RoutedMessage request{RoutedMessage::Kind::get_modex, range_.node, request_.map.node_of(t.rank),
                                    std::to_string(t.rank),         false,       {}};
        return route({ControlFrameType::routed, encode(request)});
    }
    const auto it = std::find_if(ranks_.begin(), ranks_.end(),
                                 [&](const RankProcess& rank) { return rank.world_rank == t.rank; });
    if (it == ranks_.end()) return;
    if (t.kind == PmixEvent::Kind::abort)
        on_abort(static_cast<uint32_t>(it - ranks_.begin()), t.status, t.text);
    else
        it->pmix_initialized = t.kind == PmixEvent::Kind::connected;
}

void Daemon::forward_pmix_fence() {
    if (pmix_fence_.any() && (pmix_fence_.has_local() || live_ranks_ == 0) &&
        pmix_fence_.has_all_children(subtree_))
        parent_.send(ControlFrameType::pmix_fence_in, pmix_fence_.take());
}

void Daemon::pmix_fence_done(std::string_view data) {
    if (pmix_ == nullptr || pmix_fences_.empty()) return;
    pmix_->reply(pmix_fences_.front(), true, data.data(), data.size());
    pmix_fences_.pop_front();
}

void Daemon::on_modex(const RoutedMessage& m) {
    const auto rank = static_cast<uint32_t>(std::strtoul(m.key.c_str(), nullptr, 10));
    if (m.kind == RoutedMessage::Kind::modex_reply) {
        const auto it = pmix_pending_gets_.find(rank);
        if (it == pmix_pending_gets_.end() || pmix_ == nullptr) return;
        const std::vector<void*> waiting = std::move(it->second);
        pmix_pending_gets_.erase(it);
        for (void* cookie : waiting) pmix_->reply(cookie, m.found, m.value.data(), m.value.size());
        return;
    }
    struct ModexQuery {
        Daemon* daemon;
        RoutedMessage reply;
    };
    auto* query =
        new ModexQuery{this, {RoutedMessage::Kind::modex_reply, range_.node, m.from, m.key, false, {}}};
    const auto got = [](void* arg, bool found, const char* data, size_t size) {
        auto* q = static_cast<ModexQuery*>(arg);
        q->reply.found = found;
        if (found) q->reply.value.assign(data, size);
        q->daemon->queue_pmix({{}, 0, 0, {}, {}, nullptr, std::move(q->reply)});
        delete q;
    };
    if (pmix_ != nullptr)
        pmix_->request_modex(rank, got, query);
    else
        got(query, false, nullptr, 0);
}

} // namespace zipmpi::launch

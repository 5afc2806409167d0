// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/pmix_service.hpp"

#include "launch/protocol/scratch.hpp"

#include "os/module_folder.hpp"

#include <climits>
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

const PmixModule* load_pmix_module() {
    const std::string file = pmix_module_file();
    std::string why;
    void* const get = file.empty() ? nullptr : os::load_symbol(file, pmix_module_symbol, why);
    return get == nullptr ? nullptr : reinterpret_cast<GetPmixModule>(get)();
}

} // namespace

// The module is next to the executable (build tree) or in ../lib/zipmpi (installed).
std::string pmix_module_file() {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return {};
    const std::string path(self, static_cast<size_t>(n));
    const std::string dir = path.substr(0, path.rfind('/'));
    for (const auto& where : {dir + "/", dir + "/../" + ZIPMPI_LIB_DIR + "/zipmpi/"})
        if (std::string file = where + "zipmpi_pmix_server.so"; access(file.c_str(), R_OK) == 0) return file;
    return {};
}

PmixService::PmixService(const NodeJob& job, EventLoop& loop, TreeRelay& relay, const RankProcesses& ranks,
                         PmiServer::Abort abort)
    : job_(job)
    , loop_(loop)
    , relay_(relay)
    , ranks_(ranks)
    , abort_(std::move(abort))
    , source_(loop.add_source([this](uint32_t, uint32_t) { serve(); })) {
    relay_.pmix_fence().set_local_exempt([this] { return ranks_.live() == 0; });
}

std::string PmixService::scratch_name() const {
    const std::string& id = job_.request().job_id;
    return job_.is_networked() ? node_scratch_name(id, job_.node()) : id;
}

void PmixService::start() {
    setenv("PMIX_MCA_gds", "hash", 0); // the default store reports missing keys on stderr
    const PmixModule* const module = load_pmix_module();
    if (module == nullptr) return;
    file_scratch_ = make_file_scratch(scratch_name());
    if (file_scratch_.empty()) return;
    memory_scratch_ = make_memory_scratch(scratch_name());
    initialized_.resize(ranks_.size());
    task_event_ = os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    loop_.watch(task_event_.get(), EPOLLIN, source_);
    if (start_module(*module)) module_ = module;
}

bool PmixService::start_module(const PmixModule& module) {
    const StartRequest& request = job_.request();
    if (!request.tree.has_hosts(0, request.tree.nodes())) return false;
    std::vector<uint32_t> apps;
    std::vector<uint32_t> nodes;
    for (const NodeRun& run : job_.dense_map().runs()) nodes.insert(nodes.end(), run.ranks, run.node);
    for (uint32_t r = 0; r < request.world_size; ++r) apps.push_back(request.app_of(r));
    std::vector<const char*> names;
    for (const uint32_t node : request.map.nodes())
        names.push_back(job_.is_single_node() ? job_.host().c_str() : request.tree.host(node).c_str());
    const PmixJob job{request.job_id.c_str(),
                      file_scratch_.c_str(),
                      request.world_size,
                      apps.data(),
                      static_cast<uint32_t>(request.apps.size()),
                      nodes.data(),
                      names.data(),
                      static_cast<uint32_t>(names.size()),
                      job_.node_table().own};
    const QuietStderr
        quiet; // on a host without loopback libpmix prints errors, but most programs need no PMIx
    return module.start(job, *this);
}

void PmixService::add_environment(uint32_t world_rank, std::vector<std::string>& variables) const {
    if (module_ == nullptr || !module_->rank_env(world_rank, variables)) return;
    // Open MPI 4 ignores an unknown launcher and leaves files behind unless configured otherwise.
    variables.emplace_back("OMPI_MCA_schizo=^orte");
    variables.push_back("OMPI_MCA_orte_tmpdir_base=" + file_scratch_);
    if (!memory_scratch_.empty())
        variables.push_back("OMPI_MCA_btl_vader_backing_directory=" + memory_scratch_);
}

void PmixService::on_event(const PmixEvent& e) {
    queue({e.kind,
           e.rank,
           e.status,
           e.text != nullptr ? e.text : "",
           std::string(e.data, e.size),
           e.request,
           {}});
}

// Called on any thread.
void PmixService::queue(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    eventfd_write(task_event_.get(), 1);
}

void PmixService::serve() {
    if (!task_event_) return;
    eventfd_t count = 0;
    eventfd_read(task_event_.get(), &count);
    std::deque<Task> tasks;
    {
        const std::lock_guard lock(mutex_);
        tasks.swap(tasks_);
    }
    for (Task& t : tasks) handle(t);
}

void PmixService::handle(Task& t) {
    if (t.reply) return relay_.send(*t.reply);
    if (t.kind == PmixEvent::Kind::fence) {
        fences_.push_back(t.request);
        return relay_.pmix_fence().enter(t.data);
    }
    if (t.kind == PmixEvent::Kind::modex) return request_modex(t.rank, t.request);
    const std::optional<uint32_t> local = ranks_.find(t.rank);
    if (!local) return;
    if (t.kind == PmixEvent::Kind::abort)
        abort_(*local, t.status, t.text);
    else
        initialized_[*local] = t.kind == PmixEvent::Kind::connected;
}

void PmixService::request_modex(uint32_t rank, PmixRequest* request) {
    std::vector<PmixRequest*>& waiting = pending_gets_[rank];
    waiting.push_back(request);
    if (waiting.size() > 1) return; // one reply serves all
    relay_.send({RoutedMessage::Kind::get_modex,
                 job_.node(),
                 job_.request().map.node_of(rank),
                 std::to_string(rank),
                 false,
                 {}});
}

void PmixService::fence_done(std::string_view data) {
    if (module_ == nullptr || fences_.empty()) return;
    module_->reply(fences_.front(), true, data.data(), data.size());
    fences_.pop_front();
}

void PmixService::deliver(const RoutedMessage& m) {
    const auto rank = static_cast<uint32_t>(std::strtoul(m.key.c_str(), nullptr, 10));
    if (m.kind != RoutedMessage::Kind::modex_reply) return reply_to_node(m, rank);
    const auto it = pending_gets_.find(rank);
    if (it == pending_gets_.end() || module_ == nullptr) return;
    const std::vector<PmixRequest*> waiting = std::move(it->second);
    pending_gets_.erase(it);
    for (PmixRequest* request : waiting) module_->reply(request, m.found, m.value.data(), m.value.size());
}

void PmixService::reply_to_node(const RoutedMessage& request, uint32_t rank) {
    RoutedMessage reply{RoutedMessage::Kind::modex_reply, job_.node(), request.from, request.key, false, {}};
    const auto got = [this, reply](bool found, const char* data, size_t size) {
        Task task{{}, 0, 0, {}, {}, nullptr, reply};
        task.reply->found = found;
        if (found) task.reply->value.assign(data, size);
        queue(std::move(task));
    };
    if (module_ != nullptr)
        module_->request_modex(rank, got);
    else
        relay_.send(reply);
}

void PmixService::remove_scratch_directories() const {
    if (!file_scratch_.empty()) remove_scratch(scratch_name());
}

} // namespace zipmpi::launch

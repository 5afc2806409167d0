// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/stack_reader.hpp"

#include "launch/mpiexec/executable.hpp"
#include "launch/noded/output_forwarder.hpp"
#include "launch/noded/process_spawn.hpp"
#include "launch/protocol/deadline.hpp"
#include "launch/report/report_text.hpp"

#include "os/arguments.hpp"
#include "os/clock.hpp"
#include "os/process_status.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>

namespace zipmpi::launch {
namespace {

constexpr size_t most_ranks = 64;
constexpr size_t most_bytes = 4U << 20;            // of output
constexpr uint64_t time_to_detach = 1'000'000'000; // of a tool that was killed
constexpr const char* stack_depth = "64";          // per thread

// One gdb attaches to all processes in turn: it reads symbols once. Nothing of the user's configuration or of
// the program is executed in it.
std::vector<std::string> gdb_command(const std::vector<pid_t>& pids) {
    std::vector<std::string> words = {"gdb",  "-nx",
                                      "-q",   "-batch",
                                      "-iex", "set debuginfod enabled off",
                                      "-iex", "set auto-load off",
                                      "-ex",  "set print frame-arguments none"};
    for (const pid_t pid : pids)
        for (const std::string& command :
             {"echo \\n" + std::string(process_mark) + std::to_string(pid) + "\\n",
              "attach " + std::to_string(pid), std::string("thread apply all backtrace ") + stack_depth,
              std::string("detach")}) {
            words.emplace_back("-ex");
            words.push_back(command);
        }
    return words;
}

std::vector<std::string> eu_stack_command(const std::vector<pid_t>& pids) {
    const std::string script = "for pid; do echo; echo \"" + std::string(process_mark) +
                               "$pid\"; eu-stack -m -s -n " + stack_depth + " -p \"$pid\"; done";
    std::vector<std::string> words = {"sh", "-c", script, "sh"};
    for (const pid_t pid : pids) words.push_back(std::to_string(pid));
    return words;
}

std::string find_tool(const std::string& name) {
    std::string path;
    Diagnostic why;
    int exit_code = 0;
    return find_program(name, {}, path, why, exit_code) ? path : std::string();
}

} // namespace

StackReader::StackReader(const NodeJob& job, EventLoop& loop, ParentLink& parent, const RankProcesses& ranks)
    : job_(job)
    , loop_(loop)
    , parent_(parent)
    , ranks_(ranks)
    , source_(loop.add_source([this](uint32_t, uint32_t) { on_readable(); })) {}

void StackReader::on_request(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t id = r.u32();
    const uint32_t seconds = r.u32();
    if (!r.is_finished() || pipe_ || ranks_.empty()) return;
    id_ = id;
    result_ = {};
    text_.clear();
    choose_ranks();
    deadline_ = os::now_ns() + uint64_t{seconds} * 1'000'000'000;
    for (const char* name : {"gdb", "eu-stack"})
        if (const std::string path = find_tool(name); !path.empty() && start_tool(name, path)) return;
    finish();
}

// The process that has called MPI_Init, if it is the started process or a descendant, for example of a
// script.
pid_t StackReader::process_of(uint32_t local) const {
    const pid_t started = ranks_[local].pid;
    const pid_t named = job_.segment().block(local).pid.load(std::memory_order_relaxed);
    if (named <= 0 || named == started) return started;
    return os::descends_from(named, started) ? named : started;
}

// Ranks in different states first: the odd one out is of most interest.
void StackReader::choose_ranks() {
    std::map<std::string, std::vector<uint32_t>> by_state;
    const Snapshot snapshot = ranks_.snapshot(job_.segment());
    for (uint32_t i = 0; i < snapshot.size(); ++i)
        if (ranks_[i].live) by_state[state_text(snapshot[i])].push_back(i);
    pids_.clear();
    traced_.clear();
    for (size_t turn = 0; !by_state.empty(); ++turn) {
        for (const auto& [state, locals] : by_state) {
            if (turn >= locals.size()) continue;
            const int rank = static_cast<int>(ranks_[locals[turn]].world_rank);
            const pid_t pid = pids_.size() < most_ranks ? process_of(locals[turn]) : 0;
            if (pid == 0 || os::process_status(pid).state == 'T') {
                result_.unread.push_back(rank);
                continue;
            }
            pids_.push_back(pid);
            traced_[pid] = {rank, snapshot[locals[turn]].function};
        }
        std::erase_if(by_state, [turn](const auto& s) { return turn + 1 >= s.second.size(); });
    }
}

bool StackReader::start_tool(const std::string& name, const std::string& path) {
    os::Fd output;
    const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!OutputForwarder::make_pipe(pipe_, output)) return false;
    const bool with_gdb = name == "gdb";
    std::vector<std::string> words = with_gdb ? gdb_command(pids_) : eu_stack_command(pids_);
    const std::vector<char*> argv = os::pointers_to(words);
    SpawnArgs plan;
    plan.path = with_gdb ? path.c_str() : "/bin/sh";
    plan.argv = argv.data();
    plan.envp = environ;
    plan.stdio[0] = null.get();
    plan.stdio[1] = plan.stdio[2] = output.get();
    getrlimit(RLIMIT_NOFILE, &plan.open_files);
    plan.ignored = ignored_signals();
    const char* step = nullptr;
    tool_ = spawn(plan, step);
    if (tool_ < 0) {
        pipe_.reset();
        return false;
    }
    result_.tool = name;
    loop_.watch(pipe_.get(), EPOLLIN, source_);
    return true;
}

void StackReader::on_readable() {
    char bytes[1U << 16];
    while (pipe_) {
        const ssize_t n = read(pipe_.get(), bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) return finish();
        text_.append(bytes, static_cast<size_t>(n));
        if (text_.size() > most_bytes) deadline_ = 1; // now
    }
}

void StackReader::on_time(uint64_t now) {
    if (pipe_ && take_due(deadline_, now)) {
        kill(-tool_, SIGKILL); // its group: it holds the pipe, so the number is not that of another group
        continue_at_ = now + time_to_detach;
        finish();
    }
    if (take_due(continue_at_, now)) continue_stopped_ranks();
}

uint64_t StackReader::next_time() const { return earliest({pipe_ ? deadline_ : 0, continue_at_}); }

void StackReader::finish() {
    if (pipe_) loop_.unwatch(pipe_.get());
    pipe_.reset();
    HostStacks found = parse_stacks(text_, traced_);
    found.host = job_.host_in_job();
    found.tool = result_.tool;
    found.unread.insert(found.unread.end(), result_.unread.begin(), result_.unread.end());
    PayloadWriter w;
    parent_.send(ControlFrameType::stacks, w.u32(id_).u32(job_.node()).take() + encode(found));
}

// A debugger that was killed while it attached may leave a process stopped.
void StackReader::continue_stopped_ranks() {
    for (const pid_t pid : pids_)
        if (os::process_status(pid).state == 'T') kill(pid, SIGCONT);
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The standard streams of the ranks: forwards their output to mpiexec and to files, and the input of mpiexec
// to them.
#include "launch/noded/daemon.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t read_at_once = 64U << 10;
constexpr size_t stdio_block = 4096; // write size of the C library when its buffer is full
constexpr uint64_t prompt_delay = 100'000'000;
constexpr uint64_t pipe_drain_timeout = 1'000'000'000; // ns that a process outside the job may hold a pipe

} // namespace

// Before any rank starts: a file that cannot be created ends the job early.
bool Daemon::prepare_streams(uint32_t local, Diagnostic& why) {
    RankProcess& r = ranks_[local];
    const OutputPolicy& policy = request_.output;
    const std::string host = is_single_node() ? host_ : request_.tree.hosts[range_.node];
    const PatternValues values{r.world_rank, request_.world_size, range_.node, host};
    for (int s = 0; s < 2; ++s) {
        const auto stream = static_cast<size_t>(s);
        r.lines[stream] = LineSplitter(prefix_of(policy, values, s));
        std::string path;
        expand(s == 0 ? policy.out_file : policy.err_file, values, path);
        if (path.empty() || (s == 1 && policy.merge_stderr_to_stdout)) continue;
        r.file[stream] = files_.open(path, why);
        if (r.file[stream] == OutputFiles::none) return false;
    }
    return true;
}

void Daemon::on_outputs() {
    epoll_event events[64];
    const int n = epoll_wait(output_epoll_.get(), events, 64, 0);
    for (int i = 0; i < n; ++i) {
        const auto source = static_cast<Source>(events[i].data.u64 >> 32);
        read_output(static_cast<uint32_t>(events[i].data.u64), source == Source::out ? 0 : 1);
    }
}

// One read; returns false if no data was available.
bool Daemon::read_output(uint32_t local, int stream) {
    static char buffer[read_at_once];
    Process& r = process(local);
    if (!r.pipe[stream]) return false;
    const ssize_t n = read(r.pipe[stream].get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
        send_output(stream, local, r.lines[stream].flush());
        r.pipe[stream].reset();
        --open_pipes_;
        return false;
    }
    send_output(stream, local, r.lines[stream].feed({buffer, static_cast<size_t>(n)}));
    const bool may_prompt = is_rank(local) && request_.flush_prompts && reads_stdin(ranks_[local].world_rank);
    if (may_prompt && !input_.ended() && r.lines[stream].pending() && n % stdio_block != 0)
        prompt_at_ = os::now_ns() + prompt_delay;
    if (phase_ == Phase::draining) drain_deadline_ = os::now_ns() + pipe_drain_timeout;
    return true;
}

// Writes to the file of the stream, if it has one. Returns the text for the terminal.
std::string_view Daemon::write_to_file(int stream, uint32_t local, std::string_view text) {
    const int file = process(local).file[stream];
    if (!files_.is_open(file)) return text;
    Diagnostic why;
    std::string_view left = text;
    if (files_.write(file, left, why)) return request_.output.copy_to_terminal ? text : std::string_view();
    PayloadWriter w;
    parent_.send(ControlFrameType::output, w.u32(2).u32(no_rank).take() + format(why, "mpiexec"));
    return request_.output.copy_to_terminal ? text : left;
}

void Daemon::send_output(int stream, uint32_t local, std::string_view text) {
    const std::string_view remaining = write_to_file(stream, local, text);
    if (remaining.empty()) return;
    PayloadWriter w;
    w.u32(static_cast<uint32_t>(stream + 1)).u32(is_rank(local) ? ranks_[local].world_rank : no_rank);
    std::string frame = w.take();
    int& open = open_line_[stream];
    if (request_.output.label != OutputPolicy::Label::fold && open >= 0 && open != static_cast<int>(local)) {
        frame += '\n'; // do not continue another rank's prompt
        process(static_cast<uint32_t>(open)).lines[stream].begin_new_line();
    }
    open = process(local).lines[stream].mid_line() ? static_cast<int>(local) : -1;
    parent_.send(ControlFrameType::output, frame.append(remaining));
}

void Daemon::flush_prompt() {
    for (uint32_t local = 0; local < ranks_.size(); ++local)
        for (int s = 0; s < 2; ++s)
            if (reads_stdin(ranks_[local].world_rank)) send_output(s, local, ranks_[local].lines[s].flush());
}

bool Daemon::reads_stdin(uint32_t rank) const {
    if (!request_.stdin_open || request_.output.stdin_for == OutputPolicy::Stdin::none) return false;
    return request_.output.stdin_for == OutputPolicy::Stdin::all || rank == request_.output.stdin_rank;
}

// Reading ranks may be on nodes below this one.
void Daemon::on_stdin(const ControlFrame& f) {
    if (request_.map.size() > 0 && request_.output.stdin_for == OutputPolicy::Stdin::one) {
        const uint32_t node = request_.map.node_of(request_.output.stdin_rank);
        if (node != range_.node && subtree_.send_to_node(node, f.type, f.payload)) return;
    } else {
        subtree_.send_all(f.type, f.payload);
    }
    if (f.type == ControlFrameType::stdin_end)
        input_.end();
    else
        input_.add(f.payload);
    feed_stdin();
}

void Daemon::feed_stdin() {
    if (const size_t taken = input_.write_some(); taken > 0) {
        PayloadWriter w;
        parent_.send(ControlFrameType::stdin_consumed, w.u32(range_.node).u64(taken).take());
    }
    for (uint32_t i = 0; i < input_.readers(); ++i)
        if (input_.fd(i) >= 0)
            watch(epoll_.get(), input_.fd(i), input_.has_backlog(i) ? EPOLLOUT : 0U, Source::rank_stdin, i);
    if (input_.has_readers() || stdin_closed_) return;
    stdin_closed_ = true;
    PayloadWriter w;
    parent_.send(ControlFrameType::stdin_closed, w.u32(range_.node).take());
}

void Daemon::send_exit_codes() {
    std::vector<uint32_t> codes;
    for (const RankProcess& r : ranks_)
        if (r.pid > 0)
            codes.push_back(static_cast<uint32_t>(WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status)
                                                                        : WEXITSTATUS(r.status)));
    PayloadWriter w;
    parent_.send(ControlFrameType::exit_codes, w.u32(range_.node).text(host_).numbers(codes).take());
}

} // namespace zipmpi::launch

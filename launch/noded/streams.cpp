// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The standard streams of the ranks: what they write goes to mpiexec and to files, what mpiexec reads goes to
// them.
#include "launch/noded/daemon.hpp"

#include "os/clock.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t read_at_once = 64U << 10;
constexpr size_t stdio_block = 4096; // what the C library writes at once when its buffer is full
constexpr uint64_t prompt_delay = 100'000'000;
constexpr uint64_t last_words = 1'000'000'000; // how long somebody outside the job may hold a pipe

} // namespace

// Before any rank starts: a file that cannot be made ends the job early.
bool Daemon::prepare_streams(uint32_t local, Problem& why) {
    Rank& r = ranks_[local];
    const OutputPolicy& policy = request_.output;
    const std::string host = alone() ? host_ : request_.tree.hosts[place_.node];
    const PatternFacts facts{r.world, request_.world_size, place_.node, host};
    for (int s = 0; s < 2; ++s) {
        const auto stream = static_cast<size_t>(s);
        r.lines[stream] = LineCutter(prefix_of(policy, facts, s));
        std::string path;
        expand(s == 0 ? policy.out_file : policy.err_file, facts, path);
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

// One read; false if there was nothing.
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
    const bool may_ask = is_rank(local) && request_.flush_prompts && reads_stdin(ranks_[local].world);
    if (may_ask && !input_.ended() && r.lines[stream].pending() && n % stdio_block != 0)
        prompt_at_ = os::now_ns() + prompt_delay;
    if (phase_ == Phase::draining) give_up_at_ = os::now_ns() + last_words;
    return true;
}

// Writes to the file of the stream, if it has one. Returns what the terminal gets.
std::string_view Daemon::to_file(int stream, uint32_t local, std::string_view text) {
    const int file = process(local).file[stream];
    if (!files_.is_open(file)) return text;
    Problem why;
    std::string_view left = text;
    if (files_.write(file, left, why)) return request_.output.copy_to_terminal ? text : std::string_view();
    Writer w;
    channel_.send(FrameType::output, w.u32(2).u32(no_rank).take() + format(why, "mpiexec"));
    return request_.output.copy_to_terminal ? text : left;
}

void Daemon::send_output(int stream, uint32_t local, std::string_view text) {
    const std::string_view shown = to_file(stream, local, text);
    if (shown.empty()) return;
    Writer w;
    w.u32(static_cast<uint32_t>(stream + 1)).u32(is_rank(local) ? ranks_[local].world : no_rank);
    std::string frame = w.take();
    int& open = open_line_[stream];
    if (request_.output.label != OutputPolicy::Label::fold && open >= 0 && open != static_cast<int>(local)) {
        frame += '\n'; // do not write behind another rank's prompt
        process(static_cast<uint32_t>(open)).lines[stream].line_was_broken();
    }
    open = process(local).lines[stream].mid_line() ? static_cast<int>(local) : -1;
    channel_.send(FrameType::output, frame.append(shown));
}

void Daemon::flush_prompt() {
    for (uint32_t local = 0; local < ranks_.size(); ++local)
        for (int s = 0; s < 2; ++s)
            if (reads_stdin(ranks_[local].world)) send_output(s, local, ranks_[local].lines[s].flush());
}

bool Daemon::reads_stdin(uint32_t rank) const {
    if (!request_.stdin_open || request_.output.stdin_for == OutputPolicy::Stdin::none) return false;
    return request_.output.stdin_for == OutputPolicy::Stdin::all || rank == request_.output.stdin_rank;
}

// The ranks that read may live on nodes below this one.
void Daemon::on_stdin(const Frame& f) {
    if (request_.map.size() > 0 && request_.output.stdin_for == OutputPolicy::Stdin::one) {
        const uint32_t node = request_.map.node_of(request_.output.stdin_rank);
        if (node != place_.node && below_.send_to_node(node, f.type, f.payload)) return;
    } else {
        below_.send_all(f.type, f.payload);
    }
    if (f.type == FrameType::stdin_end)
        input_.end();
    else
        input_.add(f.payload);
    feed_stdin();
}

void Daemon::feed_stdin() {
    if (const size_t taken = input_.write_some(); taken > 0) {
        Writer w;
        channel_.send(FrameType::stdin_taken, w.u32(place_.node).u64(taken).take());
    }
    for (uint32_t i = 0; i < input_.readers(); ++i)
        if (input_.fd(i) >= 0)
            watch(epoll_.get(), input_.fd(i), input_.behind(i) ? EPOLLOUT : 0U, Source::rank_stdin, i);
    if (input_.anybody_reads() || stdin_closed_) return;
    stdin_closed_ = true;
    Writer w;
    channel_.send(FrameType::stdin_closed, w.u32(place_.node).take());
}

void Daemon::send_exit_codes() {
    std::vector<uint32_t> codes;
    for (const Rank& r : ranks_)
        if (r.pid > 0)
            codes.push_back(static_cast<uint32_t>(WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status)
                                                                        : WEXITSTATUS(r.status)));
    Writer w;
    channel_.send(FrameType::exit_codes, w.u32(place_.node).text(host_).numbers(codes).take());
}

} // namespace zipmpi::launch

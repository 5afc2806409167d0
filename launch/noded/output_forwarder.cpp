// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/output_forwarder.hpp"

#include "launch/protocol/deadline.hpp"
#include "os/clock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t read_at_once = 64U << 10;
constexpr size_t stdio_block = 4096; // write size of the C library when its buffer is full
constexpr uint64_t prompt_delay = 100'000'000;

} // namespace

OutputForwarder::OutputForwarder(const NodeJob& job, EventLoop& loop, ParentLink& parent,
                                 JobLifecycle& lifecycle, const StdinForwarder& input)
    : job_(job)
    , loop_(loop)
    , parent_(parent)
    , lifecycle_(lifecycle)
    , input_(input)
    , source_(loop.add_source([this](uint32_t, uint32_t) { pipe_loop_.wait(0); }))
    , pipe_sources_{pipe_loop_.add_source([this](uint32_t client, uint32_t) { read_once(client, 0); }),
                    pipe_loop_.add_source([this](uint32_t client, uint32_t) { read_once(client, 1); })}
    , files_(job.host()) {
    loop_.watch(pipe_loop_.fd(), EPOLLIN, source_);
}

bool OutputForwarder::begin(uint32_t gateways, Diagnostic& why) {
    clients_.resize(job_.ranks() + gateways);
    if (!job_.is_single_node()) files_.share_with_hosts(job_.request().job_id);
    for (uint32_t local = 0; local < job_.ranks(); ++local)
        if (!prepare_rank(local, why)) return false;
    return true;
}

bool OutputForwarder::prepare_rank(uint32_t local, Diagnostic& why) {
    ClientOutput& c = clients_[local];
    const OutputPolicy& policy = job_.request().output;
    const PatternValues values{job_.local_ranks()[local], job_.request().world_size, job_.node(),
                               job_.host_in_job()};
    for (size_t s = 0; s < streams; ++s) {
        c.lines[s] = LineSplitter(prefix_of(policy, values, static_cast<int>(s)));
        std::string path;
        expand(s == 0 ? policy.out_file : policy.err_file, values, path);
        if (path.empty() || (s == 1 && policy.merge_stderr_to_stdout)) continue;
        c.file[s] = files_.open(path, why);
        if (c.file[s] == OutputFiles::none) return false;
    }
    return true;
}

uint32_t OutputForwarder::pipes_per_rank() const {
    return job_.request().output.merge_stderr_to_stdout ? 1 : 2;
}

bool OutputForwarder::make_pipe(os::Fd& read_end, os::Fd& write_end) {
    int p[2];
    if (pipe2(p, O_CLOEXEC) != 0) return false;
    read_end.reset(p[0]);
    write_end.reset(p[1]);
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    return true;
}

void OutputForwarder::add_pipe(uint32_t client, OutputStream stream, os::Fd read_end) {
    const auto s = static_cast<size_t>(stream);
    Pipe& pipe = clients_[client].pipe[s];
    if (pipe) // a process outside the job holds the earlier one
        close_pipe(pipe);
    else
        ++open_pipes_;
    const auto watch = [&](int fd) -> ssize_t {
        pipe_loop_.watch(fd, EPOLLIN, pipe_sources_[s], client);
        return fd;
    };
    if (second_.exists()) pipe.apart = static_cast<int>(second_.run(watch, read_end.get()));
    if (pipe.apart >= 0) return;
    watch(read_end.get());
    pipe.own = std::move(read_end);
}

ssize_t OutputForwarder::read_pipe(const Pipe& pipe, char* buffer, size_t size) {
    if (pipe.apart < 0) return read(pipe.own.get(), buffer, size);
    return second_.run([&](int) { return read(pipe.apart, buffer, size); });
}

void OutputForwarder::close_pipe(Pipe& pipe) {
    if (pipe.apart >= 0) second_.run([&](int) { return close(pipe.apart); });
    pipe.apart = -1;
    pipe.own.reset();
}

void OutputForwarder::add_gateway_pipe(uint32_t client, os::Fd read_end) {
    clients_[client].lines[1] = LineSplitter();
    add_pipe(client, OutputStream::err, std::move(read_end));
}

void OutputForwarder::read_all(uint32_t client, OutputStream stream) {
    while (read_once(client, static_cast<size_t>(stream))) {
    }
}

// One read; returns false if no data was available.
bool OutputForwarder::read_once(uint32_t client, size_t stream) {
    static char buffer[read_at_once];
    ClientOutput& c = clients_[client];
    if (!c.pipe[stream]) return false;
    const ssize_t n = read_pipe(c.pipe[stream], buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
        send(stream, client, c.lines[stream].flush());
        close_pipe(c.pipe[stream]);
        --open_pipes_;
        return false;
    }
    send(stream, client, c.lines[stream].feed({buffer, static_cast<size_t>(n)}));
    const bool may_prompt = job_.is_rank(client) && job_.request().flush_prompts &&
                            input_.reads_stdin(job_.local_ranks()[client]);
    if (may_prompt && !input_.has_ended() && c.lines[stream].pending() && n % stdio_block != 0)
        prompt_at_ = os::now_ns() + prompt_delay;
    if (lifecycle_.is_draining()) lifecycle_.extend_drain();
    return true;
}

// Writes to the file of the stream, if it has one. Returns the text for the terminal.
std::string_view OutputForwarder::write_to_file(size_t stream, uint32_t client, std::string_view text) {
    const int file = clients_[client].file[stream];
    if (!files_.is_open(file)) return text;
    const bool copies = job_.request().output.copy_to_terminal;
    Diagnostic why;
    std::string_view left = text;
    if (files_.write(file, left, why)) return copies ? text : std::string_view();
    parent_.send_diagnostic(format(why, "mpiexec"));
    return copies ? text : left;
}

void OutputForwarder::send(size_t stream, uint32_t client, std::string_view text) {
    const std::string_view remaining = write_to_file(stream, client, text);
    if (remaining.empty()) return;
    PayloadWriter w;
    w.u32(static_cast<uint32_t>(stream + 1)).u32(job_.is_rank(client) ? job_.local_ranks()[client] : no_rank);
    std::string frame = w.take();
    int& open = open_line_[stream];
    if (job_.request().output.label != OutputPolicy::Label::fold && open >= 0 &&
        open != static_cast<int>(client)) {
        frame += '\n'; // do not continue another rank's prompt
        clients_[static_cast<uint32_t>(open)].lines[stream].begin_new_line();
    }
    open = clients_[client].lines[stream].mid_line() ? static_cast<int>(client) : -1;
    parent_.send(ControlFrameType::output, frame.append(remaining));
}

void OutputForwarder::on_time(uint64_t now) {
    if (take_due(prompt_at_, now)) flush_prompts();
}

void OutputForwarder::flush_prompts() {
    for (uint32_t local = 0; local < job_.ranks(); ++local)
        for (size_t s = 0; s < streams; ++s)
            if (input_.reads_stdin(job_.local_ranks()[local]))
                send(s, local, clients_[local].lines[s].flush());
}

void OutputForwarder::close_pipes() {
    for (uint32_t i = 0; i < clients_.size(); ++i)
        for (size_t s = 0; s < streams; ++s) {
            if (!clients_[i].pipe[s]) continue;
            send(s, i, clients_[i].lines[s].flush());
            close_pipe(clients_[i].pipe[s]);
        }
    open_pipes_ = 0;
}

void OutputForwarder::pause() {
    loop_.unwatch(pipe_loop_.fd());
    paused_ = true;
}

void OutputForwarder::resume() {
    loop_.watch(pipe_loop_.fd(), EPOLLIN, source_);
    paused_ = false;
}

} // namespace zipmpi::launch

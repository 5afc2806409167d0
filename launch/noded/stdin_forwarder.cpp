// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/stdin_forwarder.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace zipmpi::launch {

StdinForwarder::StdinForwarder(const NodeJob& job, EventLoop& loop, ParentLink& parent, Subtree& subtree)
    : job_(job)
    , loop_(loop)
    , parent_(parent)
    , subtree_(subtree)
    , source_(loop.add_source([this](uint32_t reader, uint32_t events) {
        if ((events & EPOLLERR) != 0) input_.drop(reader);
        feed();
    })) {}

bool StdinForwarder::reads_stdin(uint32_t world_rank) const {
    const StartRequest& request = job_.request();
    if (!request.stdin_open || request.output.stdin_for == OutputPolicy::Stdin::none) return false;
    return request.output.stdin_for == OutputPolicy::Stdin::all || world_rank == request.output.stdin_rank;
}

os::Fd StdinForwarder::open_reader() {
    int p[2];
    if (pipe2(p, O_CLOEXEC) != 0) return os::Fd();
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    loop_.watch(p[1], 0, source_, input_.add_reader(os::Fd(p[1])));
    return os::Fd(p[0]);
}

// Reading ranks may be on nodes below this one.
void StdinForwarder::on_frame(const ControlFrame& f) {
    const StartRequest& request = job_.request();
    if (request.map.size() > 0 && request.output.stdin_for == OutputPolicy::Stdin::one) {
        const uint32_t node = request.map.node_of(request.output.stdin_rank);
        if (node != job_.node() && subtree_.send_to_node(node, f.type, f.payload)) return;
    } else {
        subtree_.send_all(f.type, f.payload);
    }
    if (f.type == ControlFrameType::stdin_end)
        input_.end();
    else
        input_.add(f.payload);
    feed();
}

void StdinForwarder::feed() {
    if (const size_t taken = input_.write_some(); taken > 0) {
        PayloadWriter w;
        parent_.send(ControlFrameType::stdin_consumed, w.u32(job_.node()).u64(taken).take());
    }
    for (uint32_t i = 0; i < input_.readers(); ++i)
        if (input_.fd(i) >= 0) loop_.watch(input_.fd(i), input_.has_backlog(i) ? EPOLLOUT : 0U, source_, i);
    if (input_.has_readers() || closed_) return;
    closed_ = true;
    PayloadWriter w;
    parent_.send(ControlFrameType::stdin_closed, w.u32(job_.node()).take());
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank without the library: attaches to the node segment of mpiexec, writes its flight recorder as the
// library does, and then acts according to its argument.
#include "base/recorder.hpp"
#include "os/clock.hpp"
#include "segment/node_segment.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace zipmpi;

namespace {

constexpr uint32_t some_function = 1;
constexpr uint32_t world_context = 1;

int number(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? -1 : std::atoi(text);
}

void wait_in_receive(Recorder& r, int from, int tag) {
    record_enter(r, some_function, from, tag, world_context);
    WaitRecord& w = r.waits[0];
    w.kind = static_cast<uint32_t>(WaitKind::recv);
    w.peer = from;
    w.world_peer = from;
    w.tag = tag;
    w.context = world_context;
    r.wait_count = 1;
    r.asleep_since_ns = os::now_ns();
    r.asleep = 1;
}

void send_abort(int code) {
    char line[64];
    const int n = std::snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    if (write(number("PMI_FD"), line, static_cast<size_t>(n)) != n) std::exit(99);
    pause();
}

} // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    segment::NodeSegment segment;
    Diagnostic why;
    if (!segment::NodeSegment::attach(os::Fd(number("ZIPMPI_NODE_FD")), segment, why)) {
        report(why);
        return 98;
    }
    const int rank = number("PMI_RANK");
    const int size = number("PMI_SIZE");
    wire::RankBlock& block = segment.block(static_cast<uint32_t>(number("ZIPMPI_LOCAL_INDEX")));
    block.pid = getpid();
    block.state = static_cast<uint32_t>(wire::RankState::running);
    record_comm_name(block.recorder, world_context, "MPI_COMM_WORLD");
    if (std::strcmp(what, "circle") == 0) {
        wait_in_receive(block.recorder, (rank + 1) % size, 7);
        sleep(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 60);
        block.recorder.asleep = 0;
        record_leave(block.recorder);
    } else if (std::strcmp(what, "die-in-call") == 0) {
        if (rank == 1) {
            record_enter(block.recorder, some_function, 0, 5, world_context);
            signal(SIGSEGV, SIG_DFL); // a sanitizer would handle it
            raise(SIGSEGV);
        }
        sleep(60);
    } else if (std::strcmp(what, "no-finalize") == 0) {
        if (rank == 1) return 0;
        sleep(60);
    } else if (std::strcmp(what, "abort") == 0) {
        if (rank == 1) {
            block.abort_code = 7;
            block.state = static_cast<uint32_t>(wire::RankState::aborted);
            send_abort(7);
        }
        sleep(60);
    } else if (std::strcmp(what, "reported-abort") == 0) { // as if the library had printed its message
        std::snprintf(block.recorder.abort_text, sizeof block.recorder.abort_text, "reported");
        block.abort_code = 0;
        block.state = static_cast<uint32_t>(wire::RankState::aborted);
        return 5;
    }
    block.state = static_cast<uint32_t>(wire::RankState::finalized);
    return 0;
}

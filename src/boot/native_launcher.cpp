// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/native_launcher.hpp"

#include "boot/local_diagnostic.hpp"
#include "boot/pmi_client.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::boot {
namespace {

const char* const inherited_remedy =
    "start the program directly with mpiexec; if an MPI program started it as a child process, remove "
    "ZIPMPI_NODE_FD and PMI_FD from its environment";

// A debugger that started mpiexec looks at all processes first: the pipe ends when it has seen them.
void wait_for_debugger() {
    const char* const fd = std::getenv("ZIPMPI_HOLD_FD");
    if (fd == nullptr) return;
    const os::Fd held(std::atoi(fd));
    unsetenv("ZIPMPI_HOLD_FD");
    char nothing = 0;
    while (read(held.get(), &nothing, 1) < 0 && errno == EINTR) {
    }
}

bool segment_matches(const Detection& found, const segment::NodeSegment& segment) {
    const auto index = static_cast<uint32_t>(found.local_index);
    const auto& header = segment.header();
    const size_t compared = sizeof header.job_id - 1; // longer names are truncated in the header
    return index < segment.local_ranks() && segment.world_rank(index) == found.rank &&
           header.world_size == static_cast<uint32_t>(found.size) &&
           std::strncmp(header.job_id, found.job_id.c_str(), compared) == 0;
}

} // namespace

bool NativeLauncher::open(const Detection& found, Job& job, Diagnostic& why) {
    const auto refuse = [&](const std::string& reason) {
        why = rank_diagnostic(found.rank, found.size, "the descriptors inherited from mpiexec cannot be used",
                              reason, inherited_remedy);
        return false;
    };
    // The inherited descriptor stays open, close-on-exec, for a second start in this process.
    os::Fd node(fcntl(found.node_fd, F_DUPFD_CLOEXEC, 3));
    if (!node || fcntl(found.node_fd, F_SETFD, FD_CLOEXEC) != 0)
        return refuse("ZIPMPI_NODE_FD=" + std::to_string(found.node_fd) +
                      " is not an open descriptor: " + std::strerror(errno));
    if (fcntl(found.pmi_fd, F_SETFD, FD_CLOEXEC) != 0)
        return refuse("PMI_FD=" + std::to_string(found.pmi_fd) +
                      " is not an open descriptor: " + std::strerror(errno));
    auto launcher = std::make_unique<NativeLauncher>();
    if (!segment::NodeSegment::attach(std::move(node), launcher->segment_, why)) return false;
    if (!segment_matches(found, launcher->segment_))
        return refuse("the environment (rank " + std::to_string(found.rank) + " of " +
                      std::to_string(found.size) + ", local index " + std::to_string(found.local_index) +
                      ", job " + found.job_id + ") does not match the inherited memory");
    wait_for_debugger();
    launcher->pmi_fd_ = found.pmi_fd;
    launcher->rank_ = job.rank = found.rank;
    launcher->size_ = job.size = found.size;
    job.id = found.job_id;
    job.local_index = found.local_index;
    job.app_number = found.app_number;
    job.universe_size = found.size;
    job.launcher = std::move(launcher);
    return true;
}

Launcher* NativeLauncher::connection() {
    if (!pmi_) {
        PmiIdentity me;
        me.rank = rank_;
        me.size = size_;
        me.native = true;
        std::string why;
        pmi_ = open_pmi(pmi_fd_, false, me, why);
    }
    return pmi_.get();
}

bool NativeLauncher::put(std::string_view key, std::string_view value) {
    Launcher* c = connection();
    return c != nullptr && c->put(key, value);
}
bool NativeLauncher::get(int from_rank, std::string_view key, std::string& value) {
    Launcher* c = connection();
    return c != nullptr && c->get(from_rank, key, value);
}
bool NativeLauncher::fence() {
    Launcher* c = connection();
    return c != nullptr && c->fence();
}
void NativeLauncher::abort(int exit_code, std::string_view text) {
    if (Launcher* c = connection()) c->abort(exit_code, text);
}
bool NativeLauncher::notify(std::string_view message) {
    Launcher* c = connection();
    return c != nullptr && c->notify(message);
}
void NativeLauncher::finalize() {
    if (pmi_) pmi_->finalize();
}

} // namespace zipmpi::boot

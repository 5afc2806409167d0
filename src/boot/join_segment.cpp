// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks of a node come to share one segment under a launcher that knows nothing of it: the first rank
// of the node makes it and waits at an abstract socket; the socket's name is the only thing exchanged through
// the launcher. One put per node, one fence, one get per further rank.
#include "base/hex.hpp"
#include "boot/job.hpp"
#include "boot/mpiexec.hpp"
#include "boot/problem_here.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"
#include "os/socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace zipmpi::boot {
namespace {

const char* const socket_key = "segment";
const char* const key_key = "key";
const char* const leader_failed = "none"; // in place of a name, so that the others do not wait
constexpr int meeting_limit_ms = 60'000;
constexpr int introduction_limit_ms = 5'000; // from connecting to saying one's rank

struct Introduction { // first bytes from a rank that has connected
    uint32_t rank;
};

std::string unguessable_name() {
    unsigned char bits[16];
    if (!os::fill_random(bits, sizeof bits)) return {};
    return "zipmpi-" + hex_of(bits, sizeof bits);
}

Problem not_met(const Job& job, const std::string& reason, const std::string& todo) {
    return problem_of_rank(job.rank, job.size, "the ranks of this host cannot share memory", reason, todo);
}

std::string list_of(const std::vector<int>& ranks) {
    std::string s;
    for (size_t i = 0; i < ranks.size() && i < 16; ++i) s += (i != 0 ? ", " : "") + std::to_string(ranks[i]);
    return ranks.size() > 16 ? s + " and " + std::to_string(ranks.size() - 16) + " more" : s;
}

bool spans_hosts(const Job& job) { return static_cast<int>(job.node_ranks.size()) != job.size; }

// The key by which the ranks of a job on several hosts know each other: made by rank 0, spread by the
// launcher, which only the job can ask.
bool offer_key(const Job& job) {
    std::array<uint8_t, wire::job_key_bytes> key{};
    return os::fill_random(key.data(), key.size()) &&
           job.launcher->put(key_key, hex_of(key.data(), key.size()));
}

bool fetch_key(const Job& job, const NodeSegment& segment) {
    std::string text;
    std::string bytes;
    std::array<uint8_t, wire::job_key_bytes> key{};
    if (!job.launcher->get(0, key_key, text) || !from_hex(text, bytes) || bytes.size() != key.size())
        return false;
    std::memcpy(key.data(), bytes.data(), key.size());
    segment.set_job_key(key);
    return true;
}

// Gives the segment to every other rank of the node, in the order in which they come, and finds out which
// CPUs they have together: a launcher that binds leaves each of them one.
bool hand_out(const Job& job, int listener, const NodeSegment& segment, Problem& why) {
    os::CpuUnion cpus;
    cpus.add(0);
    std::vector<int> missing(job.node_ranks.begin() + 1, job.node_ranks.end());
    const uint64_t deadline = os::now_ns() + uint64_t{meeting_limit_ms} * 1'000'000;
    while (!missing.empty()) {
        const uint64_t now = os::now_ns();
        if (now >= deadline) break;
        os::PeerIdentity who;
        const os::Fd peer =
            os::accept_peer(listener, static_cast<int>((deadline - now) / 1'000'000 + 1), who);
        Introduction hello{};
        // Strangers are let go; a rank that died on the way is found missing at the end.
        if (!peer || who.uid != geteuid() ||
            !os::read_all(peer.get(), &hello, sizeof hello, introduction_limit_ms))
            continue;
        const auto place = std::find(missing.begin(), missing.end(), static_cast<int>(hello.rank));
        if (place == missing.end() || !os::send_fd(peer.get(), segment.fd())) continue;
        missing.erase(place);
        cpus.add(who.pid);
    }
    segment.set_usable_cpus(cpus.usable());
    if (missing.empty()) return true;
    why = not_met(job,
                  "rank " + list_of(missing) + " did not come for the shared memory within " +
                      std::to_string(meeting_limit_ms / 1000) + " s",
                  "look for an earlier message of these ranks; all ranks of a host must run as one user, in "
                  "one network namespace, with the same version of ZipMPI");
    return false;
}

bool lead(Job& job, NodeSegment& segment, Problem& why) {
    const std::string name = unguessable_name();
    os::Fd listener;
    Nodes nodes;
    const bool spread = spans_hosts(job);
    bool ready = (!spread || find_nodes(job, nodes, why)) &&
                 NodeSegment::make(job.id, job.node_ranks, job.size, segment, why, spread ? &nodes : nullptr);
    if (ready) {
        listener = os::listen_abstract(name, static_cast<int>(job.node_ranks.size()));
        if (name.empty() || !listener) {
            why = not_met(job, std::string("no abstract Unix socket can be opened: ") + std::strerror(errno),
                          "raise the limit of open files (ulimit -n), or allow Unix sockets in the sandbox");
            ready = false;
        }
    }
    if ((spread && job.rank == 0 && !offer_key(job)) ||
        !job.launcher->put(socket_key, ready ? name : leader_failed) || !job.launcher->fence() ||
        (ready && spread && !fetch_key(job, segment))) {
        if (ready)
            why = not_met(job, "the launcher did not take or spread the name of the meeting point",
                          "look for a message of the launcher; start the program with ZipMPI's mpiexec");
        return false;
    }
    return ready && hand_out(job, listener.get(), segment, why);
}

bool fetch(const Job& job, std::string_view name, os::Fd& fd, std::string& reason) {
    const os::Fd leader = os::connect_abstract(name);
    os::PeerIdentity who;
    if (!leader || !os::peer_identity(leader.get(), who)) {
        reason = std::string("its socket cannot be reached: ") + std::strerror(errno);
        return false;
    }
    if (who.uid != geteuid()) {
        reason =
            "its socket belongs to user " + std::to_string(who.uid) + ", not " + std::to_string(geteuid());
        return false;
    }
    const Introduction hello{static_cast<uint32_t>(job.rank)};
    // send, not write: a leader that has gone must not raise SIGPIPE here.
    if (send(leader.get(), &hello, sizeof hello, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello))
        fd = os::receive_fd(leader.get(), meeting_limit_ms);
    if (!fd) reason = "it did not hand out the memory";
    return static_cast<bool>(fd);
}

bool follow(Job& job, NodeSegment& segment, Problem& why) {
    const int leader = job.node_ranks.front();
    const std::string from = "rank " + std::to_string(leader) + " makes the memory of this host, but ";
    std::string name;
    if (!job.launcher->fence() || !job.launcher->get(leader, socket_key, name)) {
        why = not_met(job, from + "the launcher did not say where it waits",
                      "look for a message of the launcher or of that rank");
        return false;
    }
    if (name == leader_failed) {
        why = not_met(job, from + "it could not", "see the message of that rank");
        return false;
    }
    os::Fd fd;
    std::string reason;
    if (!fetch(job, name, fd, reason)) {
        why = not_met(job, from + reason,
                      "look for a message of that rank; all ranks of a host must run as one user and in one "
                      "network namespace (containers: share the host's network)");
        return false;
    }
    return NodeSegment::adopt(std::move(fd), segment, why);
}

} // namespace

bool join_segment(Job& job, NodeSegment& segment, Problem& why) {
    if (job.protocol == Protocol::mpiexec) {
        segment = static_cast<MpiexecLauncher&>(*job.launcher).take_segment();
        return true;
    }
    if (job.size == 1) return NodeSegment::make(job.id, job.node_ranks, job.size, segment, why);
    return job.local_index == 0 ? lead(job, segment, why) : follow(job, segment, why);
}

} // namespace zipmpi::boot

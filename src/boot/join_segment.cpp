// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Distributes the node segment under launchers other than ZipMPI's mpiexec: the first rank of the node (the
// leader) creates it and listens on an abstract socket, whose name is published through the launcher. One put
// per node, one fence, one get per further rank.
#include "base/hex.hpp"
#include "base/job_protocol.hpp"
#include "boot/job.hpp"
#include "boot/local_diagnostic.hpp"
#include "boot/native_launcher.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/random.hpp"
#include "os/socket.hpp"
#include "segment/segment_keys.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace zipmpi::boot {
namespace {

const char* const socket_key = "segment";
const char* const key_key = "key";
const char* const leader_failed = "none"; // published instead of a name, so that the other ranks do not wait
constexpr int join_timeout_ms = 60'000;
constexpr int join_request_timeout_ms = 5'000; // from connect to the JoinRequest

struct JoinRequest { // first message of a rank that has connected
    uint32_t rank;
};

std::string random_socket_name() {
    unsigned char bits[16];
    if (!os::fill_random(bits, sizeof bits)) return {};
    return "zipmpi-" + hex_of(bits, sizeof bits);
}

Diagnostic join_diagnostic(const Job& job, const std::string& reason, const std::string& fix) {
    return rank_diagnostic(job.rank, job.size, "the ranks of this host cannot share memory", reason, fix);
}

Diagnostic not_published(const Job& job) {
    return join_diagnostic(
        job, "the launcher did not publish the name of the segment socket",
        "see the output of the launcher for the cause; start the program with ZipMPI's mpiexec");
}

std::string format_ranks(const std::vector<int>& ranks) {
    std::string s;
    for (size_t i = 0; i < ranks.size() && i < 16; ++i) s += (i != 0 ? ", " : "") + std::to_string(ranks[i]);
    return ranks.size() > 16 ? s + " and " + std::to_string(ranks.size() - 16) + " more" : s;
}

bool spans_hosts(const Job& job) { return static_cast<int>(job.node_ranks.size()) != job.size; }

// The secret of a multi-host job: created by rank 0 and distributed by the launcher, which only the job can
// query. The version of rank 0 follows.
bool publish_key(const Job& job) {
    std::array<char, sizeof(KeyBytes)> secret{};
    if (!os::fill_random(secret.data(), secret.size())) return false;
    const std::string value = std::string(secret.data(), secret.size()).append(job_protocol_text());
    return job.launcher->put(key_key, hex_of(value.data(), value.size()));
}

bool fetch_key(const Job& job, const segment::NodeSegment& segment, Diagnostic& why) {
    std::string text;
    std::string bytes;
    KeyBytes secret{};
    if (!job.launcher->get(0, key_key, text)) {
        why = not_published(job);
        return false;
    }
    const std::string version =
        from_hex(text, bytes) && bytes.size() > secret.size() ? bytes.substr(secret.size()) : std::string();
    if (!is_same_job_protocol(version, job_protocol_text())) {
        why = rank_diagnostic(job.rank, job.size, "the hosts of this job have different versions of ZipMPI",
                              job_protocol_reason("rank 0", version), job_protocol_fix);
        return false;
    }
    std::memcpy(secret.data(), bytes.data(), secret.size());
    segment.network_info().set_keys(segment::keys_of_ranks(secret));
    wipe(secret);
    return true;
}

// Sends the segment to every other rank of the node, in order of arrival, and computes the union of their
// CPUs, because each may be bound to a different one.
bool distribute_segment(const Job& job, int listener, const segment::NodeSegment& segment, Diagnostic& why) {
    os::CpuUnion cpus;
    cpus.add(0);
    std::vector<int> missing(job.node_ranks.begin() + 1, job.node_ranks.end());
    const uint64_t deadline = os::now_ns() + uint64_t{join_timeout_ms} * 1'000'000;
    while (!missing.empty()) {
        const uint64_t now = os::now_ns();
        if (now >= deadline) break;
        os::PeerIdentity who;
        const os::Fd peer =
            os::accept_peer(listener, static_cast<int>((deadline - now) / 1'000'000 + 1), who);
        JoinRequest hello{};
        // Unauthenticated connections are closed; a rank that died meanwhile is reported as missing below.
        if (!peer || who.uid != geteuid() ||
            !os::read_all(peer.get(), &hello, sizeof hello, join_request_timeout_ms))
            continue;
        const auto entry = std::find(missing.begin(), missing.end(), static_cast<int>(hello.rank));
        if (entry == missing.end() || !os::send_fd(peer.get(), segment.fd())) continue;
        missing.erase(entry);
        cpus.add(who.pid);
    }
    segment.set_usable_cpus(cpus.usable());
    if (missing.empty()) return true;
    why = join_diagnostic(
        job,
        "rank " + format_ranks(missing) + " did not join the shared memory within " +
            std::to_string(join_timeout_ms / 1000) + " s",
        "see earlier messages of these ranks; all ranks of a host must run as one user, in one "
        "network namespace, with the same version of ZipMPI");
    return false;
}

bool create_and_share(Job& job, segment::NodeSegment& segment, Diagnostic& why) {
    const std::string name = random_socket_name();
    os::Fd listener;
    segment::NodeTable nodes;
    const bool spread = spans_hosts(job);
    bool ready =
        (!spread || find_nodes(job, nodes, why)) &&
        segment::NodeSegment::make(job.id, job.node_ranks, job.size, segment, why, spread ? &nodes : nullptr);
    if (ready) {
        listener = os::listen_abstract(name, static_cast<int>(job.node_ranks.size()));
        if (name.empty() || !listener) {
            why = join_diagnostic(
                job, std::string("no abstract Unix socket can be opened: ") + std::strerror(errno),
                "raise the limit of open files (ulimit -n), or allow Unix sockets in the sandbox");
            ready = false;
        }
    }
    if ((spread && job.rank == 0 && !publish_key(job)) ||
        !job.launcher->put(socket_key, ready ? name : leader_failed) || !job.launcher->fence()) {
        if (ready) why = not_published(job);
        return false;
    }
    return ready && (!spread || fetch_key(job, segment, why)) &&
           distribute_segment(job, listener.get(), segment, why);
}

bool receive_segment(const Job& job, std::string_view name, os::Fd& fd, std::string& reason) {
    const os::Fd leader = os::connect_abstract(name);
    os::PeerIdentity who;
    if (!leader || !os::peer_identity(leader.get(), who)) {
        reason = std::string("connecting to its socket failed: ") + std::strerror(errno);
        return false;
    }
    if (who.uid != geteuid()) {
        reason =
            "its socket belongs to user " + std::to_string(who.uid) + ", not " + std::to_string(geteuid());
        return false;
    }
    const JoinRequest hello{static_cast<uint32_t>(job.rank)};
    // send, not write: a leader that has exited must not raise SIGPIPE here.
    if (send(leader.get(), &hello, sizeof hello, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello))
        fd = os::receive_fd(leader.get(), join_timeout_ms);
    if (!fd) reason = "it did not send the memory descriptor";
    return static_cast<bool>(fd);
}

bool attach_to_leader(Job& job, segment::NodeSegment& segment, Diagnostic& why) {
    const int leader = job.node_ranks.front();
    const std::string from =
        "rank " + std::to_string(leader) + " creates the shared memory of this host, but ";
    std::string name;
    if (!job.launcher->fence() || !job.launcher->get(leader, socket_key, name)) {
        why = join_diagnostic(job, from + "the launcher did not return the name of its socket",
                              "see the output of the launcher and of that rank for the cause");
        return false;
    }
    if (name == leader_failed) {
        why = join_diagnostic(job, from + "failed to do so", "see the message of that rank");
        return false;
    }
    os::Fd fd;
    std::string reason;
    if (!receive_segment(job, name, fd, reason)) {
        why = join_diagnostic(
            job, from + reason,
            "see the messages of that rank; all ranks of a host must run as one user and in one "
            "network namespace (containers: share the host's network)");
        return false;
    }
    return segment::NodeSegment::attach(std::move(fd), segment, why);
}

} // namespace

bool join_segment(Job& job, segment::NodeSegment& segment, Diagnostic& why) {
    if (job.protocol == Protocol::mpiexec) {
        segment = static_cast<NativeLauncher&>(*job.launcher).take_segment();
        return true;
    }
    if (job.size == 1) return segment::NodeSegment::make(job.id, job.node_ranks, job.size, segment, why);
    return job.local_index == 0 ? create_and_share(job, segment, why) : attach_to_leader(job, segment, why);
}

} // namespace zipmpi::boot

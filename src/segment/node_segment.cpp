// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "segment/node_segment.hpp"

#include "base/job_protocol.hpp"
#include "base/param.hpp"
#include "os/host.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace zipmpi::segment {
namespace {

Param<int64_t> cell_size{"shm.cell_size",
                         32 * KiB,
                         {4 * KiB, 8 * MiB},
                         Unit::bytes,
                         Level::tuner,
                         Scope::job_wide,
                         "cell size including header, rounded up to pages"};
Param<int64_t> cells{"shm.cells_per_rank",
                     64,
                     {2, 65536},
                     Unit::none,
                     Level::tuner,
                     Scope::job_wide,
                     "maximum number of cells per rank; allocated on demand"};

// Daemon and library of a host: of the same layout, and of the job protocol by which the daemon was accepted.
constexpr uint32_t version = job_protocol << 16 | wire::segment_version;
static_assert(wire::segment_version < 0x10000);

std::string version_text(uint32_t number) {
    return "layout " + std::to_string(number & 0xffff) + " and job protocol " + std::to_string(number >> 16);
}

Diagnostic segment_diagnostic(const char* what, const std::string& why, const char* fix) {
    return {what, "host " + os::host_name(), why, fix};
}

const char* fix_for(int error) {
    switch (error) {
    case EFBIG:
        return "raise the file size limit (ulimit -f), or start fewer ranks";
    case EMFILE:
    case ENFILE:
        return "raise the open file limit (ulimit -n)";
    default:
        return "free memory on this host, raise the memory limits (of the job, ulimit -v), or start fewer "
               "ranks";
    }
}

} // namespace

uint32_t NodeSegment::new_cell_bytes() {
    const auto pages = static_cast<uint32_t>((cell_size + wire::page_size - 1) / wire::page_size);
    return static_cast<uint32_t>(pages * wire::page_size - wire::cache_line);
}

bool NodeSegment::make(std::string_view job_id, const std::vector<int>& world_ranks, int world_size,
                       NodeSegment& out, Diagnostic& why, const NodeTable* nodes, SegmentUse use) {
    wire::Geometry g;
    g.local_ranks = static_cast<uint32_t>(world_ranks.size());
    g.cell_bytes = new_cell_bytes();
    g.cells_per_rank = static_cast<uint32_t>(cells.get());
    g.multi_node_size = nodes != nullptr && nodes->count > 1 ? static_cast<uint32_t>(world_size) : 0;
    if (!g.valid()) {
        why = segment_diagnostic("the shared memory of this node cannot be created: too many ranks",
                                 std::to_string(world_ranks.size()) + " ranks on one host, the limit is " +
                                     std::to_string(wire::max_local_ranks),
                                 "start fewer ranks per host");
        return false;
    }
    const char* const name = use == SegmentUse::ranks ? "zipmpi-node" : "zipmpi-gateways";
    out.fd_ = os::make_memory_file(name, g.file_bytes());
    out.has_arenas_ = static_cast<bool>(out.fd_);
    if (!out.fd_) out.fd_ = os::make_memory_file(name, g.total_bytes()); // files may be limited
    if (out.fd_ && os::reserve(out.fd_.get(), 0, g.rings_offset()))
        out.map_ = os::Mapping(out.fd_.get(), g.total_bytes());
    if (!out.map_) {
        const int error = errno;
        why = segment_diagnostic("the shared memory of this node cannot be created",
                                 "the kernel refused " + std::to_string(g.rings_offset() / 1024) +
                                     " KiB of memory in a file of " + std::to_string(g.total_bytes() / 1024) +
                                     " KiB: " + std::strerror(error),
                                 fix_for(error));
        return false;
    }
    out.geometry_ = g;
    auto& h = *out.at<wire::SegmentHeader>(0);
    h.version = version;
    h.local_ranks = g.local_ranks;
    h.world_size = static_cast<uint32_t>(world_size);
    h.cell_bytes = g.cell_bytes;
    h.cells_per_rank = g.cells_per_rank;
    out.set_usable_cpus(os::usable_cpus());
    h.total_bytes = g.total_bytes();
    h.world_ranks_offset = g.world_ranks_offset();
    h.blocks_offset = g.blocks_offset();
    h.rings_offset = g.rings_offset();
    h.cells_offset = g.cells_offset();
    std::snprintf(h.job_id, sizeof h.job_id, "%.*s", static_cast<int>(job_id.size()), job_id.data());
    auto* table = out.at<uint32_t>(g.world_ranks_offset());
    for (size_t i = 0; i < world_ranks.size(); ++i) table[i] = static_cast<uint32_t>(world_ranks[i]);
    h.nodes = nodes != nullptr ? nodes->count : 1;
    h.node = nodes != nullptr ? nodes->own : 0;
    h.multi_node_size = g.multi_node_size;
    if (g.multi_node_size != 0) {
        os::exclude_from_core_dumps(out.map_.base(), wire::page_size); // keys
        std::memcpy(out.at<uint32_t>(g.nodes_offset()), nodes->node_of.data(),
                    g.multi_node_size * sizeof(uint32_t));
        out.network_info().set_keys(nodes->keys);
    }
    h.magic = wire::segment_magic;
    return true;
}

bool NodeSegment::attach(os::Fd fd, NodeSegment& out, Diagnostic& why, os::Access access) {
    struct stat st {};
    wire::SegmentHeader h{};
    const auto refuse = [&](const std::string& reason) {
        why = segment_diagnostic("the shared memory of this node cannot be used", reason,
                                 "start all ranks of the job with one launcher and one version of ZipMPI");
        return false;
    };
    if (fstat(fd.get(), &st) != 0 || pread(fd.get(), &h, sizeof h, 0) != static_cast<ssize_t>(sizeof h))
        return refuse(std::string("the descriptor passed to this process is not a memory file: ") +
                      std::strerror(errno));
    if (h.magic != wire::segment_magic) return refuse("it does not start with the ZipMPI magic number");
    if (h.version != version)
        return refuse("it has " + version_text(h.version) + ", this library uses " + version_text(version));
    wire::Geometry g{h.local_ranks, h.cell_bytes, h.cells_per_rank, h.multi_node_size};
    if (!g.valid() || (h.multi_node_size != 0 && h.multi_node_size != h.world_size) ||
        h.total_bytes != g.total_bytes() || h.world_ranks_offset != g.world_ranks_offset() ||
        h.blocks_offset != g.blocks_offset() || h.rings_offset != g.rings_offset() ||
        h.cells_offset != g.cells_offset() || static_cast<uint64_t>(st.st_size) < g.total_bytes())
        return refuse("its header is inconsistent");
    out.map_ = os::Mapping(fd.get(), g.total_bytes(), access);
    if (!out.map_)
        return refuse("it cannot be mapped (" + std::to_string(g.total_bytes() >> 20) +
                      " MiB of address space): " + std::strerror(errno));
    if (g.multi_node_size != 0) os::exclude_from_core_dumps(out.map_.base(), wire::page_size); // keys
    out.fd_ = std::move(fd);
    out.has_arenas_ = static_cast<uint64_t>(st.st_size) >= g.file_bytes();
    out.geometry_ = g;
    return true;
}

} // namespace zipmpi::segment

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/link/messages.hpp"

namespace zipmpi::launch {

uint32_t StartRequest::local_ranks() const {
    uint32_t n = 0;
    for (const auto& app : apps) n += app.ranks;
    return n;
}

std::string encode(const StartRequest& r) {
    Writer w;
    w.text(r.job_id).u32(r.world_size).u32(r.first_rank);
    w.u32(static_cast<uint32_t>(r.apps.size()));
    for (const auto& a : r.apps) w.u32(a.ranks).text(a.path).texts(a.argv).texts(a.env);
    w.texts(r.base_env).u32(static_cast<uint32_t>(r.bind));
    w.u32(r.label ? 1 : 0).u32(r.pmix ? 1 : 0).u32(r.flush_prompts ? 1 : 0).u32(r.stdin_open ? 1 : 0);
    return w.take();
}

bool decode(std::string_view bytes, StartRequest& out) {
    Reader r(bytes);
    out.job_id = r.text();
    out.world_size = r.u32();
    out.first_rank = r.u32();
    out.apps.resize(r.count(16));
    uint64_t ranks = 0;
    for (auto& a : out.apps) {
        a.ranks = r.u32();
        a.path = r.text();
        a.argv = r.texts();
        a.env = r.texts();
        ranks += a.ranks;
        if (a.argv.empty() || a.ranks == 0) return false;
    }
    out.base_env = r.texts();
    const uint32_t bind = r.u32();
    out.bind = static_cast<StartRequest::Bind>(bind);
    out.label = r.u32() != 0;
    out.pmix = r.u32() != 0;
    out.flush_prompts = r.u32() != 0;
    out.stdin_open = r.u32() != 0;
    return r.finished() && bind <= 2 && ranks >= 1 && uint64_t{out.first_rank} + ranks <= out.world_size &&
           out.world_size <= 0x7fffffff;
}

std::string encode(const Failure& f) {
    Writer w;
    return w.u32(f.rank).u32(f.exit_code).text(f.text).take();
}

bool decode(std::string_view bytes, Failure& out) {
    Reader r(bytes);
    out.rank = r.u32();
    out.exit_code = r.u32();
    out.text = r.text();
    return r.finished();
}

std::string encode(const Snapshot& s) {
    Writer w;
    w.u32(static_cast<uint32_t>(s.size()));
    for (const RankPlace& p : s) {
        w.i32(p.rank).u32(static_cast<uint32_t>(p.life)).text(p.end).u32(p.asleep ? 1 : 0);
        w.text(p.function).i32(p.peer).i32(p.tag).text(p.comm);
        w.u64(p.call_count).u32(p.progress).u32(p.wait_count);
        w.u32(static_cast<uint32_t>(p.waits.size()));
        for (const WaitPlace& q : p.waits)
            w.u32(static_cast<uint32_t>(q.kind))
                .i32(q.world_peer)
                .i32(q.tag)
                .text(q.comm)
                .u32(q.sequence)
                .u64(q.bytes);
        w.i32(p.stray.world_source).i32(p.stray.tag).text(p.stray.comm);
    }
    return w.take();
}

bool decode(std::string_view bytes, Snapshot& out) {
    Reader r(bytes);
    out.resize(r.count(48));
    for (RankPlace& p : out) {
        p.rank = r.i32();
        p.life = static_cast<Life>(r.u32());
        p.end = r.text();
        p.asleep = r.u32() != 0;
        p.function = r.text();
        p.peer = r.i32();
        p.tag = r.i32();
        p.comm = r.text();
        p.call_count = r.u64();
        p.progress = r.u32();
        p.wait_count = r.u32();
        p.waits.resize(r.count(28));
        for (WaitPlace& q : p.waits) {
            q.kind = static_cast<WaitKind>(r.u32());
            q.world_peer = r.i32();
            q.tag = r.i32();
            q.comm = r.text();
            q.sequence = r.u32();
            q.bytes = r.u64();
        }
        p.stray = {r.i32(), r.i32(), r.text()};
    }
    return r.finished();
}

} // namespace zipmpi::launch

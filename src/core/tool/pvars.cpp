// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sessions and handles of performance variables. A counter of the library never stops; a handle remembers
// what it was when the handle was started, so each handle counts for itself.
#include "core/comm/comm.hpp"
#include "core/tool/pvar_list.hpp"
#include "core/tool/registry.hpp"

#include <cstring>

namespace zipmpi::core::tool {

struct PvarSession {};

struct Pvar {
    const PvarEntry* entry;
    const PvarSession* session;
    std::vector<int> ranks;     // in MPI_COMM_WORLD, if it is bound to a communicator
    std::vector<uint64_t> kept; // counted until it was stopped
    std::vector<uint64_t> from; // where counting began
    bool running = false;
};

namespace {

Registry<PvarSession>& sessions() {
    static auto* const all = new Registry<PvarSession>;
    return *all;
}

Registry<Pvar>& handles() {
    static auto* const all = new Registry<Pvar>;
    return *all;
}

bool is_sum(const PvarEntry& entry) {
    return entry.marks.cls == PvarClass::counter || entry.marks.cls == PvarClass::aggregate;
}

ToolErr check_session(const PvarSession* session) {
    return sessions().has(session)
               ? ToolErr::success
               : refuse(ToolErr::invalid_session, "%p is no session of performance variables",
                        static_cast<const void*>(session));
}

ToolErr check(const PvarSession* session, const Pvar* handle) {
    if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
    if (handle == all_handles)
        return refuse(ToolErr::invalid_handle, "MPI_T_PVAR_ALL_HANDLES stands for no single handle");
    return handles().has(handle) && handle->session == session
               ? ToolErr::success
               : refuse(ToolErr::invalid_handle, "%p is no handle of this session",
                        static_cast<const void*>(handle));
}

std::vector<uint64_t> now(const Pvar& handle) { return values_of(*handle.entry, handle.ranks); }

std::vector<uint64_t> shown(const Pvar& handle, const std::vector<uint64_t>& now) {
    if (!is_sum(*handle.entry)) return now;
    std::vector<uint64_t> values = handle.kept;
    if (handle.running)
        for (size_t i = 0; i < values.size(); ++i) values[i] += now[i] - handle.from[i];
    return values;
}

void start(Pvar& handle) {
    if (handle.running) return;
    handle.from = now(handle);
    handle.running = true;
}

void stop(Pvar& handle) {
    handle.kept = shown(handle, now(handle));
    handle.running = false;
}

void set(Pvar& handle, std::vector<uint64_t> values, std::vector<uint64_t> since) {
    handle.kept = std::move(values);
    handle.from = std::move(since);
}

void reset(Pvar& handle) { set(handle, std::vector<uint64_t>(handle.kept.size()), now(handle)); }

// On one handle, or on all of the session that take it.
template <class Act>
ToolErr apply(PvarSession* session, Pvar* handle, ToolErr otherwise, bool (*takes)(const PvarMarks&),
              const Act& act) {
    if (handle == all_handles) {
        if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
        handles().for_each([&](Pvar& h) {
            if (h.session == session && takes(h.entry->marks)) act(h);
        });
        return ToolErr::success;
    }
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (!takes(handle->entry->marks))
        return refuse(otherwise, "%s does not allow it", handle->entry->name.c_str());
    act(*handle);
    return ToolErr::success;
}

bool starts_and_stops(const PvarMarks& marks) { return !marks.continuous; }
bool can_be_written(const PvarMarks& marks) { return !marks.read_only; }

} // namespace

int pvars() { return static_cast<int>(pvar_list().size()); }

bool pvar_info(int index, Variable& variable, PvarMarks& marks) {
    if (index < 0 || index >= pvars()) return false;
    const PvarEntry& entry = pvar_list()[static_cast<size_t>(index)];
    variable = {entry.name, entry.help, Verbosity::user, TypeId::UNSIGNED_LONG_LONG, nullptr, entry.binding};
    marks = entry.marks;
    return true;
}

int find_pvar(std::string_view name, PvarClass cls) {
    const auto& list = pvar_list();
    for (size_t i = 0; i < list.size(); ++i)
        if (list[i].name == name && list[i].marks.cls == cls) return static_cast<int>(i);
    return -1;
}

ToolErr open_session(PvarSession*& session) {
    session = sessions().add(std::make_unique<PvarSession>());
    return ToolErr::success;
}

ToolErr close_session(PvarSession* session) {
    if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
    handles().remove_if([&](const Pvar& h) { return h.session == session; });
    sessions().remove(session);
    return ToolErr::success;
}

void close_all_sessions() {
    handles().clear();
    sessions().clear();
}

ToolErr open_pvar(PvarSession* session, int index, const Comm* comm, Pvar*& handle, int& count) {
    if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
    if (index < 0 || index >= pvars())
        return refuse(ToolErr::invalid_index, "there is no performance variable %d, there are %d", index,
                      pvars());
    Pvar made{&pvar_list()[static_cast<size_t>(index)], session, {}, {}, {}};
    if (made.entry->binding == Binding::comm) {
        if (comm == nullptr)
            return refuse(ToolErr::invalid_handle, "%s is bound to a communicator, and this is none",
                          made.entry->name.c_str());
        for (int i = 0; i < comm->team.size; ++i) made.ranks.push_back(comm->team.map.world(i));
    }
    made.from = now(made);
    made.kept.resize(made.from.size());
    made.running = made.entry->marks.continuous;
    count = static_cast<int>(made.from.size());
    handle = handles().add(std::make_unique<Pvar>(std::move(made)));
    return ToolErr::success;
}

ToolErr close_pvar(PvarSession* session, Pvar* handle) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    handles().remove(handle);
    return ToolErr::success;
}

ToolErr start_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_startstop, starts_and_stops, start);
}

ToolErr stop_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_startstop, starts_and_stops, stop);
}

ToolErr reset_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_write, can_be_written, reset);
}

ToolErr read_pvar(PvarSession* session, Pvar* handle, void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    const std::vector<uint64_t> values = shown(*handle, now(*handle));
    std::memcpy(buffer, values.data(), values.size() * sizeof(uint64_t));
    return ToolErr::success;
}

ToolErr read_and_reset_pvar(PvarSession* session, Pvar* handle, void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (!handle->entry->marks.atomic)
        return refuse(ToolErr::pvar_no_atomic, "%s cannot be reset", handle->entry->name.c_str());
    const std::vector<uint64_t> since = now(*handle); // looked at once: nothing is lost in between
    const std::vector<uint64_t> values = shown(*handle, since);
    std::memcpy(buffer, values.data(), values.size() * sizeof(uint64_t));
    set(*handle, std::vector<uint64_t>(values.size()), since);
    return ToolErr::success;
}

ToolErr write_pvar(PvarSession* session, Pvar* handle, const void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (handle->entry->marks.read_only)
        return refuse(ToolErr::pvar_no_write, "%s cannot be written", handle->entry->name.c_str());
    std::vector<uint64_t> values(handle->kept.size());
    std::memcpy(values.data(), buffer, values.size() * sizeof(uint64_t));
    set(*handle, std::move(values), now(*handle));
    return ToolErr::success;
}

} // namespace zipmpi::core::tool

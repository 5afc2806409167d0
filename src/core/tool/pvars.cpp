// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sessions and handles of performance variables. Library counters never stop; a handle stores the value at
// its start, so handles count independently.
#include "core/comm/comm.hpp"
#include "core/tool/pvar_list.hpp"
#include "core/tool/registry.hpp"

#include <cstring>

namespace zipmpi::core::tool {

struct PvarSession {};

struct Pvar {
    const PvarEntry* entry;
    const PvarSession* session;
    std::vector<int> ranks;             // in MPI_COMM_WORLD, if bound to a communicator
    std::vector<uint64_t> accumulated;  // until it was stopped
    std::vector<uint64_t> start_values; // at the last start
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
    return entry.flags.cls == PvarClass::counter || entry.flags.cls == PvarClass::aggregate;
}

ToolErr check_session(const PvarSession* session) {
    return sessions().has(session)
               ? ToolErr::success
               : set_error(ToolErr::invalid_session, "%p is not a valid performance variable session",
                           static_cast<const void*>(session));
}

ToolErr check(const PvarSession* session, const Pvar* handle) {
    if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
    if (handle == all_handles)
        return set_error(ToolErr::invalid_handle,
                         "MPI_T_PVAR_ALL_HANDLES is not valid here: pass a single handle");
    return handles().has(handle) && handle->session == session
               ? ToolErr::success
               : set_error(ToolErr::invalid_handle, "%p is not a valid handle of this session",
                           static_cast<const void*>(handle));
}

std::vector<uint64_t> current_values(const Pvar& handle) { return values_of(*handle.entry, handle.ranks); }

std::vector<uint64_t> reported_values(const Pvar& handle, const std::vector<uint64_t>& now) {
    if (!is_sum(*handle.entry)) return now;
    std::vector<uint64_t> values = handle.accumulated;
    if (handle.running)
        for (size_t i = 0; i < values.size(); ++i) values[i] += now[i] - handle.start_values[i];
    return values;
}

void start(Pvar& handle) {
    if (handle.running) return;
    handle.start_values = current_values(handle);
    handle.running = true;
}

void stop(Pvar& handle) {
    handle.accumulated = reported_values(handle, current_values(handle));
    handle.running = false;
}

void set(Pvar& handle, std::vector<uint64_t> values, std::vector<uint64_t> since) {
    handle.accumulated = std::move(values);
    handle.start_values = std::move(since);
}

void reset(Pvar& handle) {
    set(handle, std::vector<uint64_t>(handle.accumulated.size()), current_values(handle));
}

// Applies `act` to one handle, or to all handles of the session that support it.
template <class Act>
ToolErr apply(PvarSession* session, Pvar* handle, ToolErr otherwise, bool (*takes)(const PvarFlags&),
              const Act& act) {
    if (handle == all_handles) {
        if (const ToolErr e = check_session(session); e != ToolErr::success) return e;
        handles().for_each([&](Pvar& h) {
            if (h.session == session && takes(h.entry->flags)) act(h);
        });
        return ToolErr::success;
    }
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (!takes(handle->entry->flags))
        return set_error(otherwise, "%s does not support this operation", handle->entry->name.c_str());
    act(*handle);
    return ToolErr::success;
}

bool can_start_and_stop(const PvarFlags& flags) { return !flags.continuous; }
bool is_writable(const PvarFlags& flags) { return !flags.read_only; }

} // namespace

int pvars() { return static_cast<int>(pvar_list().size()); }

bool pvar_info(int index, Variable& variable, PvarFlags& flags) {
    if (index < 0 || index >= pvars()) return false;
    const PvarEntry& entry = pvar_list()[static_cast<size_t>(index)];
    variable = {entry.name, entry.help, Verbosity::user, TypeId::UNSIGNED_LONG_LONG, nullptr, entry.binding};
    flags = entry.flags;
    return true;
}

int find_pvar(std::string_view name, PvarClass cls) {
    const auto& list = pvar_list();
    for (size_t i = 0; i < list.size(); ++i)
        if (list[i].name == name && list[i].flags.cls == cls) return static_cast<int>(i);
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
        return set_error(ToolErr::invalid_index,
                         "performance variable index %d is out of range: there are %d", index, pvars());
    Pvar made{&pvar_list()[static_cast<size_t>(index)], session, {}, {}, {}};
    if (made.entry->binding == Binding::comm) {
        if (comm == nullptr)
            return set_error(ToolErr::invalid_handle,
                             "%s is bound to a communicator: pass a communicator handle",
                             made.entry->name.c_str());
        for (int i = 0; i < comm->team.size; ++i) made.ranks.push_back(comm->team.map.world(i));
    }
    made.start_values = current_values(made);
    made.accumulated.resize(made.start_values.size());
    made.running = made.entry->flags.continuous;
    count = static_cast<int>(made.start_values.size());
    handle = handles().add(std::make_unique<Pvar>(std::move(made)));
    return ToolErr::success;
}

ToolErr close_pvar(PvarSession* session, Pvar* handle) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    handles().remove(handle);
    return ToolErr::success;
}

ToolErr start_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_startstop, can_start_and_stop, start);
}

ToolErr stop_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_startstop, can_start_and_stop, stop);
}

ToolErr reset_pvar(PvarSession* session, Pvar* handle) {
    return apply(session, handle, ToolErr::pvar_no_write, is_writable, reset);
}

ToolErr read_pvar(PvarSession* session, Pvar* handle, void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    const std::vector<uint64_t> values = reported_values(*handle, current_values(*handle));
    std::memcpy(buffer, values.data(), values.size() * sizeof(uint64_t));
    return ToolErr::success;
}

ToolErr read_and_reset_pvar(PvarSession* session, Pvar* handle, void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (!handle->entry->flags.atomic)
        return set_error(ToolErr::pvar_no_atomic, "%s cannot be reset", handle->entry->name.c_str());
    const std::vector<uint64_t> since =
        current_values(*handle); // read once, so that no events are lost in between
    const std::vector<uint64_t> values = reported_values(*handle, since);
    std::memcpy(buffer, values.data(), values.size() * sizeof(uint64_t));
    set(*handle, std::vector<uint64_t>(values.size()), since);
    return ToolErr::success;
}

ToolErr write_pvar(PvarSession* session, Pvar* handle, const void* buffer) {
    if (const ToolErr e = check(session, handle); e != ToolErr::success) return e;
    if (handle->entry->flags.read_only)
        return set_error(ToolErr::pvar_no_write, "%s cannot be written", handle->entry->name.c_str());
    std::vector<uint64_t> values(handle->accumulated.size());
    std::memcpy(values.data(), buffer, values.size() * sizeof(uint64_t));
    set(*handle, std::move(values), current_values(*handle));
    return ToolErr::success;
}

} // namespace zipmpi::core::tool

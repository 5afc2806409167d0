// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Process sets, from which sessions create groups.
#include "core/api/comm.hpp"
#include "core/api/process.hpp"
#include "core/group/group.hpp"
#include "core/runtime_state.hpp"

#include <strings.h>

namespace zipmpi::core {
namespace {

struct ProcessSet {
    const char* name;
    Members (*members)(const boot::Job&);
};
constexpr ProcessSet process_sets[] = {
    {"mpi://WORLD", [](const boot::Job& job) { return Members(proto::RankMap(0), job.size); }},
    {"mpi://SELF", [](const boot::Job& job) { return Members(proto::RankMap(job.rank), 1); }},
};

Err find_process_set(const char* name, const ProcessSet*& found) {
    for (const ProcessSet& set : process_sets)
        if (strcasecmp(set.name, name) == 0) {
            found = &set;
            return Err::success;
        }
    return fail(Err::arg, "pass a name returned by MPI_Session_get_nth_pset", "there is no process set %s",
                name);
}

} // namespace

Err session_get_num_psets(Session&, Info*, int& count) {
    count = static_cast<int>(std::size(process_sets));
    return Err::success;
}

Err session_get_nth_pset(Session&, Info*, int n, std::string& name) {
    if (n < 0 || n >= static_cast<int>(std::size(process_sets)))
        return fail(Err::arg, "pass a number below the result of MPI_Session_get_num_psets",
                    "there is no process set %d", n);
    name = process_sets[n].name;
    return Err::success;
}

Err session_get_pset_info(Session&, const char* pset, Info*& info) {
    const ProcessSet* set = nullptr;
    if (const Err e = find_process_set(pset, set); e != Err::success) return e;
    Hints hints;
    hints.set("mpi_size", std::to_string(set->members(runtime()->job).size()));
    return make_info(std::move(hints), info);
}

Err session_get_info(Session& session, Info*& info) { return make_info(session.hints, info); }

Err group_from_session_pset(Session& session, const char* pset, Group*& group) {
    const ProcessSet* set = nullptr;
    if (const Err e = find_process_set(pset, set); e != Err::success) return e;
    return make_group(set->members(runtime()->job), &session, group);
}

} // namespace zipmpi::core

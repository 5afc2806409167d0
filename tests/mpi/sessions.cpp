// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators from sessions, without MPI_Init: process sets, groups, several at a time by tag, again after
// the first session was finalized.
#include "check.hpp"

#include <string>

namespace {

MPI_Comm from_set(MPI_Session session, const char* set, const char* tag) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

int sum_on(MPI_Comm comm, int value) {
    int sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

void one_session() {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    int sets = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    CHECK(sets >= 2);
    MPI_Comm all = from_set(session, "mpi://WORLD", "all");
    MPI_Comm more = from_set(session, "mpi://WORLD", "more");
    MPI_Comm self = from_set(session, "mpi://SELF", "alone");
    MPI_Comm_rank(all, &rank_);
    MPI_Comm_size(all, &size_);
    CHECK(sum_on(all, 1) == size_ && sum_on(more, rank_) == size_ * (size_ - 1) / 2 && sum_on(self, 1) == 1);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    char value[20];
    int room = sizeof value;
    int found = 0;
    MPI_Info_get_string(info, "mpi_size", &room, value, &found);
    CHECK(found != 0 && std::string(value) == std::to_string(size_));
    MPI_Info_free(&info);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(all, &copy);
    CHECK(sum_on(copy, 2) == 2 * size_);
    for (MPI_Comm* c : {&all, &more, &self, &copy}) MPI_Comm_free(c);
    FAILS(MPI_Session_get_pset_info(session, "mpi://nothing", &info), MPI_ERR_ARG);
    MPI_Session_finalize(&session);
}

} // namespace

int main() {
    one_session();
    one_session();
    if (rank_ == 0) std::printf("sessions: ok\n");
}

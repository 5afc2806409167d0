// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Info objects, also before MPI_Init and after MPI_Finalize, and their errors.
#include "check.hpp"

#include <string>

namespace {

std::string get(MPI_Info info, const char* key) {
    char value[MPI_MAX_INFO_VAL];
    int room = sizeof value;
    int found = 0;
    CHECK(MPI_Info_get_string(info, key, &room, value, &found) == MPI_SUCCESS);
    return found != 0 ? value : "(none)";
}

void basics() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info copy = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Info_set(info, "one", "uno");
    int n = 0;
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 2 && get(info, "one") == "uno" && get(info, "three") == "(none)");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "one");
    CHECK(get(info, "one") == "(none)" && get(copy, "one") == "uno");
    char key[MPI_MAX_INFO_KEY];
    MPI_Info_get_nthkey(copy, 0, key);
    CHECK(std::string(key) == "one");
    char small[3] = "xx";
    int room = 3;
    int found = 0;
    MPI_Info_get_string(copy, "one", &room, small, &found); // truncated; returns the size needed
    CHECK(std::string(small) == "un" && room == 4 && found != 0);
    room = 0;
    MPI_Info_get_string(copy, "one", &room, nullptr, &found);
    CHECK(room == 4);
    MPI_Info_get_valuelen(copy, "one", &room, &found);
    CHECK(room == 3);
    MPI_Info_get(copy, "one", 2, small, &found);
    CHECK(std::string(small) == "un");
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL);
}

void wrong_arguments() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    const std::string long_key(MPI_MAX_INFO_KEY, 'k');
    const std::string long_value(MPI_MAX_INFO_VAL, 'v');
    char key[MPI_MAX_INFO_KEY];
    FAILS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, long_key.c_str(), "x"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, "k", long_value.c_str()), MPI_ERR_INFO_VALUE);
    FAILS(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
    FAILS(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    FAILS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
    MPI_Info copy = info;
    MPI_Info_free(&info);
    FAILS(MPI_Info_free(&copy), MPI_ERR_INFO);
}

} // namespace

int main(int argc, char** argv) {
    basics();
    const Session session(&argc, &argv);
    basics();
    wrong_arguments();
    CHECK(get(MPI_INFO_ENV, "command").find("infos") != std::string::npos);
    CHECK(get(MPI_INFO_ENV, "maxprocs") == std::to_string(size_));
    session.end("infos");
    basics();
}

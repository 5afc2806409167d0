// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// User-defined error classes and codes; user-defined error handlers on all kinds of objects.
#include "check.hpp"

#include <string>

namespace {

int calls = 0;
int last_code = 0;
bool made = true; // the error has an object
void on_comm(MPI_Comm* comm, int* code, ...) {
    CHECK((*comm != MPI_COMM_NULL) == made);
    ++calls;
    last_code = *code;
}
void on_file(MPI_File* file, int* code, ...) {
    CHECK(*file == MPI_FILE_NULL);
    ++calls;
    last_code = *code;
}
void on_session(MPI_Session* session, int* code, ...) {
    CHECK((*session != MPI_SESSION_NULL) == made);
    ++calls;
    last_code = *code;
}

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS &&
          static_cast<int>(std::strlen(text)) == length);
    return text;
}

int last_used() {
    int* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
    CHECK(found != 0);
    return *value;
}

void codes() {
    CHECK(last_used() >= MPI_ERR_LASTCODE);
    int own_class = 0;
    int code = 0;
    int of_mpi = 0;
    MPI_Add_error_class(&own_class);
    CHECK(own_class > MPI_ERR_LASTCODE && last_used() == own_class);
    MPI_Add_error_code(own_class, &code);
    MPI_Add_error_code(MPI_ERR_OTHER, &of_mpi);
    CHECK(last_used() == of_mpi);
    CHECK(class_of(code) == own_class && class_of(of_mpi) == MPI_ERR_OTHER &&
          class_of(own_class) == own_class);
    CHECK(text_of(code).empty());
    MPI_Add_error_string(code, "the well is dry");
    CHECK(text_of(code) == "the well is dry");
    FAILS(MPI_Add_error_string(MPI_ERR_ARG, "mine"), MPI_ERR_ARG);
    FAILS(MPI_Add_error_code(code, &of_mpi), MPI_ERR_ARG); // a code is not a class
#if HAVE_MPI_41
    FAILS(MPI_Remove_error_class(own_class), MPI_ERR_OTHER);
    FAILS(MPI_Remove_error_code(code), MPI_ERR_OTHER); // its text must be removed first
    MPI_Remove_error_string(code);
    CHECK(text_of(code).empty());
    MPI_Remove_error_code(code);
    int none = 0;
    FAILS(MPI_Error_class(code, &none), MPI_ERR_ARG);
    MPI_Remove_error_class(own_class);
    FAILS(MPI_Remove_error_class(MPI_ERR_ARG), MPI_ERR_ARG);
    MPI_Remove_error_code(of_mpi);
    CHECK(last_used() == MPI_ERR_LASTCODE);
#endif
}

void handlers() {
    int code = 0;
    MPI_Add_error_code(MPI_ERR_OTHER, &code);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_call_errhandler(comm, code);
    CHECK(calls == 1 && last_code == code);
    MPI_Comm_split(comm, 0, 0, &copy); // inherits the handler, which the caller frees
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    MPI_Comm_free(&comm);
    CHECK(MPI_Send(&code, 1, MPI_INT, 1000000, 0, copy) != MPI_SUCCESS);
    CHECK(calls == 2 && class_of(last_code) == MPI_ERR_RANK);
    MPI_Comm_get_errhandler(copy, &handler);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(copy, handler);
    MPI_Comm_set_errhandler(copy, handler); // sets the inherited handler again
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(copy, MPI_ERR_TAG);
    CHECK(calls == 3 && last_code == MPI_ERR_TAG);
    MPI_Comm_free(&copy);
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    MPI_File_call_errhandler(MPI_FILE_NULL, code);
    CHECK(calls == 4 && last_code == code);
    MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    MPI_Session_call_errhandler(session, code);
    CHECK(calls == 5 && last_code == code);
    MPI_Group group = MPI_GROUP_NULL;
    CHECK(MPI_Group_from_session_pset(session, "no such set", &group) != MPI_SUCCESS && calls == 6);
    int length = 5;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, nullptr) != MPI_SUCCESS && calls == 7);
    length = 0;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, nullptr) == MPI_SUCCESS && length > 0);
    MPI_Session_finalize(&session);
    MPI_Errhandler_free(&handler);
}

// A handler given for a new object also gets the errors of the creating call.
void given_handlers() {
    calls = 0;
    made = false;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Group self = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    CHECK(MPI_Comm_create_from_group(self, "tag", MPI_INFO_NULL, handler, nullptr) != MPI_SUCCESS);
    CHECK(calls == 1 && class_of(last_code) == MPI_ERR_ARG);
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, handler, nullptr) != MPI_SUCCESS);
    CHECK(calls == 2 && class_of(last_code) == MPI_ERR_GROUP);
    MPI_Group_free(&self);
    MPI_Errhandler_free(&handler);
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MANIFOLD");
    MPI_Session_create_errhandler(on_session, &handler);
    CHECK(MPI_Session_init(info, handler, &session) != MPI_SUCCESS);
    CHECK(calls == 3 && class_of(last_code) == MPI_ERR_INFO_VALUE);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
    CHECK(MPI_Session_init(info, handler, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    char level[MPI_MAX_INFO_VAL] = "";
    int room = sizeof level;
    int found = 0;
    MPI_Info_get_string(info, "thread_level", &room, level, &found);
    CHECK(found == 1 && std::strcmp(level, "MPI_THREAD_MULTIPLE") == 0); // more than requested
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    MPI_Errhandler_free(&handler);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    codes();
    handlers();
    if (!portable_) given_handlers();
    session.end("error_codes");
}

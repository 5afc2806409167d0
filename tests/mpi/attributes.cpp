// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes: copy and delete callbacks in the right order, also if these call MPI or fail; on datatypes; at
// MPI_Finalize.
#include "check.hpp"

#include <cstdint>

namespace {

std::vector<intptr_t> deleted;
int copied = 0;
int fail_with = MPI_SUCCESS;

void* value_of(intptr_t number) { return reinterpret_cast<void*>(number); }

int copy_next(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
    ++copied;
    CHECK(extra == value_of(99));
    void* seen = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm, keyval, &seen, &found); // callbacks may call MPI
    CHECK(found != 0 && seen == in);
    *static_cast<void**>(out) = value_of(reinterpret_cast<intptr_t>(in) + 1);
    *flag = reinterpret_cast<intptr_t>(in) < 1000 ? 1 : 0;
    return fail_with;
}

int record_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
    CHECK(comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID && extra == value_of(99));
    deleted.push_back(reinterpret_cast<intptr_t>(value));
    return fail_with;
}

int make_key() {
    int key = MPI_KEYVAL_INVALID;
    CHECK(MPI_Comm_create_keyval(copy_next, record_delete, &key, value_of(99)) == MPI_SUCCESS);
    return key;
}

intptr_t get(MPI_Comm comm, int key) {
    void* value = nullptr;
    int found = 0;
    CHECK(MPI_Comm_get_attr(comm, key, &value, &found) == MPI_SUCCESS);
    return found != 0 ? reinterpret_cast<intptr_t>(value) : -1;
}

void lifecycle() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int first = make_key();
    int second = make_key();
    CHECK(get(comm, first) == -1);
    MPI_Comm_set_attr(comm, first, value_of(10));
    MPI_Comm_set_attr(comm, second, value_of(2000)); // MPI_NULL_COPY_FN: not copied
    MPI_Comm_dup(comm, &copy);
    CHECK(copied == 2 && get(copy, first) == 11 && get(copy, second) == -1);
    MPI_Comm_set_attr(copy, first, value_of(20)); // deletes the old value
    CHECK(deleted == std::vector<intptr_t>({11}));
    const int kept = second;
    MPI_Comm_free_keyval(&second);
    CHECK(second == MPI_KEYVAL_INVALID && get(comm, kept) == 2000);
    MPI_Comm_delete_attr(comm, kept); // the key is freed with its last attribute
    CHECK(deleted == std::vector<intptr_t>({11, 2000}));
    void* value = nullptr;
    int found = 0;
    FAILS(MPI_Comm_get_attr(comm, kept, &value, &found), MPI_ERR_KEYVAL);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    CHECK(deleted == std::vector<intptr_t>({11, 2000, 20, 10}));
    int key = first;
    MPI_Comm_free_keyval(&key);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, nullptr), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
    deleted.clear();
}

void failing_functions() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int key = make_key();
    MPI_Comm_set_attr(comm, key, value_of(1));
    int error_class = 0;
    int code = 0;
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &code);
    fail_with = code;
    CHECK(MPI_Comm_dup(comm, &copy) == code && copy == MPI_COMM_NULL);
    MPI_Comm same = comm;
    CHECK(MPI_Comm_free(&comm) == code && comm == same); // not freed
    CHECK(MPI_Comm_delete_attr(comm, key) == code && get(comm, key) == 1);
    fail_with = MPI_SUCCESS;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    deleted.clear();
    if (!portable_) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); // the context of the failed copy is reused
        MPI_Comm_free(&comm);
    }
}

void many_keys_last_first() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<int> keys;
    std::vector<intptr_t> expected;
    for (int i = 0; i < 100; ++i) {
        keys.push_back(make_key());
        MPI_Comm_set_attr(comm, keys.back(), value_of(i));
        expected.insert(expected.begin(), i);
    }
    MPI_Comm_free(&comm);
    CHECK(deleted == expected);
    for (int& key : keys) MPI_Comm_free_keyval(&key);
    deleted.clear();
}

int type_deletes = 0;
int record_type_delete(MPI_Datatype, int, void*, void*) {
    ++type_deletes;
    return MPI_SUCCESS;
}

void on_datatypes() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, record_type_delete, &key, nullptr);
    MPI_Type_set_attr(MPI_INT, key, value_of(5));
    void* value = nullptr;
    int found = 0;
    MPI_Type_get_attr(MPI_INT, key, &value, &found);
    CHECK(found != 0 && value == value_of(5));
    MPI_Type_get_attr(MPI_DOUBLE, key, &value, &found);
    CHECK(found == 0);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, value), MPI_ERR_KEYVAL); // a keyval of another kind
    MPI_Type_delete_attr(MPI_INT, key);
    CHECK(type_deletes == 1);
    MPI_Type_free_keyval(&key);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Type_get_name(MPI_INT, name, &length);
    CHECK(std::strcmp(name, "MPI_INT") == 0 && length == 7);
}

int at_finalize(MPI_Comm comm, int, void* value, void* extra) {
    static intptr_t expected = 2; // attributes are deleted in reverse order
    int initialized = 0;
    int finalized = 1;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(comm == MPI_COMM_SELF && value == value_of(expected--) && initialized != 0 && finalized == 0);
    if (expected < 0 && *static_cast<int*>(extra) == 0) std::printf("attributes: ok\n");
    return MPI_SUCCESS;
}

int copy_on_even_ranks(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return rank_ % 2 == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// On ranks where the callback fails there is no duplicate; the others get theirs, and later collectives
// match.
void failing_on_some_ranks() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_on_even_ranks, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(comm, key, value_of(1));
    for (int i = 0; i < 10; ++i) {
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        const bool fails = rank_ % 2 == 1;
        CHECK((MPI_Comm_idup(comm, &copy, &request) != MPI_SUCCESS) == fails);
        CHECK((request == MPI_REQUEST_NULL) == fails);
        int n = 0;
        const int one = 1;
        MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, comm);
        CHECK(n == size_);
        if (fails) continue;
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    lifecycle();
    failing_functions();
    if (!portable_) failing_on_some_ranks();
    many_keys_last_first();
    on_datatypes();
    for (intptr_t i = 0; i < 3; ++i) {
        int key = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, &rank_);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, value_of(i));
        MPI_Comm_free_keyval(&key);
    }
    MPI_Finalize();
}

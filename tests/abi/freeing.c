/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function that may free the handle it is given, with an error inside: the object is freed, and the
 * error must still reach the handler that the object had. The functions come from spec/
 * (gen/zipmpi_gen/freeing.py): entry points as in the library, whose implementation does its work and then
 * returns an error. Each is called with MPI_ERRORS_RETURN and with a user-defined handler that uses the
 * handle it receives, and once more with the freed handle.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Kind {
    kind_comm,
    kind_win,
    kind_file,
    kind_session, /* the kinds up to here have an error handler */
    kind_message,
    kind_request, /* the next two use the handler of a communicator */
    kind_datatype,
    kind_errhandler,
    kind_group,
    kind_info,
    kind_op,
    kind_comm_keyval,
    kind_keyval,
    kind_type_keyval,
    kind_win_keyval
};

struct Objects {
    MPI_Comm comm; /* also that of the request and the message */
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    MPI_Message message;
    MPI_Request request;
    MPI_Datatype datatype;
    MPI_Errhandler errhandler;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    int comm_keyval, keyval, type_keyval, win_keyval;
};

struct Freeing {
    const char* name;
    enum Kind kind;
    int (*call)(struct Objects* o);
};

enum Flavor { plain, persistent, flavors }; /* of requests */

static int data[4], scratch[4], narrow_ones[4];
static MPI_Request made_request = MPI_REQUEST_NULL;

#include "freeing_calls.inc"

/* ---- user-defined error handlers */

struct Handlers {
    MPI_Errhandler comm, win, file, session, stray;
};

static struct {
    int own, stray; /* calls of the object's handler, of the common one */
    int null;       /* whether the handler received a null handle */
    int unusable;   /* whether the handle was neither null nor usable */
    int code;
} seen;

static void record_handled(int code, int null, int result) {
    ++seen.own;
    seen.null = null;
    seen.unusable = result != MPI_SUCCESS;
    seen.code = code;
}

static void on_comm(MPI_Comm* comm, int* code, ...) {
    int rank;
    const int null = *comm == MPI_COMM_NULL;
    record_handled(*code, null, null ? MPI_SUCCESS : MPI_Comm_rank(*comm, &rank));
}

static void on_win(MPI_Win* win, int* code, ...) {
    MPI_Group group;
    const int null = *win == MPI_WIN_NULL;
    record_handled(*code, null, null ? MPI_SUCCESS : MPI_Win_get_group(*win, &group));
    if (!null) MPI_Group_free(&group);
}

static void on_file(MPI_File* file, int* code, ...) {
    int mode;
    const int null = *file == MPI_FILE_NULL;
    record_handled(*code, null, null ? MPI_SUCCESS : MPI_File_get_amode(*file, &mode));
}

static void on_session(MPI_Session* session, int* code, ...) {
    int sets;
    const int null = *session == MPI_SESSION_NULL;
    record_handled(*code, null,
                   null ? MPI_SUCCESS : MPI_Session_get_num_psets(*session, MPI_INFO_NULL, &sets));
}

static void on_unrelated(MPI_Comm* comm, int* code, ...) {
    ++seen.stray;
    seen.null = *comm != MPI_COMM_SELF;
    seen.code = *code;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

/* ---- objects */

static void make_message(struct Objects* o) {
    MPI_Send(data, 1, MPI_INT, 0, 1, o->comm);
    MPI_Mprobe(0, 1, o->comm, &o->message, MPI_STATUS_IGNORE);
}

static void make_request(struct Objects* o, enum Flavor flavor) {
    if (flavor == persistent) {
        MPI_Recv_init(data, 1, MPI_INT, MPI_PROC_NULL, 0, o->comm, &o->request);
        return;
    }
    MPI_Send(data, 1, MPI_INT, 0, 1, o->comm);
    MPI_Irecv(data, 1, MPI_INT, 0, 1, o->comm, &o->request);
}

/* Objects with an error handler. */
static void make_with_handler(struct Objects* o, enum Kind kind, const struct Handlers* h) {
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    if (kind == kind_win) {
        MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, o->comm, &o->win);
        MPI_Win_set_errhandler(o->win, h->win);
    } else if (kind == kind_file) {
        MPI_File_open(o->comm, "freeing.tmp", mode, MPI_INFO_NULL, &o->file);
        MPI_File_set_errhandler(o->file, h->file);
    } else if (kind == kind_session) {
        MPI_Session_init(MPI_INFO_NULL, h->session, &o->session);
    }
}

static void make_keyval(struct Objects* o, enum Kind kind) {
    if (kind == kind_comm_keyval)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &o->comm_keyval, NULL);
    else if (kind == kind_type_keyval)
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &o->type_keyval, NULL);
    else if (kind == kind_win_keyval)
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &o->win_keyval, NULL);
    else
        MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &o->keyval, NULL);
}

static void make(struct Objects* o, enum Kind kind, enum Flavor flavor, const struct Handlers* h) {
    MPI_Comm_dup(MPI_COMM_SELF, &o->comm);
    MPI_Comm_set_errhandler(o->comm, h->comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h->stray);
    if (kind <= kind_session)
        make_with_handler(o, kind, h);
    else if (kind >= kind_comm_keyval)
        make_keyval(o, kind);
    else if (kind == kind_message)
        make_message(o);
    else if (kind == kind_request)
        make_request(o, flavor);
    else if (kind == kind_datatype)
        MPI_Type_contiguous(3, MPI_INT, &o->datatype);
    else if (kind == kind_errhandler)
        MPI_Comm_create_errhandler(on_comm, &o->errhandler);
    else if (kind == kind_group)
        MPI_Comm_group(MPI_COMM_SELF, &o->group);
    else if (kind == kind_info)
        MPI_Info_create(&o->info);
    else
        MPI_Op_create(add, 1, &o->op);
}

static struct Objects no_objects(void) {
    struct Objects o = {MPI_COMM_NULL,      MPI_WIN_NULL,       MPI_FILE_NULL,     MPI_SESSION_NULL,
                        MPI_MESSAGE_NULL,   MPI_REQUEST_NULL,   MPI_DATATYPE_NULL, MPI_ERRHANDLER_NULL,
                        MPI_GROUP_NULL,     MPI_INFO_NULL,      MPI_OP_NULL,       MPI_KEYVAL_INVALID,
                        MPI_KEYVAL_INVALID, MPI_KEYVAL_INVALID, MPI_KEYVAL_INVALID};
    return o;
}

static int end_request(MPI_Request* request) {
    const int code = MPI_Wait(request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS && *request != MPI_REQUEST_NULL ? MPI_Request_free(request) : code;
}

/* Objects that the call did not free must still be valid: they can be freed. */
static int free_remaining(struct Objects* o) {
    int bad = 0;
    if (o->win != MPI_WIN_NULL) bad += MPI_Win_free(&o->win) != MPI_SUCCESS;
    if (o->file != MPI_FILE_NULL) bad += MPI_File_close(&o->file) != MPI_SUCCESS;
    if (o->session != MPI_SESSION_NULL) bad += MPI_Session_finalize(&o->session) != MPI_SUCCESS;
    if (o->message != MPI_MESSAGE_NULL)
        bad += MPI_Mrecv(data, 1, MPI_INT, &o->message, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (o->request != MPI_REQUEST_NULL) bad += end_request(&o->request) != MPI_SUCCESS;
    if (made_request != MPI_REQUEST_NULL) bad += end_request(&made_request) != MPI_SUCCESS;
    if (o->datatype != MPI_DATATYPE_NULL) bad += MPI_Type_free(&o->datatype) != MPI_SUCCESS;
    if (o->errhandler != MPI_ERRHANDLER_NULL) bad += MPI_Errhandler_free(&o->errhandler) != MPI_SUCCESS;
    if (o->group != MPI_GROUP_NULL) bad += MPI_Group_free(&o->group) != MPI_SUCCESS;
    if (o->info != MPI_INFO_NULL) bad += MPI_Info_free(&o->info) != MPI_SUCCESS;
    if (o->op != MPI_OP_NULL) bad += MPI_Op_free(&o->op) != MPI_SUCCESS;
    if (o->comm_keyval != MPI_KEYVAL_INVALID) bad += MPI_Comm_free_keyval(&o->comm_keyval) != MPI_SUCCESS;
    if (o->keyval != MPI_KEYVAL_INVALID) bad += MPI_Keyval_free(&o->keyval) != MPI_SUCCESS;
    if (o->type_keyval != MPI_KEYVAL_INVALID) bad += MPI_Type_free_keyval(&o->type_keyval) != MPI_SUCCESS;
    if (o->win_keyval != MPI_KEYVAL_INVALID) bad += MPI_Win_free_keyval(&o->win_keyval) != MPI_SUCCESS;
    if (o->comm != MPI_COMM_NULL) bad += MPI_Comm_free(&o->comm) != MPI_SUCCESS;
    return bad;
}

/* ---- cases */

static int wrong;

static void expect(int good, const struct Freeing* f, int flavor, int handled, const char* what) {
    if (good) return;
    ++wrong;
    printf("%s, %s, %s: %s\n", f->name, flavor == persistent ? "persistent" : "plain",
           handled ? "handler of the program" : "MPI_ERRORS_RETURN", what);
}

/* The objects differ from those before the call: the handle it was given is null now. */
static int was_freed(const struct Objects* before, const struct Objects* now) {
    return memcmp(before, now, sizeof *now) != 0;
}

static int class_of(int code) {
    int error_class = code;
    MPI_Error_class(code, &error_class);
    return error_class;
}

static void run(const struct Freeing* f, enum Flavor flavor, const struct Handlers* h, int handled) {
    struct Objects o = no_objects(), before;
    make(&o, f->kind, flavor, h);
    before = o;
    memset(&seen, 0, sizeof seen);
    const int code = f->call(&o);
    const int taken = was_freed(&before, &o), has_own = f->kind <= kind_request;
    expect(code != MPI_SUCCESS, f, flavor, handled, "the error was not returned");
    expect(seen.own == (handled && has_own), f, flavor, handled,
           "wrong number of calls of the object's handler");
    expect(seen.stray == (handled && !has_own), f, flavor, handled,
           "wrong number of calls of the common handler");
    expect(!seen.unusable, f, flavor, handled, "the handler received an unusable handle");
    expect(seen.null == (handled && taken && f->kind <= kind_session), f, flavor, handled,
           "the handler received a null handle, or a valid one where null was expected");
    expect(!handled || seen.code == code, f, flavor, handled, "the handler received another code");
    if (taken) {
        struct Objects stale = before;
        const int again = class_of(f->call(&stale));
        expect(again != MPI_SUCCESS && again != MPI_ERR_OTHER, f, flavor, handled,
               "succeeds on a freed handle");
    }
    expect(free_remaining(&o) == 0, f, flavor, handled, "an object it did not free cannot be freed");
}

int main(int argc, char** argv) {
    const size_t count = sizeof freeing_functions / sizeof *freeing_functions;
    const struct Handlers give_back = {MPI_ERRORS_RETURN, MPI_ERRORS_RETURN, MPI_ERRORS_RETURN,
                                       MPI_ERRORS_RETURN, MPI_ERRORS_RETURN};
    struct Handlers own;
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(on_comm, &own.comm);
    MPI_Comm_create_errhandler(on_unrelated, &own.stray);
    MPI_Win_create_errhandler(on_win, &own.win);
    MPI_File_create_errhandler(on_file, &own.file);
    MPI_Session_create_errhandler(on_session, &own.session);
    for (size_t i = 0; i < count; ++i) {
        const struct Freeing* const f = &freeing_functions[i];
        for (int flavor = plain; flavor < (f->kind == kind_request ? flavors : persistent); ++flavor) {
            run(f, flavor, &give_back, 0);
            run(f, flavor, &own, 1);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    printf("%zu functions, %d wrong\n", count, wrong);
    MPI_Finalize();
    return wrong == 0 && count > 0 ? 0 : 1;
}

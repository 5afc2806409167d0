// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tool interface before, within and after MPI: every function, and the error code of every invalid call.
#include "check.hpp"

#include <string>

namespace {

// Outside MPI_Init there is no job to abort.
void expect(int code, int want, const char* call, int line) {
    if (code == want) return;
    std::fprintf(stderr, "%s:%d: %s gave %d, not %d\n", __FILE__, line, call, code, want);
    std::exit(3);
}
#define GIVES(call, want) expect((call), (want), #call, __LINE__)
#define GOOD(call) GIVES(call, MPI_SUCCESS)

void before_init() {
    int n = 0;
    GIVES(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_init_thread(17, &n), MPI_T_ERR_INVALID);
    GOOD(MPI_T_init_thread(MPI_THREAD_SINGLE, &n));
    GOOD(MPI_T_init_thread(MPI_THREAD_MULTIPLE, nullptr));
    GOOD(MPI_T_finalize()); // reference count: still initialized
    GOOD(MPI_T_cvar_get_num(&n));
}

void enumerations() {
    int n = 0;
    GOOD(MPI_T_cvar_get_num(&n));
    int found = 0;
    for (int i = 0; i < n; ++i) {
        MPI_T_enum words = MPI_T_ENUM_NULL;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        int scope = 0;
        int bind = 0;
        GOOD(MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, &type, &words, nullptr, nullptr, &bind,
                                 &scope));
        expect(bind, MPI_T_BIND_NO_OBJECT, "bind", __LINE__);
        if (words == MPI_T_ENUM_NULL) continue;
        ++found;
        int items = 0;
        int value = -1;
        char name[16];
        int length = sizeof name;
        GOOD(MPI_T_enum_get_info(words, &items, nullptr, nullptr));
        expect(items, 2, "items", __LINE__);
        GOOD(MPI_T_enum_get_item(words, 1, &value, name, &length));
        expect(value == 1 && std::string(name) == "yes" && length == 4, 1, "item", __LINE__);
        GIVES(MPI_T_enum_get_item(words, 2, &value, nullptr, nullptr), MPI_T_ERR_INVALID_ITEM);
    }
    expect(found > 0, 1, "some parameters are boolean", __LINE__);
    GIVES(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
}

void control_variables() {
    int n = 0;
    int index = -1;
    int count = 0;
    GOOD(MPI_T_cvar_get_num(&n));
    GIVES(MPI_T_cvar_get_num(nullptr), MPI_T_ERR_INVALID);
    GIVES(MPI_T_cvar_get_info(n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                              nullptr),
          MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_cvar_get_index("no such thing", &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_cvar_get_index(nullptr, &index), MPI_T_ERR_INVALID);
    GOOD(MPI_T_cvar_get_index("shm.cell_size", &index));
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    GIVES(MPI_T_cvar_handle_alloc(-1, nullptr, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    GOOD(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
    MPI_Count bytes = 0;
    GOOD(MPI_T_cvar_read(handle, &bytes));
    expect(bytes >= 4096 && count == 1, 1, "the size of a cell", __LINE__);
    GIVES(MPI_T_cvar_write(handle, &bytes), MPI_T_ERR_CVAR_SET_NEVER);
    GIVES(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &bytes), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_cvar_handle copy = handle;
    GOOD(MPI_T_cvar_handle_free(&handle));
    expect(handle == MPI_T_CVAR_HANDLE_NULL, 1, "the handle is null", __LINE__);
    GIVES(MPI_T_cvar_handle_free(&copy), MPI_T_ERR_INVALID_HANDLE);
}

void categories() {
    int n = 0;
    int stamp = -1;
    GOOD(MPI_T_category_changed(&stamp));
    GOOD(MPI_T_category_get_num(&n));
    int cvars = 0;
    int in_categories = 0;
    int in_events = 0;
    GOOD(MPI_T_cvar_get_num(&cvars));
    for (int i = 0; i < n; ++i) {
        char name[64];
        int length = sizeof name;
        int its_cvars = 0;
        int its_pvars = 0;
        int its_categories = -1;
        int index = -1;
        int events = -1;
        GOOD(MPI_T_category_get_info(i, name, &length, nullptr, nullptr, &its_cvars, &its_pvars,
                                     &its_categories));
        GOOD(MPI_T_category_get_index(name, &index));
        GOOD(MPI_T_category_get_num_events(i, &events));
        expect(index == i && its_categories == 0 && events >= 0, 1, name, __LINE__);
        in_events += events;
        std::vector<int> indices(static_cast<size_t>(its_cvars) + 1, -1);
        GOOD(MPI_T_category_get_cvars(i, its_cvars + 1, indices.data()));
        expect(indices.back(), -1, "no more than the number of variables", __LINE__);
        GOOD(MPI_T_category_get_pvars(i, 0, nullptr));
        GOOD(MPI_T_category_get_categories(i, 1, indices.data()));
        GOOD(MPI_T_category_get_events(i, 1, indices.data()));
        in_categories += its_cvars;
    }
    expect(in_categories, cvars, "all control variables are in categories", __LINE__);
    int events = 0;
    GOOD(MPI_T_event_get_num(&events));
    expect(in_events, events, "all events are in categories", __LINE__);
    GIVES(MPI_T_category_get_cvars(n, 0, nullptr), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_index("no such thing", &n), MPI_T_ERR_INVALID_NAME);
}

void events() {
    int n = -1;
    MPI_Count time = 0;
    MPI_Count later = 0;
    MPI_Count rate = 0;
    MPI_T_source_order order{};
    MPI_Info info = MPI_INFO_NULL;
    MPI_T_event_registration registration{};
    MPI_T_event_instance instance{};
    GOOD(MPI_T_source_get_num(&n));
    expect(n, 1, "sources", __LINE__);
    GOOD(MPI_T_source_get_info(0, nullptr, nullptr, nullptr, nullptr, &order, &rate, nullptr, &info));
    expect(rate == 1000000000 && order == MPI_T_SOURCE_ORDERED && info != MPI_INFO_NULL, 1, "source",
           __LINE__);
    GOOD(MPI_Info_free(&info));
    GOOD(MPI_T_source_get_timestamp(0, &time));
    GOOD(MPI_T_source_get_timestamp(0, &later));
    expect(time > 0 && later >= time, 1, "the time does not decrease", __LINE__);
    GIVES(MPI_T_source_get_timestamp(1, &time), MPI_T_ERR_INVALID_INDEX);
    GOOD(MPI_T_event_get_num(&n));
    expect(n >= 8, 1, "event types", __LINE__);
    GIVES(MPI_T_event_get_index("no such thing", &n), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_event_get_info(n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr, nullptr),
          MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_handle_alloc(n, nullptr, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_handle_free(registration, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_handle_get_info(registration, &info), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, nullptr),
          MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info),
          MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
          MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_set_dropped_handler(registration, nullptr), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_read(instance, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_copy(instance, &n), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_get_source(instance, &n), MPI_T_ERR_INVALID_HANDLE);
}

struct Counted {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    explicit Counted(const char* name, int cls, void* object = nullptr) {
        int index = -1;
        int count = 0;
        GOOD(MPI_T_pvar_session_create(&session));
        GOOD(MPI_T_pvar_get_index(name, cls, &index));
        GOOD(MPI_T_pvar_handle_alloc(session, index, object, &handle, &count));
    }
    unsigned long long read() {
        unsigned long long value = 0;
        GOOD(MPI_T_pvar_read(session, handle, &value));
        return value;
    }
};

void to_self(int times) {
    int in = 0;
    for (int i = 0; i < times; ++i)
        MPI_Sendrecv(&i, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

void counting() {
    Counted sends("counter.sends", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long value = 100;
    to_self(3);
    CHECK(sends.read() == 0); // not started
    GOOD(MPI_T_pvar_start(sends.session, MPI_T_PVAR_ALL_HANDLES));
    to_self(4);
    CHECK(sends.read() == 4);
    GOOD(MPI_T_pvar_stop(sends.session, sends.handle));
    to_self(2);
    CHECK(sends.read() == 4);
    GOOD(MPI_T_pvar_write(sends.session, sends.handle, &value));
    GOOD(MPI_T_pvar_start(sends.session, sends.handle));
    to_self(1);
    GOOD(MPI_T_pvar_readreset(sends.session, sends.handle, &value));
    CHECK(value == 101 && sends.read() == 0);
    GOOD(MPI_T_pvar_reset(sends.session, MPI_T_PVAR_ALL_HANDLES));
    GIVES(MPI_T_pvar_read(sends.session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, sends.handle, &value), MPI_T_ERR_INVALID_SESSION);
    GOOD(MPI_T_pvar_handle_free(sends.session, &sends.handle));
    CHECK(sends.handle == MPI_T_PVAR_HANDLE_NULL);
    GIVES(MPI_T_pvar_start(sends.session, sends.handle), MPI_T_ERR_INVALID_HANDLE);
    GOOD(MPI_T_pvar_session_free(&sends.session));
    GIVES(MPI_T_pvar_session_free(&sends.session), MPI_T_ERR_INVALID_SESSION);
}

void waiting_messages() {
    Counted waiting("p2p.unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL);
    const unsigned long long before = waiting.read();
    int value = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &request);
    CHECK(waiting.read() == before + 1);
    MPI_Recv(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(waiting.read() == before);
    GIVES(MPI_T_pvar_stop(waiting.session, waiting.handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    GIVES(MPI_T_pvar_reset(waiting.session, waiting.handle), MPI_T_ERR_PVAR_NO_WRITE);
    GOOD(MPI_T_pvar_session_free(&waiting.session)); // also frees its handle
}

// Bound to a communicator: one value per rank.
void bound_variables() {
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size_ - rank_, &reversed);
    Counted sent("matrix.sent", MPI_T_PVAR_CLASS_COUNTER, &reversed);
    GOOD(MPI_T_pvar_start(sent.session, sent.handle));
    to_self(5);
    std::vector<unsigned long long> values(static_cast<size_t>(size_));
    GOOD(MPI_T_pvar_read(sent.session, sent.handle, values.data()));
    CHECK(values[static_cast<size_t>(size_ - 1 - rank_)] == 5);
    int index = -1;
    int count = 0;
    MPI_Comm null = MPI_COMM_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    GOOD(MPI_T_pvar_get_index("matrix.sent", MPI_T_PVAR_CLASS_COUNTER, &index));
    GIVES(MPI_T_pvar_get_index("matrix.sent", MPI_T_PVAR_CLASS_TIMER, &count), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_pvar_handle_alloc(sent.session, index, &null, &handle, &count), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_handle_alloc(sent.session, index, nullptr, &handle, &count), MPI_T_ERR_INVALID_HANDLE);
    GOOD(MPI_T_pvar_session_free(&sent.session));
    MPI_Comm_free(&reversed);
}

void error_texts() {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    int index = -1;
    MPI_Error_string(MPI_T_cvar_get_index("nonsense", &index), text, &length);
    CHECK(std::strstr(text, "MPI_T_cvar_get_index") != nullptr && std::strstr(text, "nonsense") != nullptr);
}

} // namespace

int main(int argc, char** argv) {
    before_init();
    enumerations();
    control_variables();
    categories();
    events();
    const Session session(&argc, &argv);
    enumerations();
    control_variables();
    categories();
    counting();
    waiting_messages();
    bound_variables();
    error_texts();
    session.end("tool_interface");
    control_variables();
    Counted sends("counter.sends", MPI_T_PVAR_CLASS_COUNTER);
    sends.read();
    GOOD(MPI_T_finalize()); // with a session and a handle
    unsigned long long value = 0;
    GIVES(MPI_T_pvar_read(sends.session, sends.handle, &value), MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}

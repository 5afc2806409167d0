// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_pmix_server.so: the PMIx server library of one host, for programs linked with an MPI that
// speaks PMIx. Everything within one host is answered inside libpmix; what it calls us for runs on its own
// thread and is handed on as an event.
#include "launch/pmix/module.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pmix.h>
#include <pmix_server.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace zipmpi::launch {
namespace {

void (*tell)(void*, const PmixEvent&) = nullptr;
void* tell_arg = nullptr;
std::string job_name;

// Waits for a callback of libpmix, which always comes from its own thread, or gives up after some seconds.
class Answer {
  public:
    static void give(pmix_status_t status, void* self) {
        auto* a = static_cast<Answer*>(self);
        const std::lock_guard lock(a->mutex_);
        a->status_ = status;
        a->here_ = true;
        a->arrived_.notify_one();
    }
    pmix_status_t wait(pmix_status_t started) {
        if (started == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
        if (started != PMIX_SUCCESS) return started;
        std::unique_lock lock(mutex_);
        const bool came = arrived_.wait_for(lock, std::chrono::seconds(10), [this] { return here_; });
        return came ? status_ : PMIX_ERR_TIMEOUT;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    pmix_status_t status_ = PMIX_SUCCESS;
    bool here_ = false;
};

void send_event(PmixEvent::Kind kind, const pmix_proc_t* who, int status, const char* text) {
    PmixEvent e{kind, who->rank, status, {}};
    if (text != nullptr) std::snprintf(e.text, sizeof e.text, "%s", text);
    tell(tell_arg, e);
}

pmix_status_t on_connected(const pmix_proc_t* who, void*, pmix_op_cbfunc_t done, void* data) {
    send_event(PmixEvent::Kind::connected, who, 0, nullptr);
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}

pmix_status_t on_finalized(const pmix_proc_t* who, void*, pmix_op_cbfunc_t done, void* data) {
    send_event(PmixEvent::Kind::finalized, who, 0, nullptr);
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}

pmix_status_t on_abort(const pmix_proc_t* who, void*, int status, const char* text, pmix_proc_t*, size_t,
                       pmix_op_cbfunc_t done, void* data) {
    send_event(PmixEvent::Kind::abort, who, status, text);
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}

pmix_status_t no_such_key(const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t, void*) {
    return PMIX_ERR_NOT_FOUND; // all that exists is known to libpmix already
}

// The description of a job: key and value pairs that free themselves.
class Infos {
  public:
    Infos() = default;
    Infos(const Infos&) = delete;
    Infos& operator=(const Infos&) = delete;
    ~Infos() {
        for (auto& i : list_) PMIX_INFO_DESTRUCT(&i);
    }
    void text(const char* key, const char* value, pmix_data_type_t type = PMIX_STRING) {
        add(key, value, type);
    }
    void number(const char* key, uint32_t value) { add(key, &value, PMIX_UINT32); }
    void rank(uint32_t r, uint32_t app, const char* host) {
        pmix_data_array_t* array = nullptr;
        PMIX_DATA_ARRAY_CREATE(array, 6, PMIX_INFO);
        auto* a = static_cast<pmix_info_t*>(array->array);
        const pmix_rank_t rank = r;
        const auto local = static_cast<uint16_t>(r);
        const uint32_t node = 0;
        PMIX_INFO_LOAD(&a[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
        PMIX_INFO_LOAD(&a[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
        PMIX_INFO_LOAD(&a[2], PMIX_NODE_RANK, &local, PMIX_UINT16);
        PMIX_INFO_LOAD(&a[3], PMIX_NODEID, &node, PMIX_UINT32);
        PMIX_INFO_LOAD(&a[4], PMIX_APPNUM, &app, PMIX_UINT32);
        PMIX_INFO_LOAD(&a[5], PMIX_HOSTNAME, host, PMIX_STRING);
        list_.emplace_back();
        std::memset(&list_.back(), 0, sizeof(pmix_info_t));
        PMIX_LOAD_KEY(list_.back().key, PMIX_PROC_INFO_ARRAY);
        list_.back().value.type = PMIX_DATA_ARRAY;
        list_.back().value.data.darray = array;
    }
    pmix_info_t* data() { return list_.data(); }
    [[nodiscard]] size_t size() const { return list_.size(); }

  private:
    void add(const char* key, const void* value, pmix_data_type_t type) {
        list_.emplace_back();
        PMIX_INFO_LOAD(&list_.back(), key, value, type);
    }
    std::vector<pmix_info_t> list_;
};

bool start_server(const PmixJob& job) {
    static pmix_server_module_t upcalls{};
    upcalls.client_connected = on_connected;
    upcalls.client_finalized = on_finalized;
    upcalls.abort = on_abort;
    upcalls.direct_modex = no_such_key;
    Infos infos;
    infos.text(PMIX_SERVER_TMPDIR, job.scratch);
    infos.text(PMIX_SYSTEM_TMPDIR, job.scratch);
    infos.text(PMIX_HOSTNAME, job.host);
    return PMIx_server_init(&upcalls, infos.data(), infos.size()) == PMIX_SUCCESS;
}

bool register_job(const PmixJob& job) {
    std::string ranks;
    for (uint32_t r = 0; r < job.size; ++r) ranks += (r > 0 ? "," : "") + std::to_string(r);
    char* nodes = nullptr;
    char* procs = nullptr;
    if (PMIx_generate_regex(job.host, &nodes) != PMIX_SUCCESS ||
        PMIx_generate_ppn(ranks.c_str(), &procs) != PMIX_SUCCESS)
        return false;
    Infos infos;
    infos.text(PMIX_NODE_MAP, nodes, PMIX_REGEX);
    infos.text(PMIX_PROC_MAP, procs, PMIX_REGEX);
    infos.text(PMIX_JOBID, job.name);
    infos.text(PMIX_NSDIR, job.scratch);
    infos.text(PMIX_TMPDIR, job.scratch);
    for (const char* key : {PMIX_JOB_SIZE, PMIX_UNIV_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE})
        infos.number(key, job.size);
    infos.number(PMIX_JOB_NUM_APPS, job.apps);
    for (uint32_t r = 0; r < job.size; ++r) infos.rank(r, job.app_numbers[r], job.host);
    Answer answer;
    const auto started = PMIx_server_register_nspace(job.name, static_cast<int>(job.size), infos.data(),
                                                     infos.size(), Answer::give, &answer);
    std::free(nodes);
    std::free(procs);
    return answer.wait(started) == PMIX_SUCCESS;
}

bool start(const PmixJob& job, void (*event)(void*, const PmixEvent&), void* arg) {
    tell = event;
    tell_arg = arg;
    job_name = job.name;
    return start_server(job) && register_job(job);
}

bool rank_env(uint32_t rank, void (*add)(void*, const char*), void* arg) {
    pmix_proc_t who;
    PMIX_LOAD_PROCID(&who, job_name.c_str(), rank);
    Answer answer;
    if (answer.wait(PMIx_server_register_client(&who, getuid(), getgid(), nullptr, Answer::give, &answer)) !=
        PMIX_SUCCESS)
        return false;
    char** env = nullptr;
    const bool ok = PMIx_server_setup_fork(&who, &env) == PMIX_SUCCESS;
    for (char** e = env; ok && e != nullptr && *e != nullptr; ++e) add(arg, *e);
    PMIX_ARGV_FREE(env);
    return ok;
}

constexpr PmixModule module_table{start, rank_env};

} // namespace
} // namespace zipmpi::launch

extern "C" [[gnu::visibility("default")]] const zipmpi::launch::PmixModule* zipmpi_pmix_module();

extern "C" const zipmpi::launch::PmixModule* zipmpi_pmix_module() { return &zipmpi::launch::module_table; }

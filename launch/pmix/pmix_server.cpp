// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_pmix_server.so: the PMIx server library of one host, for programs linked with an MPI that
// uses PMIx. libpmix answers requests within one host. Its upcalls, also those for data of other nodes, run
// on its own thread and are forwarded as events.
#include "launch/pmix/pmix_module.hpp"

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

struct PmixRequest {
    pmix_modex_cbfunc_t done;
    void* data; // of libpmix
};

namespace {

PmixListener* events = nullptr;
std::string job_name;
uint32_t job_size = 0;
uint32_t job_nodes = 0;

// Waits for a callback of libpmix, which always runs on its own thread, or gives up after some seconds.
class Answer {
  public:
    static void complete(pmix_status_t status, void* self) {
        auto* a = static_cast<Answer*>(self);
        const std::lock_guard lock(a->mutex_);
        a->status_ = status;
        a->ready_ = true;
        a->arrived_.notify_one();
    }
    pmix_status_t wait(pmix_status_t started) {
        if (started == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
        if (started != PMIX_SUCCESS) return started;
        std::unique_lock lock(mutex_);
        const bool came = arrived_.wait_for(lock, std::chrono::seconds(10), [this] { return ready_; });
        return came ? status_ : PMIX_ERR_TIMEOUT;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    pmix_status_t status_ = PMIX_SUCCESS;
    bool ready_ = false;
};

void send_event(PmixEvent::Kind kind, const pmix_proc_t* who, int status, const char* text) {
    events->on_event({kind, who->rank, status, text, nullptr, 0, nullptr});
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

// Within one host libpmix handles everything. Only fences of the whole job are supported; no other kind is
// used.
pmix_status_t on_fence(const pmix_proc_t procs[], size_t count, const pmix_info_t*, size_t, char* data,
                       size_t size, pmix_modex_cbfunc_t done, void* arg) {
    if (!(count == 1 && procs[0].rank == PMIX_RANK_WILDCARD) && count != job_size)
        return PMIX_ERR_NOT_SUPPORTED;
    events->on_event({PmixEvent::Kind::fence, 0, 0, nullptr, data, size, new PmixRequest{done, arg}});
    std::free(data);
    return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t* who, const pmix_info_t*, size_t, pmix_modex_cbfunc_t done,
                       void* arg) {
    if (who->rank >= job_size || job_nodes < 2) return PMIX_ERR_NOT_FOUND; // libpmix has all local data
    events->on_event({PmixEvent::Kind::modex, who->rank, 0, nullptr, nullptr, 0, new PmixRequest{done, arg}});
    return PMIX_SUCCESS;
}

void send_reply(PmixRequest* p, bool found, const char* data, size_t size) {
    // libpmix keeps the bytes until it calls free.
    auto* copy = static_cast<char*>(std::malloc(size == 0 ? 1 : size));
    const bool ok = found && copy != nullptr;
    if (ok) std::memcpy(copy, data, size);
    p->done(ok ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, ok ? copy : nullptr, ok ? size : 0, p->data, std::free,
            copy);
    delete p;
}

void request_modex(uint32_t rank, PmixModule::ModexHandler handler) {
    pmix_proc_t who;
    PMIX_LOAD_PROCID(&who, job_name.c_str(), rank);
    auto* pending = new PmixModule::ModexHandler(std::move(handler));
    const auto on_data = [](pmix_status_t status, char* data, size_t size, void* self) {
        const auto* got = static_cast<PmixModule::ModexHandler*>(self);
        (*got)(status == PMIX_SUCCESS, data, size);
        delete got;
    };
    if (PMIx_server_dmodex_request(&who, on_data, pending) == PMIX_SUCCESS) return;
    (*pending)(false, nullptr, 0);
    delete pending;
}

// The description of a job: key-value pairs with automatic release.
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
    void rank(uint32_t r, uint32_t app, uint32_t node, uint16_t local, const char* host) {
        pmix_data_array_t* array = nullptr;
        PMIX_DATA_ARRAY_CREATE(array, 6, PMIX_INFO);
        auto* a = static_cast<pmix_info_t*>(array->array);
        const pmix_rank_t rank = r;
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
    upcalls.direct_modex = on_modex;
    if (job.nodes > 1) upcalls.fence_nb = on_fence;
    Infos infos;
    infos.text(PMIX_SERVER_TMPDIR, job.scratch);
    infos.text(PMIX_SYSTEM_TMPDIR, job.scratch);
    infos.text(PMIX_HOSTNAME, job.node_names[job.own_node]);
    return PMIx_server_init(&upcalls, infos.data(), infos.size()) == PMIX_SUCCESS;
}

// "n1,n2" and "0,1;2,3", which libpmix compresses.
std::string names_of(const PmixJob& job) {
    std::string names;
    for (uint32_t n = 0; n < job.nodes; ++n) names += (n > 0 ? "," : "") + std::string(job.node_names[n]);
    return names;
}

std::string ranks_by_node(const PmixJob& job) {
    std::vector<std::string> lists(job.nodes);
    for (uint32_t r = 0; r < job.size; ++r) {
        std::string& list = lists[job.node_of[r]];
        list += (list.empty() ? "" : ",") + std::to_string(r);
    }
    std::string all;
    for (uint32_t n = 0; n < job.nodes; ++n) all += (n > 0 ? ";" : "") + lists[n];
    return all;
}

bool register_job(const PmixJob& job) {
    char* nodes = nullptr;
    char* procs = nullptr;
    if (PMIx_generate_regex(names_of(job).c_str(), &nodes) != PMIX_SUCCESS ||
        PMIx_generate_ppn(ranks_by_node(job).c_str(), &procs) != PMIX_SUCCESS)
        return false;
    Infos infos;
    infos.text(PMIX_NODE_MAP, nodes, PMIX_REGEX);
    infos.text(PMIX_PROC_MAP, procs, PMIX_REGEX);
    infos.text(PMIX_JOBID, job.name);
    infos.text(PMIX_NSDIR, job.scratch);
    infos.text(PMIX_TMPDIR, job.scratch);
    for (const char* key : {PMIX_JOB_SIZE, PMIX_UNIV_SIZE, PMIX_MAX_PROCS}) infos.number(key, job.size);
    infos.number(PMIX_JOB_NUM_APPS, job.apps);
    std::vector<uint16_t> local(job.nodes);
    for (uint32_t r = 0; r < job.size; ++r) {
        const uint32_t node = job.node_of[r];
        infos.rank(r, job.app_numbers[r], node, local[node]++, job.node_names[node]);
    }
    infos.number(PMIX_LOCAL_SIZE, local[job.own_node]);
    if (job.nodes > 1) infos.number(PMIX_NUM_NODES, job.nodes);
    Answer reply;
    const auto started = PMIx_server_register_nspace(job.name, local[job.own_node], infos.data(),
                                                     infos.size(), Answer::complete, &reply);
    std::free(nodes);
    std::free(procs);
    return reply.wait(started) == PMIX_SUCCESS;
}

bool start(const PmixJob& job, PmixListener& listener) {
    events = &listener;
    job_name = job.name;
    job_size = job.size;
    job_nodes = job.nodes;
    return start_server(job) && register_job(job);
}

bool rank_env(uint32_t rank, std::vector<std::string>& variables) {
    pmix_proc_t who;
    PMIX_LOAD_PROCID(&who, job_name.c_str(), rank);
    Answer reply;
    if (reply.wait(PMIx_server_register_client(&who, getuid(), getgid(), nullptr, Answer::complete,
                                               &reply)) != PMIX_SUCCESS)
        return false;
    char** env = nullptr;
    const bool ok = PMIx_server_setup_fork(&who, &env) == PMIX_SUCCESS;
    for (char** e = env; ok && e != nullptr && *e != nullptr; ++e) variables.emplace_back(*e);
    PMIX_ARGV_FREE(env);
    return ok;
}

constexpr PmixModule module_table{start, rank_env, send_reply, request_modex};

} // namespace
} // namespace zipmpi::launch

extern "C" [[gnu::visibility("default")]] const zipmpi::launch::PmixModule* zipmpi_pmix_module_2();

extern "C" const zipmpi::launch::PmixModule* zipmpi_pmix_module_2() { return &zipmpi::launch::module_table; }

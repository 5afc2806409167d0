// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The module zipmpi_pmix_client.so: PMIx client based on libpmix. Fences collect no data; values are fetched
// from their owner on demand.
#include "boot/pmix/module.hpp"
#include "boot/process_mapping.hpp"
#include "boot/timeouts.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <pmix.h>

namespace zipmpi::boot {
namespace {

// Owning result of PMIx_Get.
class Value {
  public:
    Value() = default;
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    ~Value() {
        if (value_ != nullptr) PMIX_VALUE_RELEASE(value_);
    }
    // what_is_here: query only the local server; else absent keys cost seconds.
    pmix_status_t get(const pmix_proc_t& owner, const char* key, bool what_is_here) {
        bool yes = true;
        pmix_info_t optional{};
        PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
        const pmix_status_t rc = PMIx_Get(&owner, key, &optional, what_is_here ? 1 : 0, &value_);
        PMIX_INFO_DESTRUCT(&optional);
        return value_ == nullptr && rc == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : rc;
    }
    // The type of numbers differs between servers (APPNUM is uint32 in one and int in another).
    [[nodiscard]] int64_t number() const {
        switch (value_ != nullptr ? value_->type : PMIX_UNDEF) {
        case PMIX_INT:
            return value_->data.integer;
        case PMIX_INT32:
            return value_->data.int32;
        case PMIX_INT64:
            return value_->data.int64;
        case PMIX_UINT:
            return value_->data.uint;
        case PMIX_UINT16:
            return value_->data.uint16;
        case PMIX_UINT32:
            return value_->data.uint32;
        case PMIX_UINT64:
            return value_->data.uint64 <= INT32_MAX ? static_cast<int64_t>(value_->data.uint64) : -1;
        case PMIX_SIZE:
            return value_->data.size <= INT32_MAX ? static_cast<int64_t>(value_->data.size) : -1;
        case PMIX_PROC_RANK:
            return value_->data.rank;
        default:
            return -1;
        }
    }
    [[nodiscard]] const char* text() const {
        return value_ != nullptr && value_->type == PMIX_STRING ? value_->data.string : nullptr;
    }

  private:
    pmix_value_t* value_ = nullptr;
};

int number_of(const pmix_proc_t& owner, const char* key) {
    Value v;
    if (v.get(owner, key, true) != PMIX_SUCCESS) return -1;
    const int64_t n = v.number();
    return n >= 0 && n <= INT32_MAX ? static_cast<int>(n) : -1;
}

class Pmix final : public Launcher {
  public:
    explicit Pmix(const pmix_proc_t& me)
        : all_ranks_(peer(me, PMIX_RANK_WILDCARD)) {}

    static pmix_proc_t peer(const pmix_proc_t& me, pmix_rank_t rank) {
        pmix_proc_t p{};
        PMIX_LOAD_PROCID(&p, me.nspace, rank);
        return p;
    }
    [[nodiscard]] const pmix_proc_t& all_ranks() const { return all_ranks_; }

    bool put(std::string_view key, std::string_view value) override {
        if (value.size() > value_limit) return false;
        std::string text(value);
        pmix_value_t v{};
        v.type = PMIX_STRING;
        v.data.string = text.data();
        return PMIx_Put(PMIX_GLOBAL, full_key(key).c_str(), &v) == PMIX_SUCCESS &&
               PMIx_Commit() == PMIX_SUCCESS;
    }
    bool get(int from_rank, std::string_view key, std::string& value) override {
        Value v;
        const auto owner = peer(all_ranks_, static_cast<pmix_rank_t>(from_rank));
        if (v.get(owner, full_key(key).c_str(), false) != PMIX_SUCCESS || v.text() == nullptr) return false;
        value.assign(v.text(), strnlen(v.text(), value_limit));
        return true;
    }
    bool fence() override { return PMIx_Fence(&all_ranks_, 1, nullptr, 0) == PMIX_SUCCESS; }
    void abort(int exit_code, std::string_view text) override {
        if (PMIx_Abort(exit_code, std::string(text).c_str(), nullptr, 0) == PMIX_SUCCESS)
            wait_for_termination();
    }
    int64_t node_of(int rank) override {
        return number_of(peer(all_ranks_, static_cast<pmix_rank_t>(rank)), PMIX_NODEID);
    }
    void finalize() override { PMIx_Finalize(nullptr, 0); }

  private:
    static std::string full_key(std::string_view key) { return "zipmpi." + std::string(key); }
    pmix_proc_t all_ranks_;
};

bool identify(const pmix_proc_t& self, const pmix_proc_t& job_proc, PmixIdentity& me, std::string& why) {
    me.job_id = self.nspace;
    me.rank = static_cast<int>(self.rank);
    me.size = number_of(job_proc, PMIX_JOB_SIZE);
    if (me.size < 1 || me.rank < 0 || me.rank >= me.size) {
        why = "the server reports rank " + std::to_string(me.rank) + " of " + std::to_string(me.size);
        return false;
    }
    me.universe_size = number_of(job_proc, PMIX_UNIV_SIZE);
    me.app_number = number_of(self, PMIX_APPNUM);
    Value peers;
    if (me.size == 1) {
        me.node_ranks = {0};
    } else if (peers.get(job_proc, PMIX_LOCAL_PEERS, true) != PMIX_SUCCESS || peers.text() == nullptr ||
               !parse_rank_list(peers.text(), me.size, me.node_ranks)) {
        why = "the server does not report which ranks are on this host (pmix.lpeers)";
        return false;
    }
    return true;
}

// Environment variable set during the lifetime of this object, unless the user has set it. libpmix reads its
// settings in PMIx_Init; child processes of this rank must not inherit them.
class ScopedEnv {
  public:
    ScopedEnv(const char* name, const std::string& value)
        : name_(std::getenv(name) == nullptr ? name : nullptr) {
        if (name_ != nullptr) setenv(name_, value.c_str(), 1);
    }
    ScopedEnv(const ScopedEnv&) = delete;
    ScopedEnv& operator=(const ScopedEnv&) = delete;
    ~ScopedEnv() {
        if (name_ != nullptr) unsetenv(name_);
    }

  private:
    const char* name_;
};

pmix_status_t init_within(int limit_seconds, pmix_proc_t& self) {
    // By default libpmix waits without limit for a server that accepts but does not reply.
    const ScopedEnv wait("PMIX_MCA_ptl_base_handshake_wait_time", std::to_string(limit_seconds));
    const ScopedEnv retries("PMIX_MCA_ptl_base_handshake_max_retries", "0");
    return PMIx_Init(&self, nullptr, 0);
}

// "OpenPMIx 4.2.2 (PMIx Standard: ...)" without the text in parentheses.
std::string library_version() {
    const std::string full = PMIx_Get_version();
    return full.substr(0, full.find(" ("));
}

} // namespace
} // namespace zipmpi::boot

extern "C" [[gnu::visibility("default")]] zipmpi::boot::Launcher*
zipmpi_pmix_open_2(int limit_seconds, zipmpi::boot::PmixIdentity& me, std::string& why) {
    using namespace zipmpi::boot;
    pmix_proc_t self{};
    const pmix_status_t rc = init_within(limit_seconds, self);
    if (rc != PMIX_SUCCESS) {
        // No PMIx_Finalize: libpmix 4.2 crashes in it after a failed PMIx_Init, and this process ends anyway.
        why = "PMIx_Init of " + library_version() + " returned " + PMIx_Error_string(rc);
        return nullptr;
    }
    auto launcher = std::make_unique<Pmix>(self);
    if (!identify(self, launcher->all_ranks(), me, why)) {
        launcher->finalize();
        return nullptr;
    }
    return launcher.release();
}

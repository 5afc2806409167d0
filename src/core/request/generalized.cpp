// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/request/generalized.hpp"

#include "core/p2p/p2p.hpp"
#include "core/runtime_unlock_guard.hpp"
#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::core {
namespace {

class Generalized : public CompoundRequest {
  public:
    explicit Generalized(const GeneralizedFunctions& functions)
        : functions_(functions) {}

    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return nullptr;
    } // no pending message
    void query(Status& status) override {
        const RuntimeUnlockGuard unlocked;
        const Err e = functions_.calls->query(functions_.query, functions_.extra_state, status);
        if (e != Err::success) status.error = e;
    }
    Err on_free() override {
        const RuntimeUnlockGuard unlocked;
        return functions_.calls->free(functions_.free, functions_.extra_state);
    }
    Err cancel(bool complete) override {
        const RuntimeUnlockGuard unlocked;
        return functions_.calls->cancel(functions_.cancel, functions_.extra_state, complete);
    }

  private:
    GeneralizedFunctions functions_;
};

} // namespace

Err grequest_start(const GeneralizedFunctions& functions, Request*& request) {
    std::unique_ptr<Generalized> generalized(new (std::nothrow) Generalized(functions));
    request = generalized != nullptr ? make_request(nullptr, builtin_type(TypeId::BYTE)) : nullptr;
    if (request == nullptr) return request_alloc_error();
    request->role = Request::generalized;
    request->compound = std::move(generalized);
    return Err::success;
}

Err grequest_complete(Request& request) {
    if (request.role != Request::generalized || request.done())
        return fail(Err::request, "complete each generalized request once",
                    request.done() ? "the request is already complete"
                                   : "the request is not a generalized request");
    complete_request(request);
    if (progress_engine().engine_lock().multithreaded())
        progress_engine().shm().wake_self(); // another thread may wait for it
    return Err::success;
}

} // namespace zipmpi::core

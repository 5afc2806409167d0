// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/request/generalized.hpp"

#include "core/p2p.hpp"
#include "core/unlocked.hpp"
#include "proto/p2p/lane.hpp"

namespace zipmpi::core {
namespace {

class Generalized : public Compound {
  public:
    explicit Generalized(const GeneralizedFunctions& functions)
        : functions_(functions) {}

    [[nodiscard]] const proto::Operation* shown() const override { return nullptr; } // no message is awaited
    void query(Status& status) override {
        const Unlocked unlocked;
        const Err e = functions_.calls->query(functions_.query, functions_.extra_state, status);
        if (e != Err::success) status.error = e;
    }
    Err freed() override {
        const Unlocked unlocked;
        return functions_.calls->free(functions_.free, functions_.extra_state);
    }
    Err cancel(bool complete) override {
        const Unlocked unlocked;
        return functions_.calls->cancel(functions_.cancel, functions_.extra_state, complete);
    }

  private:
    GeneralizedFunctions functions_;
};

} // namespace

Err grequest_start(const GeneralizedFunctions& functions, Request*& request) {
    std::unique_ptr<Generalized> generalized(new (std::nothrow) Generalized(functions));
    request = generalized != nullptr ? make_request(nullptr, builtin_type(TypeId::BYTE)) : nullptr;
    if (request == nullptr) return no_request();
    request->role = Request::generalized;
    request->compound = std::move(generalized);
    return Err::success;
}

Err grequest_complete(Request& request) {
    if (request.role != Request::generalized || request.done())
        return fail(Err::request, "complete generalized requests, each once",
                    request.done() ? "the request is complete already"
                                   : "the request is not a generalized one");
    complete_whole(request);
    if (lane().multithreaded()) lane().shm().wake_own(); // another thread may wait for it
    return Err::success;
}

} // namespace zipmpi::core

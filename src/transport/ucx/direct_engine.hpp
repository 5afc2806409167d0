// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inside of direct.hpp: one interface of UCX's lower level, and what is under way on its endpoints.
#pragma once

#include "transport/ucx/direct.hpp"

#include <deque>
#include <list>
#include <memory>
#include <uct/api/uct.h>
#include <vector>

namespace zipmpi::transport::ucx {

// What is closed by itself when opening something after it fails.
template <auto close>
struct Closer {
    template <class T>
    void operator()(T* what) const {
        close(what);
    }
};
using AsyncContext = std::unique_ptr<ucs_async_context_t, Closer<ucs_async_context_destroy>>;
using UctWorker = std::unique_ptr<uct_worker, Closer<uct_worker_destroy>>;
using UctDomain = std::unique_ptr<uct_md, Closer<uct_md_close>>;
using UctInterface = std::unique_ptr<uct_iface, Closer<uct_iface_close>>;

class DirectEngine final : public Direct {
  public:
    DirectEngine() = default;
    ~DirectEngine() override;
    DirectEngine(const DirectEngine&) = delete;
    DirectEngine& operator=(const DirectEngine&) = delete;
    bool start(std::string_view devices, std::string& why);

    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] bool coherent() const override {
        return (facts_.cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU) != 0;
    }
    int open_end(std::string& text) override;
    bool connect(int end, std::string_view text_of_peer) override;
    bool expose(void* at, size_t bytes, Exposed& exposed) override;
    void hide(Exposed& exposed) override;
    bool learn(std::string_view key, RemoteKey& remote) override;
    void forget(RemoteKey& remote) override;
    void put(int end, const void* here, size_t bytes, const There& there) override;
    void get(int end, void* here, size_t bytes, const There& there) override;
    void fetch_add(int end, uint64_t value, uint64_t* before, const There& there) override;
    void swap(int end, uint64_t value, uint64_t* before, const There& there) override;
    void compare_swap(int end, uint64_t compare, uint64_t value, uint64_t* before,
                      const There& there) override;
    void progress() override;
    bool settled(int end) override;
    [[nodiscard]] bool failed(int end) const override { return ends_[static_cast<size_t>(end)].failed; }

  private:
    enum class Kind { put, get, add, swap, compare_swap };
    struct End;
    struct Operation {
        uct_completion_t completion; // counts parts that are under way, plus 1 while parts are made
        End* end;
        Kind kind;
        std::byte* here;
        size_t bytes;
        size_t made; // bytes of the parts so far
        There there;
        uint64_t value;
        uint64_t compare;
        uint64_t* before;
        uct_mem_h registered; // here; null if it is copied
        bool over;
    };
    struct Flush {
        uct_completion_t completion;
        End* end;
    };
    struct End {
        uct_ep_h endpoint = nullptr;
        std::deque<Operation*> waiting; // in order; of the first some parts may be under way
        std::list<Operation> operations;
        Flush flush{};
        bool flushing = false;
        bool unflushed = false;
        bool failed = false;
    };

    bool open_domain(uct_component_h component, const char* name, std::string_view devices);
    bool open_interface(const uct_tl_resource_desc_t& resource);
    [[nodiscard]] bool suffices() const;
    void add(int end, Operation operation);
    void go_on(End& end);
    ucs_status_t make_part(Operation& operation);
    ucs_status_t make_put(Operation& operation);
    ucs_status_t make_get(Operation& operation);
    void register_memory(Operation& operation);
    static void on_part_done(uct_completion_t* completion);
    static void on_flushed(uct_completion_t* completion);
    static ucs_status_t on_error(void* self, uct_ep_h endpoint, ucs_status_t status);

    // In the order in which they are opened.
    AsyncContext async_;
    UctWorker worker_;
    UctDomain domain_;
    UctInterface interface_;
    uct_component_h component_ = nullptr;
    uct_md_attr_t domain_facts_{};
    uct_iface_attr_t facts_{};
    std::string name_;
    std::deque<End> ends_; // in place: operations point to them
};

} // namespace zipmpi::transport::ucx

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The Python module zipmpi_torch._c10d.
#include "process_group.hpp"

#include <pybind11/chrono.h>
#include <pybind11/pybind11.h>

PYBIND11_DECLARE_HOLDER_TYPE(T, c10::intrusive_ptr<T>, true);

namespace zipmpi_torch {
namespace {

bool is_initialized() {
    int yes = 0;
    MPI_Initialized(&yes);
    return yes != 0;
}

void initialize() {
    if (is_initialized()) return;
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
    TORCH_CHECK(provided == MPI_THREAD_MULTIPLE, "zipmpi: MPI has no MPI_THREAD_MULTIPLE");
}

// An operation that has timed out is still pending: MPI_Finalize would wait for it.
void finalize() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!is_initialized() || finalized != 0) return;
    Watcher::instance().stop();
    if (!MpiWork::any_timed_out()) MPI_Finalize();
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank));
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    check(MPI_Comm_size(comm, &size));
    return size;
}

bool is_one_host() {
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    const bool one = size_of(host) == size_of(MPI_COMM_WORLD);
    MPI_Comm_free(&host);
    return one;
}

// The text of rank 0, on all ranks.
std::string broadcast_text(std::string text) {
    auto length = static_cast<int64_t>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    text.resize(static_cast<size_t>(length));
    check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD));
    return text;
}

c10::intrusive_ptr<Base> create(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                const std::chrono::duration<float>& timeout) {
    return c10::make_intrusive<MpiGroup>(store, rank, size,
                                         std::chrono::duration_cast<Milliseconds>(timeout));
}

} // namespace
} // namespace zipmpi_torch

PYBIND11_MODULE(_c10d, module) {
    using namespace zipmpi_torch;
    const pybind11::call_guard<pybind11::gil_scoped_release> without_lock;
    pybind11::module_::import("torch.distributed"); // types of the arguments
    module.def("is_initialized", &is_initialized);
    module.def("initialize", &initialize, without_lock);
    module.def("finalize", &finalize, without_lock);
    module.def("rank", [] { return rank_in(MPI_COMM_WORLD); });
    module.def("size", [] { return size_of(MPI_COMM_WORLD); });
    module.def("is_one_host", &is_one_host, without_lock);
    module.def("broadcast_text", &broadcast_text, without_lock);
    module.def("create", &create, without_lock);
}

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of environmental management (MPI chapter 9).
#pragma once

#include "core/api/common.hpp"

#include <string>

namespace zipmpi::core {

double wtime();
double wtick();
Err get_processor_name(std::string& name);
Err get_library_version(std::string& text); // without the name of the ABI
Err alloc_mem(int64_t size, Info* info, void*& base);
Err free_mem(void* base);
Err errhandler_free(Errhandler*& handler);
Err comm_create_errhandler(void* user_function, Errhandler*& handler);
Err comm_set_errhandler(Comm& comm, Errhandler& handler);
Err comm_get_errhandler(Comm& comm, Errhandler*& handler);
Err session_create_errhandler(void* user_function, Errhandler*& handler);
Err session_set_errhandler(Session& session, Errhandler& handler);
Err session_get_errhandler(Session& session, Errhandler*& handler);
Err win_create_errhandler(void* user_function, Errhandler*& handler);
Err win_set_errhandler(Win& win, Errhandler& handler);
Err win_get_errhandler(Win& win, Errhandler*& handler);
Err file_create_errhandler(void* user_function, Errhandler*& handler);
Err file_set_errhandler(File* file, Errhandler& handler); // null: initial handler of files
Err file_get_errhandler(File* file, Errhandler*& handler);
Err get_hw_resource_info(Info*& info);

// Whether buffers may be in memory of NVIDIA, AMD or Intel GPUs: 1, or 0.
int query_cuda_support() noexcept;
int query_hip_support() noexcept;
int query_ze_support() noexcept;

} // namespace zipmpi::core

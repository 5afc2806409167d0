// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Deferred tasks and progress hooks. Separate from progress_hooks.hpp, so that headers with such a member
// need not include more.
#pragma once

namespace zipmpi::proto {

// Work that must not run inside the completion of an operation, where the matcher is inconsistent.
struct DeferredTask {
    void (*run)(DeferredTask&) = nullptr;
    bool queued = false; // in the engine's list
    DeferredTask* next = nullptr;
    DeferredTask* previous = nullptr;
};

// Callback polled in every progress call.
struct ProgressHook {
    int (*poll)(ProgressHook&) = nullptr; // returns the number of events; may remove the hook
    bool installed = false;
    ProgressHook* next = nullptr;
    ProgressHook* previous = nullptr;
};

} // namespace zipmpi::proto

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/progress/progress_hooks.hpp"

namespace zipmpi::proto {

int ProgressHooks::poll_hooks() {
    int happened = 0;
    for (ProgressHook* hook = hooks_.first(); hook != nullptr;) {
        ProgressHook* const next = hook->next;
        happened += hook->poll(*hook);
        hook = next;
    }
    return happened;
}

int ProgressHooks::run_tasks() {
    int happened = 0;
    while (DeferredTask* task = deferred_.first()) {
        cancel(*task);
        task->run(*task); // may destroy the task and defer others
        ++happened;
    }
    return happened;
}

} // namespace zipmpi::proto

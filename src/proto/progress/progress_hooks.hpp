// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressHooks: work that progress() does besides messages.
#pragma once

#include "proto/p2p/intrusive_list.hpp"
#include "proto/progress/progress_task.hpp"

namespace zipmpi::proto {

class ProgressHooks {
  public:
    // Runs the task in the next progress(). No effect if it is queued already.
    void defer(DeferredTask& task) {
        if (task.queued) return;
        task.queued = true;
        deferred_.push_back(task);
    }
    void cancel(DeferredTask& task) {
        if (task.queued) deferred_.remove(task);
        task.queued = false;
    }
    void add(ProgressHook& hook) {
        if (!hook.installed) hooks_.push_back(hook);
        hook.installed = true;
    }
    void remove(ProgressHook& hook) {
        if (hook.installed) hooks_.remove(hook);
        hook.installed = false;
    }
    // Hooks wait for stores by ranks of this node, which raise no network event.
    [[nodiscard]] bool has_hooks() const { return !hooks_.empty(); }
    // Both return the number of events.
    int run_deferred() { return deferred_.empty() ? 0 : run_tasks(); }
    int poll() { return hooks_.empty() ? 0 : poll_hooks(); }

  private:
    int run_tasks();
    int poll_hooks();

    IntrusiveList<DeferredTask> deferred_;
    IntrusiveList<ProgressHook> hooks_;
};

} // namespace zipmpi::proto

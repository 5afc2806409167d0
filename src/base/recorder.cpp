// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/recorder.hpp"

#include <cstdio>

namespace zipmpi {
namespace {
Recorder private_recorder;
} // namespace

Recorder* current_recorder = &private_recorder;

void set_recorder(Recorder* in_segment) noexcept {
    current_recorder = in_segment != nullptr ? in_segment : &private_recorder;
}

void record_comm_name(Recorder& r, uint32_t context, const char* name) noexcept {
    if (context == 0) return;
    CommName* slot = &r.comms[context % recorder_comms];
    for (CommName& c : r.comms)
        if (c.context.load(std::memory_order_relaxed) == context) {
            slot = &c;
            break;
        } else if (c.context.load(std::memory_order_relaxed) == 0)
            slot = &c;
    std::snprintf(slot->name, sizeof slot->name, "%s", name);
    slot->context.store(context, std::memory_order_release); // pairs with the launcher's acquire load
}

void record_comm_freed(Recorder& r, uint32_t context) noexcept {
    for (CommName& c : r.comms)
        if (c.context.load(std::memory_order_relaxed) == context)
            c.context.store(0, std::memory_order_relaxed);
}

} // namespace zipmpi

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Event types of the tool interface, and their connection to the progress engine.
#pragma once

#include "core/api/tool.hpp"
#include "proto/progress/event_sink.hpp"

#include <string_view>

namespace zipmpi::core::tool {

struct EventEntry {
    std::string_view name;
    std::string_view help; // with the meaning of the elements
    Verbosity verbosity;
    int elements;
};
const EventEntry& event_entry(proto::EventType type);

// Called when the progress engine exists: from then on it raises the events that callbacks wait for.
void listen_to_events();

} // namespace zipmpi::core::tool

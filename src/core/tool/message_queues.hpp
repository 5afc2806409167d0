// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Symbols by which debuggers find the message queues of this process, and the library that reads them
// (tools/msgq).
#pragma once

#include "wire/queue_layout.hpp"

namespace zipmpi::core {

void show_message_queues(); // the progress engine exists: fills in the symbols

} // namespace zipmpi::core

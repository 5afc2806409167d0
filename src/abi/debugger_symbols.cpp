// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Symbols of the library that debuggers read; MPI_Init fills them in.
#include "core/tool/message_queues.hpp"

extern "C" {
[[gnu::visibility("default")]] extern zipmpi::wire::QueueLayout zipmpi_message_queues;
[[gnu::visibility("default")]] extern char MPIR_dll_name[zipmpi::wire::queue_reader_path_bytes];
}
zipmpi::wire::QueueLayout zipmpi_message_queues;
// Replaced by MPI_Init with the path of the installation that is used.
char MPIR_dll_name[zipmpi::wire::queue_reader_path_bytes] = ZIPMPI_MODULE_DIR "/zipmpi_msgq.so";

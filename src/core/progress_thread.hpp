// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The progress thread, which drives progress while the application computes and runs as long as a window
// needs it. Called with the progress engine lock held, or by the only thread in MPI.
#pragma once

namespace zipmpi::core {

void acquire_progress_thread();
void release_progress_thread();
void stop_progress_thread(); // regardless of its users

} // namespace zipmpi::core

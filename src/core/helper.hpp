// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The thread that makes progress while the program computes: there as long as somebody needs it. Under the
// engine's lock, or as the only thread in MPI.
#pragma once

namespace zipmpi::core {

void need_help();
void give_back_help();
void end_help(); // whoever needs it

} // namespace zipmpi::core

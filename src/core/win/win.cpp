// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/win/win.hpp"

#include "core/api.hpp"

namespace zipmpi::core {

Err win_get_name(Win* win, std::string& name) {
    name = win != nullptr ? win->name : "MPI_WIN_NULL";
    return Err::success;
}

Err win_set_name(Win& win, const char* name) {
    win.name = name;
    return Err::success;
}

} // namespace zipmpi::core

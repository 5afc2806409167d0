// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The core type of a handle type.
#pragma once

#include "abi/handles.hpp"

namespace zipmpi::abi::custom {

template <class Handle>
struct ClassOf;
#define ZIPMPI_CLASS(type)                                                                                   \
    template <>                                                                                              \
    struct ClassOf<MPI_##type> {                                                                             \
        using Type = core::type;                                                                             \
    }
ZIPMPI_CLASS(Comm);
ZIPMPI_CLASS(Group);
ZIPMPI_CLASS(Request);
ZIPMPI_CLASS(Datatype);
ZIPMPI_CLASS(Op);
ZIPMPI_CLASS(Info);
ZIPMPI_CLASS(Errhandler);
ZIPMPI_CLASS(Win);
ZIPMPI_CLASS(File);
ZIPMPI_CLASS(Session);
ZIPMPI_CLASS(Message);
#undef ZIPMPI_CLASS

} // namespace zipmpi::abi::custom

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From operations and datatypes to what is done to elements of a window.
#pragma once

#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "proto/rma/window.hpp"

namespace zipmpi::core {

// The one predefined type that all data of a datatype have; count_: they have several.
TypeId basic_type_of(const Datatype& type);

Err combine_of(const Op& op, const Datatype& type, proto::rma::Combine& c);
// The same where it takes no time to find out. False: ask combine_of().
bool plain_combine_of(const Op& op, const Datatype& type, proto::rma::Combine& c);
Err swap_of(const Datatype& type, proto::rma::Swap& s);

extern const proto::rma::Window::Codes window_codes;

} // namespace zipmpi::core

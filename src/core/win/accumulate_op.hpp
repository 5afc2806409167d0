// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of reduction operations and datatypes to accumulate operations on window elements.
#pragma once

#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "proto/rma/accumulate_op.hpp"

namespace zipmpi::core {

// The predefined type common to all data of a datatype; count_: several types.
TypeId basic_type_of(const Datatype& type);

Err make_accumulate_op(const Op& op, const Datatype& type, proto::rma::AccumulateOp& c);
// Fast variant for predefined types. Returns false if make_accumulate_op() is needed.
bool make_simple_accumulate_op(const Op& op, const Datatype& type, proto::rma::AccumulateOp& c);
Err make_compare_swap_op(const Datatype& type, proto::rma::CompareSwapOp& s);

extern const proto::rma::OpDecoder window_op_decoder;

} // namespace zipmpi::core

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI datatypes and operations for tensors. Used by process_group.cpp only.
#pragma once

#include <ATen/ATen.h>
#include <mpi.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace zipmpi_torch {

inline void check(int status) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    TORCH_CHECK(false, "zipmpi: ", text);
}

inline MPI_Datatype datatype_of(at::ScalarType type) {
    switch (type) {
    case at::kFloat:
        return MPI_FLOAT;
    case at::kDouble:
        return MPI_DOUBLE;
    case at::kHalf:
    case at::kBFloat16: // moved as 16 bits, reduced by own operations
        return MPI_UINT16_T;
    case at::kByte:
        return MPI_UINT8_T;
    case at::kChar:
        return MPI_INT8_T;
    case at::kShort:
        return MPI_INT16_T;
    case at::kInt:
        return MPI_INT32_T;
    case at::kLong:
        return MPI_INT64_T;
    case at::kBool:
        return MPI_C_BOOL;
    case at::kComplexFloat:
        return MPI_C_FLOAT_COMPLEX;
    case at::kComplexDouble:
        return MPI_C_DOUBLE_COMPLEX;
    default:
        TORCH_CHECK(false, "zipmpi: tensors of type ", type, " are not supported");
    }
}

// Reductions of 16-bit floating-point numbers, computed in float, rounded after each step.
template <class T, T (*combine)(T, T)>
void reduce_16_bit(void* in, void* inout, MPI_Count* length, MPI_Datatype*) {
    const T* const a = static_cast<const T*>(in);
    T* const b = static_cast<T*>(inout);
    for (MPI_Count i = 0; i < *length; ++i) b[i] = combine(a[i], b[i]);
}
template <class T>
T add(T a, T b) {
    return a + b;
}
template <class T>
T multiply(T a, T b) {
    return a * b;
}
template <class T>
T smaller(T a, T b) {
    return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
    return a < b ? b : a;
}

inline MPI_Op make_op(MPI_User_function_c* function) {
    MPI_Op op = MPI_OP_NULL;
    check(MPI_Op_create_c(function, 1, &op));
    return op;
}

template <class T>
MPI_Op op_16_bit(c10d::ReduceOp::RedOpType op) {
    static const MPI_Op sum = make_op(reduce_16_bit<T, add<T>>);
    static const MPI_Op product = make_op(reduce_16_bit<T, multiply<T>>);
    static const MPI_Op min = make_op(reduce_16_bit<T, smaller<T>>);
    static const MPI_Op max = make_op(reduce_16_bit<T, larger<T>>);
    switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
        return sum;
    case c10d::ReduceOp::PRODUCT:
        return product;
    case c10d::ReduceOp::MIN:
        return min;
    case c10d::ReduceOp::MAX:
        return max;
    default:
        TORCH_CHECK(false, "zipmpi: this operation needs integers");
    }
}

inline MPI_Op bool_op(c10d::ReduceOp::RedOpType op) {
    switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::MAX:
    case c10d::ReduceOp::BOR:
        return MPI_LOR;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::MIN:
    case c10d::ReduceOp::BAND:
        return MPI_LAND;
    case c10d::ReduceOp::BXOR:
        return MPI_LXOR;
    default:
        TORCH_CHECK(false, "zipmpi: this operation is not supported for bool");
    }
}

inline MPI_Op number_op(c10d::ReduceOp::RedOpType op) {
    switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
        return MPI_SUM;
    case c10d::ReduceOp::PRODUCT:
        return MPI_PROD;
    case c10d::ReduceOp::MIN:
        return MPI_MIN;
    case c10d::ReduceOp::MAX:
        return MPI_MAX;
    case c10d::ReduceOp::BAND:
        return MPI_BAND;
    case c10d::ReduceOp::BOR:
        return MPI_BOR;
    case c10d::ReduceOp::BXOR:
        return MPI_BXOR;
    default:
        TORCH_CHECK(false, "zipmpi: this operation is not supported");
    }
}

inline MPI_Op op_of(const c10d::ReduceOp& operation, at::ScalarType type) {
    const auto op = static_cast<c10d::ReduceOp::RedOpType>(operation);
    TORCH_CHECK(op != c10d::ReduceOp::AVG || at::isFloatingType(type) || at::isComplexType(type),
                "zipmpi: AVG needs floating-point numbers");
    if (type == at::kHalf) return op_16_bit<at::Half>(op);
    if (type == at::kBFloat16) return op_16_bit<at::BFloat16>(op);
    return type == at::kBool ? bool_op(op) : number_op(op);
}

inline bool is_average(const c10d::ReduceOp& operation) {
    return static_cast<c10d::ReduceOp::RedOpType>(operation) == c10d::ReduceOp::AVG;
}

} // namespace zipmpi_torch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Predefined datatypes and reduction operations by their MPI names without the prefix; a name that starts
// with a digit is prefixed with N. The second column is the C++ type used for the datatype in reductions.
#pragma once

namespace zipmpi::core {

#define ZIPMPI_BUILTIN_TYPES(X)                                                                              \
    X(AINT, "MPI_AINT", (int64_t))                                                                           \
    X(COUNT, "MPI_COUNT", (int64_t))                                                                         \
    X(OFFSET, "MPI_OFFSET", (int64_t))                                                                       \
    X(PACKED, "MPI_PACKED", (std::byte))                                                                     \
    X(SHORT, "MPI_SHORT", (short))                                                                           \
    X(INT, "MPI_INT", (int))                                                                                 \
    X(LONG, "MPI_LONG", (long))                                                                              \
    X(LONG_LONG, "MPI_LONG_LONG_INT", (long long))                                                           \
    X(UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", (unsigned short))                                                \
    X(UNSIGNED, "MPI_UNSIGNED", (unsigned))                                                                  \
    X(UNSIGNED_LONG, "MPI_UNSIGNED_LONG", (unsigned long))                                                   \
    X(UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", (unsigned long long))                                    \
    X(FLOAT, "MPI_FLOAT", (float))                                                                           \
    X(C_FLOAT_COMPLEX, "MPI_C_COMPLEX", (std::complex<float>))                                               \
    X(CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", (std::complex<float>))                                     \
    X(DOUBLE, "MPI_DOUBLE", (double))                                                                        \
    X(C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", (std::complex<double>))                                      \
    X(CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", (std::complex<double>))                                  \
    X(LOGICAL, "MPI_LOGICAL", (Logical<int32_t>))                                                            \
    X(INTEGER, "MPI_INTEGER", (int32_t))                                                                     \
    X(REAL, "MPI_REAL", (float))                                                                             \
    X(COMPLEX, "MPI_COMPLEX", (std::complex<float>))                                                         \
    X(DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", (double))                                                    \
    X(DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", (std::complex<double>))                                          \
    X(CHARACTER, "MPI_CHARACTER", (Character))                                                               \
    X(LONG_DOUBLE, "MPI_LONG_DOUBLE", (long double))                                                         \
    X(C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", (std::complex<long double>))                       \
    X(CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", (std::complex<long double>))                   \
    X(FLOAT_INT, "MPI_FLOAT_INT", (Pair<float, int>))                                                        \
    X(DOUBLE_INT, "MPI_DOUBLE_INT", (Pair<double, int>))                                                     \
    X(LONG_INT, "MPI_LONG_INT", (Pair<long, int>))                                                           \
    X(N2INT, "MPI_2INT", (Pair<int, int>))                                                                   \
    X(SHORT_INT, "MPI_SHORT_INT", (Pair<short, int>))                                                        \
    X(LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", (Pair<long double, int>))                                      \
    X(N2REAL, "MPI_2REAL", (Pair<float, float>))                                                             \
    X(N2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", (Pair<double, double>))                                   \
    X(N2INTEGER, "MPI_2INTEGER", (Pair<int32_t, int32_t>))                                                   \
    X(C_BOOL, "MPI_C_BOOL", (bool))                                                                          \
    X(CXX_BOOL, "MPI_CXX_BOOL", (bool))                                                                      \
    X(WCHAR, "MPI_WCHAR", (Character4))                                                                      \
    X(INT8_T, "MPI_INT8_T", (int8_t))                                                                        \
    X(UINT8_T, "MPI_UINT8_T", (uint8_t))                                                                     \
    X(CHAR, "MPI_CHAR", (char))                                                                              \
    X(SIGNED_CHAR, "MPI_SIGNED_CHAR", (signed char))                                                         \
    X(UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", (unsigned char))                                                   \
    X(BYTE, "MPI_BYTE", (std::byte))                                                                         \
    X(INT16_T, "MPI_INT16_T", (int16_t))                                                                     \
    X(UINT16_T, "MPI_UINT16_T", (uint16_t))                                                                  \
    X(INT32_T, "MPI_INT32_T", (int32_t))                                                                     \
    X(UINT32_T, "MPI_UINT32_T", (uint32_t))                                                                  \
    X(INT64_T, "MPI_INT64_T", (int64_t))                                                                     \
    X(UINT64_T, "MPI_UINT64_T", (uint64_t))                                                                  \
    X(LOGICAL1, "MPI_LOGICAL1", (Logical<int8_t>))                                                           \
    X(INTEGER1, "MPI_INTEGER1", (int8_t))                                                                    \
    X(LOGICAL2, "MPI_LOGICAL2", (Logical<int16_t>))                                                          \
    X(INTEGER2, "MPI_INTEGER2", (int16_t))                                                                   \
    X(REAL2, "MPI_REAL2", (Unsupported))                                                                     \
    X(LOGICAL4, "MPI_LOGICAL4", (Logical<int32_t>))                                                          \
    X(INTEGER4, "MPI_INTEGER4", (int32_t))                                                                   \
    X(REAL4, "MPI_REAL4", (float))                                                                           \
    X(COMPLEX4, "MPI_COMPLEX4", (Unsupported))                                                               \
    X(LOGICAL8, "MPI_LOGICAL8", (Logical<int64_t>))                                                          \
    X(INTEGER8, "MPI_INTEGER8", (int64_t))                                                                   \
    X(REAL8, "MPI_REAL8", (double))                                                                          \
    X(COMPLEX8, "MPI_COMPLEX8", (std::complex<float>))                                                       \
    X(LOGICAL16, "MPI_LOGICAL16", (Unsupported))                                                             \
    X(INTEGER16, "MPI_INTEGER16", (Unsupported))                                                             \
    X(REAL16, "MPI_REAL16", (Binary128))                                                                     \
    X(COMPLEX16, "MPI_COMPLEX16", (std::complex<double>))                                                    \
    X(COMPLEX32, "MPI_COMPLEX32", (std::complex<Binary128>))                                                 \
    X(LB, "MPI_LB", (Marker))                                                                                \
    X(UB, "MPI_UB", (Marker))

enum class TypeId : int {
#define ZIPMPI_X(id, name, ctype) id,
    ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
        count_
};

#define ZIPMPI_BUILTIN_OPS(X)                                                                                \
    X(SUM, "MPI_SUM")                                                                                        \
    X(MIN, "MPI_MIN")                                                                                        \
    X(MAX, "MPI_MAX")                                                                                        \
    X(PROD, "MPI_PROD")                                                                                      \
    X(BAND, "MPI_BAND")                                                                                      \
    X(BOR, "MPI_BOR")                                                                                        \
    X(BXOR, "MPI_BXOR")                                                                                      \
    X(LAND, "MPI_LAND")                                                                                      \
    X(LOR, "MPI_LOR")                                                                                        \
    X(LXOR, "MPI_LXOR")                                                                                      \
    X(MINLOC, "MPI_MINLOC")                                                                                  \
    X(MAXLOC, "MPI_MAXLOC")                                                                                  \
    X(REPLACE, "MPI_REPLACE")                                                                                \
    X(NO_OP, "MPI_NO_OP")

enum class OpId : int {
#define ZIPMPI_X(id, name) id,
    ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
        count_
};

} // namespace zipmpi::core

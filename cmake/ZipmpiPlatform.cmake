# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Refuses machines that the library is not written for: addresses in shared memory have 64 bits, and the bytes of messages
# between hosts are little-endian. Also run as a script, by tests/packaging.
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    message(FATAL_ERROR "ZipMPI needs a 64-bit machine; the compiler builds for 32 bits. Use a compiler for x86-64 or arm64.")
endif()
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
    message(FATAL_ERROR "ZipMPI needs a little-endian machine; the compiler builds for a big-endian one. Use x86-64 or arm64.")
endif()

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI error classes as values. The library uses these names internally; an ABI binding converts them to the
// numbers of its ABI. The detail of the last failure (why, fix) is kept per thread and written by the
// function that detects the failure; callers pass the Err up unchanged.
#pragma once

#include <cstdarg>
#include <string_view>

namespace zipmpi {

// X(enumerator, standard name without MPI_ERR_, meaning)
#define ZIPMPI_ERROR_CLASSES(X)                                                                              \
    X(success, "SUCCESS", "no error")                                                                        \
    X(buffer, "BUFFER", "the buffer address is not valid")                                                   \
    X(count, "COUNT", "the count is not valid")                                                              \
    X(type, "TYPE", "the datatype is not valid here")                                                        \
    X(tag, "TAG", "the tag is out of range")                                                                 \
    X(comm, "COMM", "the communicator is not valid")                                                         \
    X(rank, "RANK", "the rank is not in the communicator")                                                   \
    X(request, "REQUEST", "the request is not valid")                                                        \
    X(root, "ROOT", "the root is not valid")                                                                 \
    X(group, "GROUP", "the group is not valid")                                                              \
    X(op, "OP", "the operation is not valid here")                                                           \
    X(topology, "TOPOLOGY", "the communicator has no such topology")                                         \
    X(dims, "DIMS", "the dimensions are not valid")                                                          \
    X(arg, "ARG", "an argument is not valid")                                                                \
    X(unknown, "UNKNOWN", "the cause is not known")                                                          \
    X(truncate, "TRUNCATE", "the message is longer than the receive buffer")                                 \
    X(other, "OTHER", "an error not covered by another class")                                               \
    X(intern, "INTERN", "an error inside the library")                                                       \
    X(pending, "PENDING", "the operation has neither failed nor completed yet")                              \
    X(in_status, "IN_STATUS", "the error codes are in the statuses")                                         \
    X(access, "ACCESS", "permission denied")                                                                 \
    X(amode, "AMODE", "the access mode is not valid")                                                        \
    X(assertion, "ASSERT", "the assertion argument is not valid")                                            \
    X(bad_file, "BAD_FILE", "the file name is not valid")                                                    \
    X(base, "BASE", "the base address is not valid")                                                         \
    X(conversion, "CONVERSION", "a data conversion function failed")                                         \
    X(disp, "DISP", "the displacement is not valid")                                                         \
    X(dup_datarep, "DUP_DATAREP", "this data representation is defined already")                             \
    X(file_exists, "FILE_EXISTS", "the file exists")                                                         \
    X(file_in_use, "FILE_IN_USE", "the file is in use")                                                      \
    X(file, "FILE", "the file handle is not valid")                                                          \
    X(info_key, "INFO_KEY", "the info key is too long or empty")                                             \
    X(info_nokey, "INFO_NOKEY", "the info object has no such key")                                           \
    X(info_value, "INFO_VALUE", "the info value is too long or not understood")                              \
    X(info, "INFO", "the info object is not valid")                                                          \
    X(io, "IO", "input/output error")                                                                        \
    X(keyval, "KEYVAL", "the attribute key is not valid")                                                    \
    X(locktype, "LOCKTYPE", "the lock type is not valid")                                                    \
    X(name, "NAME", "no service of that name is published")                                                  \
    X(no_mem, "NO_MEM", "memory is exhausted")                                                               \
    X(not_same, "NOT_SAME", "an argument differs between the ranks")                                         \
    X(no_space, "NO_SPACE", "no space is left")                                                              \
    X(no_such_file, "NO_SUCH_FILE", "the file does not exist")                                               \
    X(port, "PORT", "the port name is not valid")                                                            \
    X(quota, "QUOTA", "the quota is used up")                                                                \
    X(read_only, "READ_ONLY", "the file or file system is read-only")                                        \
    X(rma_attach, "RMA_ATTACH", "the memory cannot be attached")                                             \
    X(rma_conflict, "RMA_CONFLICT", "conflicting accesses to a window")                                      \
    X(rma_range, "RMA_RANGE", "the target memory is not part of the window")                                 \
    X(rma_shared, "RMA_SHARED", "the memory cannot be shared")                                               \
    X(rma_sync, "RMA_SYNC", "RMA calls are not synchronized correctly")                                      \
    X(service, "SERVICE", "the service name is not valid")                                                   \
    X(size, "SIZE", "the size is not valid")                                                                 \
    X(spawn, "SPAWN", "processes could not be started")                                                      \
    X(unsupported_datarep, "UNSUPPORTED_DATAREP", "the data representation is not supported")                \
    X(unsupported_operation, "UNSUPPORTED_OPERATION", "the operation is not supported")                      \
    X(win, "WIN", "the window is not valid")                                                                 \
    X(rma_flavor, "RMA_FLAVOR", "the window has the wrong flavor")                                           \
    X(proc_aborted, "PROC_ABORTED", "a peer has aborted")                                                    \
    X(value_too_large, "VALUE_TOO_LARGE", "the value does not fit the result type")                          \
    X(session, "SESSION", "the session is not valid")                                                        \
    X(errhandler, "ERRHANDLER", "the error handler is not valid")                                            \
    X(abi, "ABI", "the ABI call is not valid now")

// Error classes beyond the standard. X(enumerator, name without MPIX_ERR_, meaning)
#define ZIPMPI_EXTENDED_ERROR_CLASSES(X)                                                                     \
    X(proc_failed, "PROC_FAILED", "a participating process has failed")                                      \
    X(proc_failed_pending, "PROC_FAILED_PENDING", "a potential sender has failed")                           \
    X(revoked, "REVOKED", "the communicator has been revoked")

enum class Err : int {
#define ZIPMPI_X(id, name, text) id,
    ZIPMPI_ERROR_CLASSES(ZIPMPI_X) ZIPMPI_EXTENDED_ERROR_CLASSES(ZIPMPI_X)
#undef ZIPMPI_X
        last_ // number of classes
};

// An ABI error code without an internal class, such as one added by the application or returned by a user
// callback. Kept unchanged, encoded as a negative value.
constexpr Err user_error(int code) noexcept { return code > 0 ? static_cast<Err>(~code) : Err::other; }
constexpr bool is_user_error(Err e) noexcept { return static_cast<int>(e) < 0; }
constexpr int user_code(Err e) noexcept { return ~static_cast<int>(e); }

// "MPI_ERR_TRUNCATE" and its meaning as text.
std::string_view err_name(Err e) noexcept;
std::string_view err_text(Err e) noexcept;

// Detail of the last failure on this thread.
struct ErrDetail {
    Err cls = Err::success;
    char why[240] = {};
    char fix[160] = {};
};
ErrDetail& last_error() noexcept;

// Records the detail and returns the class:
//     return fail(Err::tag, "pass a tag from 0 to MPI_TAG_UB", "tag %d is negative", tag);
[[nodiscard]] [[gnu::cold]] [[gnu::format(printf, 3, 4)]] Err fail(Err cls, const char* fix, const char* why,
                                                                   ...) noexcept;

} // namespace zipmpi

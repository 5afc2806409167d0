// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of arguments between Fortran and C: handles, special addresses, strings, indices. Used by the
// generated functions (gen/, fortran_glue.py). INTEGER and LOGICAL are C's int, a status has the bytes of
// C's.
//
// Threads: no shared state. Only the C interface of MPI is used, so this works with any library that
// implements the standard ABI. It is also compiled for the ABI of Open MPI (src/abi/bindings.cmake).
#pragma once

#include "fortran/sentinels.h"

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Alias of a function, for bindings that share code.
#define FUNCTION_ALIAS(name, other) decltype(name) other __attribute__((alias(#name)));

namespace zipmpi::fortran {

// --- handles: in the standard ABI, codes below this value are equal in C and Fortran and need no library
// call
inline constexpr uintptr_t first_object = MPI_ABI_VERSION > 0 ? 4096 : 0;

template <class Handle>
struct HandleConversion;
#define ZIPMPI_CONVERSION(type, name)                                                                        \
    template <>                                                                                              \
    struct HandleConversion<MPI_##type> {                                                                    \
        static MPI_##type to_c(int value) { return PMPI_##name##_fromint(value); }                           \
        static int to_f(MPI_##type value) { return PMPI_##name##_toint(value); }                             \
    };
ZIPMPI_CONVERSION(Comm, Comm)
ZIPMPI_CONVERSION(Datatype, Type)
ZIPMPI_CONVERSION(Errhandler, Errhandler)
ZIPMPI_CONVERSION(File, File)
ZIPMPI_CONVERSION(Group, Group)
ZIPMPI_CONVERSION(Info, Info)
ZIPMPI_CONVERSION(Message, Message)
ZIPMPI_CONVERSION(Op, Op)
ZIPMPI_CONVERSION(Request, Request)
ZIPMPI_CONVERSION(Session, Session)
ZIPMPI_CONVERSION(Win, Win)
#undef ZIPMPI_CONVERSION

template <class Handle>
inline Handle c_handle(int value) {
    const auto code = static_cast<uintptr_t>(static_cast<intptr_t>(value));
    return code < first_object ? reinterpret_cast<Handle>(code) : HandleConversion<Handle>::to_c(value);
}

template <class Handle>
inline int f_handle(Handle handle) {
    const auto code = reinterpret_cast<uintptr_t>(handle);
    return code < first_object ? static_cast<int>(code) : HandleConversion<Handle>::to_f(handle);
}

// Memory for n objects: on the stack up to `few`.
template <class T, size_t few>
class SmallBuffer {
  public:
    explicit SmallBuffer(size_t n)
        : data_(n <= few ? inline_ : static_cast<T*>(malloc(n * sizeof(T)))) {}
    ~SmallBuffer() {
        if (data_ != inline_) free(data_);
    }
    SmallBuffer(const SmallBuffer&) = delete;
    SmallBuffer& operator=(const SmallBuffer&) = delete;
    T* data() { return data_; }

  private:
    T inline_[few];
    T* data_;
};

// A C array of handles, converted from a Fortran one; without a source for results.
template <class Handle>
class Handles {
  public:
    Handles(const int* source, int length)
        : length_(length > 0 ? static_cast<size_t>(length) : 0)
        , buffer_(length_) {
        for (size_t i = 0; i < length_; i++)
            buffer_.data()[i] = source != nullptr ? c_handle<Handle>(source[i]) : Handle{};
    }
    Handle* data() { return buffer_.data(); }
    // Elements that the library has not written stay unchanged.
    void store(int* target) {
        for (size_t i = 0; i < length_; i++)
            if (buffer_.data()[i] != Handle{}) target[i] = f_handle(buffer_.data()[i]);
    }

  private:
    size_t length_;
    SmallBuffer<Handle, 32> buffer_;
};

// Number of processes that a collective addresses: the remote group of an intercommunicator, or the
// neighbors.
int peer_count(MPI_Comm comm);
int source_count(MPI_Comm comm);
int destination_count(MPI_Comm comm);
bool at_root(int root, MPI_Comm comm);

// --- addresses that represent constants
inline bool is_in_place(const void* address) { return address == &mpi_fortran_in_place_; }

template <class Void> // const or not
inline Void* c_buffer(Void* address) {
    if (address == &mpi_fortran_bottom_) return static_cast<Void*>(MPI_BOTTOM);
    if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
    if (address == &mpi_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
    return address;
}

inline MPI_Status* c_statuses(MPI_Status* address) {
    const bool ignore = address == static_cast<void*>(&mpi_fortran_status_ignore_) ||
                        address == static_cast<void*>(&mpi_fortran_statuses_ignore_);
    return ignore ? MPI_STATUS_IGNORE : address;
}

template <class Int> // const or not
inline Int* c_weights(Int* address) {
    if (address == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
    if (address == &mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
    return address;
}

inline int* c_error_codes(int* address) {
    return address == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : address;
}

inline void store_buffer(void* target, void* address) {
    *static_cast<void**>(target) = address == MPI_BUFFER_AUTOMATIC ? &mpi_fortran_buffer_automatic_ : address;
}

// --- results
inline void store_ierror(int* ierror, int err) {
    if (ierror != nullptr) *ierror = err; // optional in mpi_f08
}

inline void to_one_based(int* indices, int n) {
    for (int i = 0; i < n; i++)
        if (indices[i] != MPI_UNDEFINED) indices[i]++;
}

// The Fortran value of an attribute: C gets the address of most predefined ones, Fortran their value.
MPI_Aint attribute_value(int keyval, void* value);

// --- strings: blank-padded in Fortran, zero-terminated in C
enum class Strip { end, both };
inline constexpr int longest_text =
    MPI_MAX_LIBRARY_VERSION_STRING > MPI_MAX_PORT_NAME ? MPI_MAX_LIBRARY_VERSION_STRING : MPI_MAX_PORT_NAME;

class Text {
  public:
    Text(const char* text, size_t length, Strip strip);
    char* data() { return buffer_.data(); }

  private:
    SmallBuffer<char, 256> buffer_;
};

// A string that the library writes. Initialized with the current content, because some calls leave it
// unchanged.
class ResultText {
  public:
    ResultText(char* target, size_t length, int capacity);
    char* data() { return buffer_.data(); }
    void store();

  private:
    char* target_;
    size_t length_;
    size_t capacity_;
    SmallBuffer<char, 512> buffer_;
};

// An array of strings, terminated by a null pointer. MPI_ARGV_NULL is passed as a null pointer.
inline constexpr int until_blank = -1;
class TextList {
  public:
    TextList(const char* first, size_t length, int count, size_t stride = 0);
    ~TextList();
    TextList(const TextList&) = delete;
    TextList& operator=(const TextList&) = delete;
    char** data() { return texts_; }

  private:
    char** texts_ = nullptr;
};

// Arguments of several programs: array_of_argv(i, :) belongs to program i.
class ArgvTable {
  public:
    ArgvTable(const char* first, size_t length, int rows, bool wanted);
    ~ArgvTable();
    ArgvTable(const ArgvTable&) = delete;
    ArgvTable& operator=(const ArgvTable&) = delete;
    char*** data() { return lists_; }

  private:
    int rows_ = 0;
    char*** lists_ = nullptr;
};

} // namespace zipmpi::fortran

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How arguments get from Fortran to C and back: handles, addresses that mean something, texts, indices. Used
// by the generated functions (gen/, fortran_glue.py). INTEGER and LOGICAL are C's int, a status has the bytes
// of C's.
//
// Threads: nothing here is shared. Only the C interface of MPI is used, so this works over any library with
// the standard ABI.
#pragma once

#include "fortran/sentinels.h"

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Another name of a function, for bindings that call the same code.
#define ALSO_CALLED(name, other) decltype(name) other __attribute__((alias(#name)));

namespace zipmpi::fortran {

// --- handles: codes below this are the same in C and Fortran, without asking the library
inline constexpr uintptr_t first_object = 4096;

template <class Handle>
struct Conversion;
#define ZIPMPI_CONVERSION(type, name)                                                                        \
    template <>                                                                                              \
    struct Conversion<MPI_##type> {                                                                          \
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
    return code < first_object ? reinterpret_cast<Handle>(code) : Conversion<Handle>::to_c(value);
}

template <class Handle>
inline int f_handle(Handle handle) {
    const auto code = reinterpret_cast<uintptr_t>(handle);
    return code < first_object ? static_cast<int>(code) : Conversion<Handle>::to_f(handle);
}

// Memory for n objects: on the stack if they are few.
template <class T, size_t few>
class Room {
  public:
    explicit Room(size_t n)
        : memory_(n <= few ? own_ : static_cast<T*>(malloc(n * sizeof(T)))) {}
    ~Room() {
        if (memory_ != own_) free(memory_);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    T* data() { return memory_; }

  private:
    T own_[few];
    T* memory_;
};

// An array of handles in C, made of one in Fortran; without a source for results.
template <class Handle>
class Handles {
  public:
    Handles(const int* source, int length)
        : length_(length > 0 ? static_cast<size_t>(length) : 0)
        , room_(length_) {
        for (size_t i = 0; i < length_; i++)
            room_.data()[i] = source != nullptr ? c_handle<Handle>(source[i]) : Handle{};
    }
    Handle* data() { return room_.data(); }
    // What the library has not written stays as it is.
    void give_back(int* target) {
        for (size_t i = 0; i < length_; i++)
            if (room_.data()[i] != Handle{}) target[i] = f_handle(room_.data()[i]);
    }

  private:
    size_t length_;
    Room<Handle, 32> room_;
};

// How many processes a collective reaches: the other group of an intercommunicator; neighbours.
int peer_count(MPI_Comm comm);
int source_count(MPI_Comm comm);
int destination_count(MPI_Comm comm);
bool at_root(int root, MPI_Comm comm);

// --- addresses that stand for constants
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

inline void give_buffer(void* target, void* address) {
    *static_cast<void**>(target) = address == MPI_BUFFER_AUTOMATIC ? &mpi_fortran_buffer_automatic_ : address;
}

// --- results
inline void give(int* ierror, int err) {
    if (ierror != nullptr) *ierror = err; // not there: optional in mpi_f08
}

inline void count_from_one(int* indices, int n) {
    for (int i = 0; i < n; i++)
        if (indices[i] != MPI_UNDEFINED) indices[i]++;
}

// What Fortran gets of an attribute: C has the address of most predefined ones, Fortran their value.
MPI_Aint attribute_value(int keyval, void* value);

// --- texts: padded with blanks in Fortran, terminated by a zero in C
enum class Strip { end, both };
inline constexpr int longest_text = MPI_MAX_LIBRARY_VERSION_STRING;

class Text {
  public:
    Text(const char* text, size_t length, Strip strip);
    char* data() { return room_.data(); }

  private:
    Room<char, 256> room_;
};

// A text that the library writes. It starts with what is there: some calls leave it alone.
class ResultText {
  public:
    ResultText(char* target, size_t length, int capacity);
    char* data() { return room_.data(); }
    void give_back();

  private:
    char* target_;
    size_t length_;
    size_t capacity_;
    Room<char, 512> room_;
};

// An array of texts, ended by a null pointer. What MPI_ARGV_NULL stands for is a null pointer.
inline constexpr int up_to_blank = -1;
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

// The arguments of several programs: array_of_argv(i, :) belongs to program i.
class TextTable {
  public:
    TextTable(const char* first, size_t length, int rows, bool wanted);
    ~TextTable();
    TextTable(const TextTable&) = delete;
    TextTable& operator=(const TextTable&) = delete;
    char*** data() { return lists_; }

  private:
    int rows_ = 0;
    char*** lists_ = nullptr;
};

} // namespace zipmpi::fortran

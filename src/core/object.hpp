// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What every MPI object has in common. A face may hand out the address of an object as its handle: objects
// live in slabs that are never unmapped, so the mark of a freed one can still be looked at and tells that it
// is gone.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::core {

enum class Class : uint32_t { // values chosen so that random memory is not mistaken for an object
    none = 0,
    comm = 0x5a4d0001,
    group = 0x5a4d0002,
    request = 0x5a4d0003,
    datatype = 0x5a4d0004,
    op = 0x5a4d0005,
    info = 0x5a4d0006,
    errhandler = 0x5a4d0007,
    win = 0x5a4d0008,
    file = 0x5a4d0009,
    session = 0x5a4d000a,
    message = 0x5a4d000b,
    keyval = 0x5a4d000c,
};

struct Object {
    Class cls = Class::none; // none after the object was freed
    uint32_t index = 0;      // number within its class, stable while it lives: the integer form of its handle
    std::atomic<int32_t> refs{0};
};

struct Comm;
struct Group;
struct Request;
struct Datatype;
struct Op;
struct Info;
struct Errhandler;
struct Win;
struct File;
struct Session;
struct Message;

// The object of class T with that integer form, or null.
Object* object_by_index(Class cls, uint32_t index) noexcept;

} // namespace zipmpi::core

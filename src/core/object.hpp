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
    revoked_comm = 0x5a4d000d, // a Comm that must not be used for messages any more
};

struct Object {
    Class cls = Class::none; // none after the object was freed
    uint32_t index = 0;      // number within its class, stable while it lives: the integer form of its handle
    std::atomic<int32_t> refs{0};
};

// Counting who uses an object. Plain adds: the engine lock is held, and a locked instruction would wait until
// all earlier stores, such as those of a message to another core, have been carried out.
inline void hold(Object& object) noexcept {
    object.refs.store(object.refs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
// True: that was the last one.
[[nodiscard]] inline bool let_go(Object& object) noexcept {
    const int32_t left = object.refs.load(std::memory_order_relaxed) - 1;
    object.refs.store(left, std::memory_order_relaxed);
    return left == 0;
}

// How a communicator or a window begins: what is read of it at every call.
struct CommFace : Object {
    int32_t peers = 0; // how many ranks can be addressed
    uint32_t context = 0;
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

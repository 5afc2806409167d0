// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Base of all MPI objects. An ABI binding may use the address of an object as its handle: objects live in
// slabs that are never unmapped, so the kind tag of a freed object can still be read and identifies it as
// freed.
#pragma once

#include <atomic>
#include <cstdint>

namespace zipmpi::core {

enum class ObjectKind : uint32_t { // values chosen so that random memory is unlikely to be taken for an
                                   // object
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
    revoked_comm = 0x5a4d000d, // a revoked Comm, which rejects communication
};

struct Object {
    ObjectKind cls = ObjectKind::none; // none after the object was freed
    uint32_t index = 0; // index within its kind, stable during its lifetime: the integer form of its handle
    std::atomic<int32_t> refs{0};
};

// Reference counts. Plain additions: the progress engine lock is held, and a locked instruction would wait
// for all earlier stores, such as those of a message to another core.
inline void add_ref(Object& object) noexcept {
    object.refs.store(object.refs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
// True if that was the last reference.
[[nodiscard]] inline bool release_ref(Object& object) noexcept {
    const int32_t left = object.refs.load(std::memory_order_relaxed) - 1;
    object.refs.store(left, std::memory_order_relaxed);
    return left == 0;
}

// First members of a communicator or a window: the data read by every call.
struct CommHeader : Object {
    int32_t peer_count = 0; // number of addressable ranks
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

// The object of this kind with this index, or null.
Object* object_by_index(ObjectKind cls, uint32_t index) noexcept;

} // namespace zipmpi::core

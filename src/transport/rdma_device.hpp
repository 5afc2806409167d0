// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Remote memory access by network devices alone: no code runs at the target. UCP does this where it can and
// silently emulates it by messages where it cannot; in UCX 1.13 it emulates all atomics on devices that have
// only the atomics of the verbs standard. This interface is therefore implemented on UCT, where a device
// reports its capabilities; a device that lacks one of them is not opened.
//
// Calls never block; one thread at a time calls. Memory of the caller belongs to an operation until flushed()
// confirms that all operations on its endpoint are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::transport {

// Registered memory of this process.
struct MemoryRegion {
    void* handle = nullptr;
    std::string key; // to be sent to the peers that access it
};

// Imported key of another process's memory region.
struct RemoteKey {
    uintptr_t key = 0;
    void* handle = nullptr;
};

struct RemoteAddress {
    uint64_t address;
    uintptr_t key;
};

class RdmaDevice {
  public:
    virtual ~RdmaDevice() = default;
    [[nodiscard]] virtual const std::string& name() const = 0; // device and its protocol
    // Whether its atomics and those of the target's CPUs may be mixed on one word. Otherwise device atomics
    // are atomic only among themselves.
    [[nodiscard]] virtual bool is_coherent() const = 0;
    // Whether an atomic on an endpoint takes effect at the target after all earlier puts on it, also as the
    // target's CPU sees them.
    [[nodiscard]] virtual bool keeps_order() const = 0;

    // Each side of a connection creates an endpoint, sends its text to the other side, and connects.
    virtual int create_endpoint(std::string& text) = 0; // -1: no memory
    virtual bool connect(int endpoint, std::string_view text_of_peer) = 0;

    virtual bool register_memory(void* at, size_t bytes, MemoryRegion& exposed) = 0;
    virtual void deregister_memory(MemoryRegion& exposed) = 0;
    virtual bool import_key(std::string_view key, RemoteKey& remote) = 0;
    virtual void release_key(RemoteKey& remote) = 0;

    virtual void put(int endpoint, const void* here, size_t bytes, const RemoteAddress& there) = 0;
    virtual void get(int endpoint, void* here, size_t bytes, const RemoteAddress& there) = 0;
    // 64 bits at an 8-byte-aligned address. `before` receives the previous value.
    virtual void fetch_add(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) = 0;
    virtual void swap(int endpoint, uint64_t value, uint64_t* before, const RemoteAddress& there) = 0;
    virtual void compare_swap(int endpoint, uint64_t compare, uint64_t value, uint64_t* before,
                              const RemoteAddress& there) = 0;

    virtual void progress() = 0;
    // Whether all operations so far are complete, here and at the target. If not, call progress() and retry.
    virtual bool flushed(int endpoint) = 0;
    [[nodiscard]] virtual bool failed(int endpoint) const = 0; // operations may be lost
};

} // namespace zipmpi::transport

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of other processes, used by network devices alone: nothing runs at the target. UCX's calls of the
// upper level do the same where they can, and messages in disguise where they cannot, without a word; with
// UCX 1.13 that holds for all atomics of devices that have only those of the verbs standard. So this stands
// on its lower level, where a device says what it does; a device that does not do all of this is not opened.
//
// Calls never block; one thread at a time is inside. Memory of the caller belongs to an operation until
// settled() says that all operations on its end are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::transport::ucx {

// Memory of this process that others may use.
struct Exposed {
    void* handle = nullptr;
    std::string key; // others need it
};

// The same as others see it.
struct RemoteKey {
    uintptr_t key = 0;
    void* handle = nullptr;
};

struct There {
    uint64_t address;
    uintptr_t key;
};

class Direct {
  public:
    virtual ~Direct() = default;
    [[nodiscard]] virtual const std::string& name() const = 0; // of the device and its protocol
    // Its atomics and those of the CPUs at the target may meet at a word. Else they are whole only among
    // themselves.
    [[nodiscard]] virtual bool coherent() const = 0;

    // A connection has two ends. Each side opens one, tells the other its text, and connects.
    virtual int open_end(std::string& text) = 0; // -1: no memory
    virtual bool connect(int end, std::string_view text_of_peer) = 0;

    virtual bool expose(void* at, size_t bytes, Exposed& exposed) = 0;
    virtual void hide(Exposed& exposed) = 0;
    virtual bool learn(std::string_view key, RemoteKey& remote) = 0;
    virtual void forget(RemoteKey& remote) = 0;

    virtual void put(int end, const void* here, size_t bytes, const There& there) = 0;
    virtual void get(int end, void* here, size_t bytes, const There& there) = 0;
    // 64 bits, at an address that is a multiple of 8. `before` gets what was there.
    virtual void fetch_add(int end, uint64_t value, uint64_t* before, const There& there) = 0;
    virtual void swap(int end, uint64_t value, uint64_t* before, const There& there) = 0;
    virtual void compare_swap(int end, uint64_t compare, uint64_t value, uint64_t* before,
                              const There& there) = 0;

    virtual void progress() = 0;
    // Everything so far is done, here and at the target. False: call progress(), then ask again.
    virtual bool settled(int end) = 0;
    [[nodiscard]] virtual bool failed(int end) const = 0; // operations may be lost
};

// Null: no device of the list (separated by commas) can do all this; why says so in words.
using OpenDirect = Direct* (*)(const char* devices, std::string& why);
inline constexpr const char* open_direct_symbol = "zipmpi_ucx_open_direct_2";
// module: a file that has the function; empty: ours.
Direct* open_direct(const char* devices, std::string& why, const std::string& module = {});

} // namespace zipmpi::transport::ucx

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The driver library of devices (GPUs) that the process has loaded: which memory belongs to a device, and
// copies between it and host memory. No header of a driver is used; the functions, constants and layouts that
// are needed are declared in the source files.
//
// Threads: any.
#pragma once

#include "base/err.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <memory>

namespace zipmpi::core::device {

class Driver {
  public:
    Driver() = default;
    virtual ~Driver() = default;
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    // Whether the address is in memory of a device, or in memory that the driver moves between host and
    // device, which other processes cannot read.
    [[nodiscard]] virtual bool owns(const void* address) = 0;
    // Copies between host and device; complete on return.
    virtual Err copy(void* to, const void* from, uint64_t bytes) = 0;
};

// From the handle of the loaded library. Null if it lacks a function.
std::unique_ptr<Driver> make_cuda_driver(void* library);
std::unique_ptr<Driver> make_hip_driver(void* library);
std::unique_ptr<Driver> make_level_zero_driver(void* library);

// Sets `function` to a symbol of the library. Returns false if there is none.
template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
}

[[gnu::cold]] Err copy_error(const char* function, int code, uint64_t bytes);

} // namespace zipmpi::core::device

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/devices.hpp"

#include "base/param.hpp"
#include "base/text.hpp"
#include "core/api/env.hpp"
#include "core/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <link.h>
#include <mutex>
#include <string>
#include <unistd.h>

namespace zipmpi::core::device {
namespace {

Param<std::string> memory_setting{
    "gpu.memory",
    "auto",
    "auto|on|off",
    Level::user,
    Scope::local,
    "buffers in GPU memory: auto, if the process has loaded a driver of GPUs, or may do so because the host "
    "has a GPU; on, as if the host had one; off, all buffers are in host memory"};

struct DriverKind {
    std::string_view memory_kind; // in mpi_memory_alloc_kinds
    std::string_view unified;     // restrictor of memory that moves between host and device
    std::string_view library;     // beginning of the file name
    const char* device_file;      // that the driver opens; null: no specific one
    std::unique_ptr<Driver> (*make)(void* library);
};
constexpr DriverKind kinds[] = {
    {"cuda", "managed", "libcuda.so", "/dev/nvidiactl", make_cuda_driver},
    {"rocm", "managed", "libamdhip64.so", "/dev/kfd", make_hip_driver},
    {"level_zero", "shared", "libze_loader.so", nullptr, make_level_zero_driver},
};
constexpr size_t kind_count = std::size(kinds);

std::mutex search_mutex;
std::atomic<Driver*> drivers[kind_count];          // never destroyed: the library stays loaded
std::atomic<unsigned long long> searched_loads{0}; // libraries loaded so far, at the last search

// Libraries that the process has loaded since its start, including those that it has unloaded.
unsigned long long count_loads() {
    unsigned long long loads = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            *static_cast<unsigned long long*>(result) = info->dlpi_adds;
            return 1; // all entries have the same number
        },
        &loads);
    return loads;
}

struct FoundLibraries {
    std::string paths[kind_count];
};

FoundLibraries find_libraries() {
    FoundLibraries found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            for (size_t i = 0; i < kind_count; ++i)
                if (file_name(info->dlpi_name).starts_with(kinds[i].library))
                    static_cast<FoundLibraries*>(result)->paths[i] = info->dlpi_name;
            return 0;
        },
        &found);
    return found;
}

void search() {
    const std::lock_guard guard(search_mutex);
    const unsigned long long loads = count_loads();
    const FoundLibraries found = find_libraries();
    for (size_t i = 0; i < kind_count; ++i) {
        if (found.paths[i].empty() || drivers[i].load(std::memory_order_relaxed) != nullptr) continue;
        void* const library = dlopen(found.paths[i].c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) continue;
        drivers[i].store(kinds[i].make(library).release(), std::memory_order_release);
    }
    searched_loads.store(loads, std::memory_order_relaxed);
}

bool any_driver() {
    return std::ranges::any_of(drivers, [](const std::atomic<Driver*>& driver) { return driver != nullptr; });
}

// Looks for drivers that were loaded since the last search.
void search_again() {
    if (count_loads() != searched_loads.load(std::memory_order_relaxed)) search();
}

// Not null.
void* const any_load = &search_mutex;

// A pointer that is null until another library is loaded: the dynamic linker appends to its list. The last
// library then must stay loaded.
void* const* next_load() {
    link_map* last = nullptr;
    void* const program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    if (program == nullptr || dlinfo(program, RTLD_DI_LINKMAP, &last) != 0) return &any_load;
    while (last->l_next != nullptr) last = last->l_next;
    if (dlopen(last->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) return &any_load;
    return reinterpret_cast<void* const*>(&last->l_next);
}

bool has_device(const DriverKind& kind) {
    return kind.device_file != nullptr && access(kind.device_file, F_OK) == 0;
}

const DriverKind* find_kind(std::string_view memory_kind) {
    for (const DriverKind& kind : kinds)
        if (kind.memory_kind == memory_kind) return &kind;
    return nullptr;
}

} // namespace

Err copy_error(const char* function, int code, uint64_t bytes) {
    return fail(Err::other, "check the device with the tools of its vendor",
                "%s failed with code %d while %llu bytes were copied between device and host", function, code,
                static_cast<unsigned long long>(bytes));
}

void watch_drivers() {
    if (memory_setting.get() == "off") return;
    search();
    if (any_driver())
        enable_device_buffers(&any_load);
    else if (memory_setting.get() == "on" || std::ranges::any_of(kinds, has_device))
        enable_device_buffers(next_load());
}

Driver* driver_of(const void* address) {
    search_again();
    for (const std::atomic<Driver*>& driver : drivers) {
        Driver* const loaded = driver.load(std::memory_order_acquire);
        if (loaded != nullptr && loaded->owns(address)) return loaded;
    }
    return nullptr;
}

bool supports(std::string_view memory_kind) {
    const DriverKind* const kind = find_kind(memory_kind);
    if (kind == nullptr || (phase() != Phase::before_init && !may_have_device_buffers())) return false;
    search_again();
    return drivers[kind - kinds] != nullptr || has_device(*kind);
}

bool is_restrictor(std::string_view memory_kind, std::string_view restrictor) {
    const DriverKind* const kind = find_kind(memory_kind);
    return kind != nullptr && (restrictor == "host" || restrictor == "device" || restrictor == kind->unified);
}

} // namespace zipmpi::core::device

namespace zipmpi::core {

int query_cuda_support() noexcept { return device::supports("cuda") ? 1 : 0; }
int query_hip_support() noexcept { return device::supports("rocm") ? 1 : 0; }
int query_ze_support() noexcept { return device::supports("level_zero") ? 1 : 0; }

} // namespace zipmpi::core

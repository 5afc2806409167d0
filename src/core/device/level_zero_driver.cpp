// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The driver of Intel GPUs, libze_loader.so.1. Queries need a context and copies a command list; both are
// made at first use, for the first driver and device of the process.
#include "core/device/driver.hpp"

#include <mutex>

namespace zipmpi::core::device {
namespace {

// Values of ze_structure_type_t, ze_memory_type_t and ze_command_queue_mode_t.
constexpr int structure_context = 0xd;
constexpr int structure_command_queue = 0xe;
constexpr int structure_allocation_properties = 0x17;
constexpr int memory_type_device = 2;
constexpr int memory_type_shared = 3;
constexpr int mode_synchronous = 1;

struct ContextDescription { // ze_context_desc_t
    int structure = structure_context;
    const void* next = nullptr;
    uint32_t flags = 0;
};

struct QueueDescription { // ze_command_queue_desc_t
    int structure = structure_command_queue;
    const void* next = nullptr;
    uint32_t ordinal = 0;
    uint32_t index = 0;
    uint32_t flags = 0;
    int mode = mode_synchronous;
    int priority = 0;
};

struct AllocationProperties { // ze_memory_allocation_properties_t
    int structure = structure_allocation_properties;
    void* next = nullptr;
    int type = 0;
    uint64_t id = 0;
    uint64_t page_size = 0;
};

struct Functions {
    int (*get_drivers)(uint32_t* count, void** drivers) = nullptr;
    int (*get_devices)(void* driver, uint32_t* count, void** devices) = nullptr;
    int (*create_context)(void* driver, const ContextDescription*, void** context) = nullptr;
    int (*create_list)(void* context, void* device, const QueueDescription*, void** list) = nullptr;
    int (*get_properties)(void* context, const void* address, AllocationProperties*, void** device) = nullptr;
    int (*append_copy)(void* list, void* to, const void* from, size_t bytes, void* event, uint32_t waits,
                       void** wait_events) = nullptr;
};

class LevelZeroDriver final : public Driver {
  public:
    explicit LevelZeroDriver(const Functions& functions)
        : functions_(functions) {}

    bool owns(const void* address) override {
        const std::lock_guard guard(mutex_);
        if (!open()) return false;
        AllocationProperties found;
        if (functions_.get_properties(context_, address, &found, nullptr) != 0) return false;
        return found.type == memory_type_device || found.type == memory_type_shared;
    }

    // A command list is for one thread at a time.
    Err copy(void* to, const void* from, uint64_t bytes) override {
        const std::lock_guard guard(mutex_);
        const int code = functions_.append_copy(list_, to, from, bytes, nullptr, 0, nullptr);
        return code == 0 ? Err::success : copy_error("zeCommandListAppendMemoryCopy", code, bytes);
    }

  private:
    // Fails until the application has initialized the driver.
    bool open() {
        if (list_ != nullptr) return true;
        uint32_t count = 1;
        void* driver = nullptr;
        void* device = nullptr;
        if (functions_.get_drivers(&count, &driver) != 0 || count == 0) return false;
        count = 1;
        if (functions_.get_devices(driver, &count, &device) != 0 || count == 0) return false;
        const ContextDescription context;
        if (context_ == nullptr && functions_.create_context(driver, &context, &context_) != 0) return false;
        const QueueDescription queue;
        return functions_.create_list(context_, device, &queue, &list_) == 0;
    }

    Functions functions_;
    std::mutex mutex_;
    void* context_ = nullptr;
    void* list_ = nullptr;
};

} // namespace

std::unique_ptr<Driver> make_level_zero_driver(void* library) {
    Functions f;
    const bool complete = find_function(library, "zeDriverGet", f.get_drivers) &&
                          find_function(library, "zeDeviceGet", f.get_devices) &&
                          find_function(library, "zeContextCreate", f.create_context) &&
                          find_function(library, "zeCommandListCreateImmediate", f.create_list) &&
                          find_function(library, "zeMemGetAllocProperties", f.get_properties) &&
                          find_function(library, "zeCommandListAppendMemoryCopy", f.append_copy);
    return complete ? std::make_unique<LevelZeroDriver>(f) : nullptr;
}

} // namespace zipmpi::core::device

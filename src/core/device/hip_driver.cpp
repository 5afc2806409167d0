// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The runtime of AMD GPUs, libamdhip64.so.
#include "core/device/driver.hpp"

namespace zipmpi::core::device {
namespace {

struct PointerAttributes { // hipPointerAttribute_t
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int is_managed;
    unsigned allocation_flags;
};

// Values of hipMemoryType, which changed in version 6; and of hipMemcpyKind.
constexpr int first_version_with_new_types = 60000000;
constexpr int memory_type_device = 2;
constexpr int memory_type_managed = 3;
constexpr int old_memory_type_device = 1;
constexpr int copy_kind_default = 4;

struct Functions {
    int (*get_attributes)(PointerAttributes* attributes, const void* address) = nullptr;
    int (*copy)(void* to, const void* from, size_t bytes, int kind) = nullptr;
    int (*get_version)(int* version) = nullptr;
    int (*take_last_error)() = nullptr;
};

class HipDriver final : public Driver {
  public:
    HipDriver(const Functions& functions, bool has_new_types)
        : functions_(functions)
        , has_new_types_(has_new_types) {}

    bool owns(const void* address) override {
        PointerAttributes found{};
        if (functions_.get_attributes(&found, address) != 0) {
            static_cast<void>(functions_.take_last_error()); // the application must not see it
            return false;
        }
        if (!has_new_types_) return found.type == old_memory_type_device || found.is_managed != 0;
        return found.type == memory_type_device || found.type == memory_type_managed || found.is_managed != 0;
    }

    Err copy(void* to, const void* from, uint64_t bytes) override {
        const int code = functions_.copy(to, from, bytes, copy_kind_default);
        return code == 0 ? Err::success : copy_error("hipMemcpy", code, bytes);
    }

  private:
    Functions functions_;
    bool has_new_types_;
};

} // namespace

std::unique_ptr<Driver> make_hip_driver(void* library) {
    Functions f;
    int version = 0;
    const bool complete = find_function(library, "hipPointerGetAttributes", f.get_attributes) &&
                          find_function(library, "hipMemcpy", f.copy) &&
                          find_function(library, "hipRuntimeGetVersion", f.get_version) &&
                          find_function(library, "hipGetLastError", f.take_last_error) &&
                          f.get_version(&version) == 0;
    return complete ? std::make_unique<HipDriver>(f, version >= first_version_with_new_types) : nullptr;
}

} // namespace zipmpi::core::device

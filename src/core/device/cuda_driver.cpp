// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The driver of NVIDIA GPUs, libcuda.so.1.
#include "core/device/driver.hpp"

namespace zipmpi::core::device {
namespace {

// Values of CUpointer_attribute and CUmemorytype.
constexpr int attribute_context = 1;
constexpr int attribute_memory_type = 2;
constexpr int attribute_is_managed = 8;
constexpr unsigned memory_type_device = 2;

struct Functions {
    int (*get_attribute)(void* value, int attribute, unsigned long long address) = nullptr;
    int (*copy)(unsigned long long to, unsigned long long from, size_t bytes) = nullptr;
    int (*push_context)(void* context) = nullptr;
    int (*pop_context)(void** context) = nullptr;
};

unsigned long long number_of(const void* address) { return reinterpret_cast<uintptr_t>(address); }

class CudaDriver final : public Driver {
  public:
    explicit CudaDriver(const Functions& functions)
        : functions_(functions) {}

    bool owns(const void* address) override {
        unsigned type = 0;
        if (functions_.get_attribute(&type, attribute_memory_type, number_of(address)) != 0) return false;
        unsigned managed = 0;
        static_cast<void>(functions_.get_attribute(&managed, attribute_is_managed, number_of(address)));
        return type == memory_type_device || managed != 0;
    }

    // The calling thread may have no context, or that of another device.
    Err copy(void* to, const void* from, uint64_t bytes) override {
        void* context = context_of(to);
        if (context == nullptr) context = context_of(from);
        const bool pushed = context != nullptr && functions_.push_context(context) == 0;
        const int code = functions_.copy(number_of(to), number_of(from), bytes);
        if (pushed) static_cast<void>(functions_.pop_context(&context));
        return code == 0 ? Err::success : copy_error("cuMemcpy", code, bytes);
    }

  private:
    // Null for host memory and for memory of a pool.
    void* context_of(const void* address) {
        void* context = nullptr;
        const int code = functions_.get_attribute(&context, attribute_context, number_of(address));
        return code == 0 ? context : nullptr;
    }

    Functions functions_;
};

} // namespace

std::unique_ptr<Driver> make_cuda_driver(void* library) {
    Functions f;
    const bool complete = find_function(library, "cuPointerGetAttribute", f.get_attribute) &&
                          find_function(library, "cuMemcpy", f.copy) &&
                          find_function(library, "cuCtxPushCurrent_v2", f.push_context) &&
                          find_function(library, "cuCtxPopCurrent_v2", f.pop_context);
    return complete ? std::make_unique<CudaDriver>(f) : nullptr;
}

} // namespace zipmpi::core::device

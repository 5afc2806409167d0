// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allocator of MPI objects: chunks that stay mapped until the process exits, so the kind tag of a freed
// object can be read at any time, and an index per object for ABIs whose handles are integers. A slab is
// never destroyed: destructors of static application objects may still call MPI.
//
// Threads: called with the progress engine lock held; slabs whose objects are created without it, such as
// before MPI_Init, have their own mutex.
#pragma once

#include "core/object.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

namespace zipmpi::core {

struct NoMutex {
    void lock() {}
    void unlock() {}
};

template <class T, class Mutex = NoMutex>
class Slab {
    static_assert(std::is_base_of_v<Object, T>);

  public:
    // Null if memory is exhausted.
    template <class... Args>
    T* make(Args&&... args) {
        const std::lock_guard guard(mutex_);
        if (free_ == nullptr && !grow()) [[unlikely]]
            return nullptr;
        FreeObject* const memory = free_;
        free_ = memory->next;
        const uint32_t index = memory->index;
        T* object = new (memory) T(std::forward<Args>(args)...);
        object->cls = T::class_id;
        object->index = index;
        return object;
    }

    void destroy(T& object) {
        const std::lock_guard guard(mutex_);
        const uint32_t index = object.index;
        object.~T();
        push_free(&object, index);
    }

    [[nodiscard]] T* find(uint32_t index) {
        const std::lock_guard guard(mutex_);
        if (index >= chunks_.size() * chunk_objects) return nullptr;
        T* object = at(index);
        return object->cls != ObjectKind::none ? object : nullptr;
    }

    // Visits all live objects.
    template <class Visit>
    void for_each(const Visit& visit) {
        for (uint32_t i = 0; i < chunks_.size() * chunk_objects; ++i)
            if (at(i)->cls != ObjectKind::none) visit(*at(i));
    }

    static constexpr uint32_t chunk_objects = 64;
    // For debuggers: {begin, end} of an array of pointers to chunks.
    [[nodiscard]] const void* chunks() const { return &chunks_; }

  private:
    // In the memory of an object that is not in use; its kind is none.
    struct FreeObject : Object {
        FreeObject* next = nullptr;
    };
    static_assert(sizeof(T) >= sizeof(FreeObject) && alignof(T) >= alignof(FreeObject));
    struct SlabChunk {
        alignas(T) unsigned char memory[chunk_objects * sizeof(T)] = {};
    };

    [[nodiscard]] T* at(uint32_t index) {
        return reinterpret_cast<T*>(chunks_[index / chunk_objects]->memory) + index % chunk_objects;
    }
    bool grow() {
        std::unique_ptr<SlabChunk> chunk(new (std::nothrow) SlabChunk);
        if (chunk == nullptr) return false;
        const auto first = static_cast<uint32_t>(chunks_.size() * chunk_objects);
        chunks_.push_back(std::move(chunk));
        for (uint32_t i = chunk_objects; i > 0; --i) push_free(at(first + i - 1), first + i - 1);
        return true;
    }
    void push_free(void* memory, uint32_t index) {
        auto* const object = new (memory) FreeObject;
        object->index = index;
        object->next = free_;
        free_ = object;
    }

    std::vector<std::unique_ptr<SlabChunk>> chunks_;
    FreeObject* free_ = nullptr;
    Mutex mutex_;
};

} // namespace zipmpi::core

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays of requests, datatypes and statuses, converted between ABI and core. Short ones are on the stack.
#pragma once

#include "abi/entry.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace zipmpi::abi {

// Elements are constructed in resize() only, so a call without statuses pays nothing for them.
template <class T>
class SmallArray {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    // Returns false if memory is exhausted.
    bool resize(int64_t n) noexcept {
        if (n > inline_size) {
            heap_.reset(new (std::nothrow) T[static_cast<size_t>(n)]);
            if (heap_ == nullptr) return false;
            data_ = heap_.get();
        } else {
            data_ = reinterpret_cast<T*>(inline_);
            std::uninitialized_default_construct_n(data_, n);
        }
        size_ = n;
        return true;
    }
    [[nodiscard]] int64_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return data_; }

  private:
    static constexpr int64_t inline_size = 64;
    int64_t size_ = 0;
    T* data_ = nullptr;
    alignas(T) std::byte inline_[inline_size * sizeof(T)];
    std::unique_ptr<T[]> heap_;
};

namespace checks {
[[gnu::cold]] Err bad_element(int64_t index, uintptr_t value, const char* param) noexcept;
[[gnu::cold]] Err bad_type(int64_t index, MPI_Datatype value, const char* param) noexcept;
[[gnu::cold]] Err no_memory(int64_t elements) noexcept;
} // namespace checks

class RequestArray {
  public:
    bool load(Entry& entry, int64_t n, const MPI_Request* from, const char* param) noexcept {
        if (!entry.out_array(from, n, param)) return false;
        if (!requests_.resize(n)) return entry.set_error(checks::no_memory(n));
        for (int64_t i = 0; i < n; ++i) {
            core::Request* const request =
                from[i] == MPI_REQUEST_NULL ? nullptr : find<core::Request>(from[i]);
            if (request == nullptr && from[i] != MPI_REQUEST_NULL) [[unlikely]]
                return entry.set_error(checks::bad_element(i, integer_of(from[i]), param));
            requests_.data()[i] = request;
        }
        return true;
    }
    void store(MPI_Request* to) noexcept {
        for (int64_t i = 0; i < requests_.size(); ++i) to[i] = handle_of(requests_.data()[i]);
    }
    // Of a call that completes at most one request; a negative index: none.
    void store_at(MPI_Request* to, int64_t index) noexcept {
        if (index >= 0) to[index] = handle_of(requests_.data()[index]);
    }
    core::Request** data() noexcept { return requests_.data(); }
    core::Request* first() noexcept {
        core::Request** const end = data() + requests_.size();
        core::Request** const at = std::find_if(data(), end, [](core::Request* r) { return r != nullptr; });
        return at != end ? *at : nullptr;
    }

  private:
    SmallArray<core::Request*> requests_;
};

class DatatypeArray {
  public:
    bool load(Entry& entry, int64_t n, const MPI_Datatype* from, const char* param) noexcept {
        if (!prepare(entry, n, from, param)) return false;
        for (int64_t i = 0; i < n; ++i) {
            types_.data()[i] = find<core::Datatype>(from[i]);
            if (types_.data()[i] == nullptr) [[unlikely]]
                return entry.set_error(checks::bad_type(i, from[i], param));
        }
        return true;
    }
    bool load_committed(Entry& entry, int64_t n, const MPI_Datatype* from, const char* param) noexcept {
        if (!load(entry, n, from, param)) return false;
        for (int64_t i = 0; i < n; ++i)
            if (!entry.committed(from[i], *types_.data()[i], param)) return false;
        return true;
    }
    bool prepare(Entry& entry, int64_t n, const MPI_Datatype* to, const char* param) noexcept {
        n = std::max<int64_t>(n, 0);
        if (!entry.out_array(to, n, param)) return false;
        if (!types_.resize(n)) return entry.set_error(checks::no_memory(n));
        std::fill_n(types_.data(), n, nullptr);
        return true;
    }
    // Elements that were not written stay unchanged.
    void store(MPI_Datatype* to) noexcept {
        for (int64_t i = 0; i < types_.size(); ++i)
            if (types_.data()[i] != nullptr) to[i] = handle_of(types_.data()[i]);
    }
    core::Datatype** data() noexcept { return types_.data(); }

  private:
    SmallArray<core::Datatype*> types_;
};

class StatusArray {
  public:
    bool prepare(Entry& entry, int64_t n, const MPI_Status* to) noexcept {
        wanted_ = to != MPI_STATUSES_IGNORE;
        return !wanted_ || statuses_.resize(n) || entry.set_error(checks::no_memory(n));
    }
    core::Status* data() noexcept { return wanted_ ? statuses_.data() : nullptr; }
    // Error fields are written only if the call returns MPI_ERR_IN_STATUS.
    void store(MPI_Status* to, int64_t used, bool with_errors) noexcept {
        if (!wanted_) return;
        for (int64_t i = 0; i < std::min(used, statuses_.size()); ++i) {
            put_status(statuses_.data()[i], to[i]);
            if (with_errors) to[i].MPI_ERROR = abi::code_of(statuses_.data()[i].error);
        }
    }

  private:
    bool wanted_ = false;
    SmallArray<core::Status> statuses_;
};

} // namespace zipmpi::abi

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// List of trivially copyable elements with inline storage for the first N of them.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace zipmpi::proto::coll {

template <class T, size_t Inline>
class InlineList {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    void push_back(const T& element) {
        if (size_ < Inline) {
            first_[size_] = element;
        } else {
            if (size_ == Inline) more_.assign(first_, first_ + Inline);
            more_.push_back(element);
        }
        ++size_;
    }
    void clear() {
        size_ = 0;
        more_.clear();
    }
    [[nodiscard]] const T& operator[](size_t i) const { return size_ <= Inline ? first_[i] : more_[i]; }
    [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
    [[nodiscard]] size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

  private:
    size_t size_ = 0;
    T first_[Inline];
    std::vector<T> more_; // all elements, once there are more than Inline
};

} // namespace zipmpi::proto::coll

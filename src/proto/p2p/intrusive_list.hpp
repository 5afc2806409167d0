// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Doubly linked list through members of the elements: no allocation, removal in O(1).
#pragma once

namespace zipmpi::proto {

template <class T>
class IntrusiveList {
  public:
    [[nodiscard]] T* first() const { return first_; }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }

    void push_back(T& e) {
        e.previous = last_;
        e.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &e;
        last_ = &e;
    }
    void remove(T& e) {
        (e.previous != nullptr ? e.previous->next : first_) = e.next;
        (e.next != nullptr ? e.next->previous : last_) = e.previous;
        e.next = e.previous = nullptr;
    }

  private:
    T* first_ = nullptr; // the first member, which debuggers read
    T* last_ = nullptr;
};

} // namespace zipmpi::proto

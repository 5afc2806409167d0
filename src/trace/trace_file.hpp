// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The trace file of this rank. Records go to a buffer of fixed size, which is written when it is full. A file
// that reaches its limit takes no more records and counts them.
#pragma once

#include "os/fd.hpp"
#include "wire/trace_layout.hpp"

#include <cstddef>

namespace zipmpi::trace {

inline constexpr size_t buffered_records = 8192; // 320 KiB

struct Identity {
    uint32_t rank = 0, ranks = 1;
    const char* job = "";
};

class TraceFile {
  public:
    // Creates the folder if it does not exist. Prints a message and returns false on failure.
    bool open(const char* folder, const Identity& self, uint64_t limit_bytes) noexcept;

    void add(const wire::TraceRecord& record) noexcept {
        if (count_ == buffered_records) [[unlikely]]
            flush();
        buffer_[count_++] = record;
    }
    void flush() noexcept;
    void close() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return file_.get() >= 0; }
    void set_offset(int64_t ns) noexcept; // of the clock of rank 0; the first call is for the start
    void count_untracked() noexcept { ++header_.untracked; }

  private:
    void write_header() noexcept;

    os::Fd file_;
    uint64_t room_ = 0; // records that the file may still take
    uint64_t written_ = 0;
    bool has_offset_ = false;
    wire::TraceHeader header_{};
    size_t count_ = 0;
    wire::TraceRecord buffer_[buffered_records];
};

} // namespace zipmpi::trace

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether it pays to ask a receiver before a message that would fit into a cell. It does if the receiver then
// takes it by one copy; if it keeps asking for fragments (the kernel refuses, or the data has just been
// written and copies by the kernel are slow), sending at once saves the question. One message in a while
// still asks.
#pragma once

#include <cstdint>

namespace zipmpi::proto {

class Asking {
  public:
    void wants_fragments() { fragments_ += fragments_ < enough ? 1 : 0; }
    void has_copied() { fragments_ = 0; }
    [[nodiscard]] bool is_vain() { return fragments_ == enough && (++skipped_ % one_in) != 0; }

  private:
    static constexpr uint8_t enough = 4;
    static constexpr uint8_t one_in = 64;
    uint8_t fragments_ = 0; // times in a row
    uint8_t skipped_ = 0;
};

} // namespace zipmpi::proto

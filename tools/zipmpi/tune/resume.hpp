// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Classes of pairs that were measured before a run of `zipmpi tune` was interrupted: kept beside its file,
// one line of JSON for each.
#pragma once

#include "tune/measure.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

class Measured {
  public:
    // Takes over what is there if it is less than a day old, or begins anew. No name: nothing is kept.
    Measured(std::string file, bool take_over);
    // Null: not measured yet, or on other CPUs.
    [[nodiscard]] const Measurement* find(const MeasuredPair& where) const;
    void add(const Measurement& m); // at once in the file; if it cannot be written, only a new start is lost
    void forget();                  // all is done
    [[nodiscard]] size_t taken_over() const { return taken_over_; }

  private:
    std::string file_;
    std::vector<Measurement> all_;
    size_t taken_over_ = 0;
};

// One line, and back; pure. False: it is none.
std::string to_line(const Measurement& m);
bool from_line(const std::string& line, Measurement& m);

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Results of an interrupted run of `zipmpi tune`: stored next to its file, one line of JSON for each pair
// class.
#pragma once

#include "tune/measure.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

class ResumeFile {
  public:
    // Loads existing results if they are less than a day old, or starts empty. No name: nothing is stored.
    ResumeFile(std::string file, bool take_over);
    // Returns null if not measured yet, or measured on other CPUs.
    [[nodiscard]] const Measurement* find(const MeasuredPair& where) const;
    void add(const Measurement& m); // written immediately; if that fails, only resuming is affected
    void discard();                 // the run is complete
    [[nodiscard]] size_t resumed() const { return resumed_; }

  private:
    std::string file_;
    std::vector<Measurement> all_;
    size_t resumed_ = 0;
};

// Conversion to and from one line; pure. Returns false if the line is not valid.
std::string to_line(const Measurement& m);
bool from_line(const std::string& line, Measurement& m);

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Info objects: key-value pairs of strings in the order of first insertion. They are short and searched
// linearly.
#pragma once

#include "base/err.hpp"
#include "core/object.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zipmpi::core {

class Hints {
  public:
    [[nodiscard]] const std::string* find(std::string_view key) const;
    void set(std::string_view key, std::string_view value);
    bool erase(std::string_view key);
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

  private:
    std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Info : Object {
    static constexpr ObjectKind class_id = ObjectKind::info;
    Hints hints;
};

// The pairs of an info object. Those of MPI_INFO_ENV are determined on first use.
const Hints& hints_of(Info& info);

Err make_info(Hints hints, Info*& info);

} // namespace zipmpi::core

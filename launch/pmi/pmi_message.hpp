// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The two text formats of PMI. PMI-1: a line "cmd=put kvsname=k key=a value=b". PMI-2: six characters of
// length, then "cmd=kvs-put;key=a;value=b;", where ";;" in a value stands for ';'. Both start with the PMI-1
// line cmd=init, which has the requested version.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zipmpi::launch {

inline constexpr size_t pmi_message_limit = 64U << 10; // longest message accepted from a rank
inline constexpr size_t pmi_key_limit = 256;
inline constexpr size_t pmi_value_limit = 4096;

class PmiMessage {
  public:
    // Value of a name, or empty. command() is the value of "cmd" (or of "mcmd").
    [[nodiscard]] std::string_view get(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::string_view command() const;
    void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }

  private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

// Returns false if it is not a message (no cmd, a field without '=', an empty name).
bool parse_pmi1(std::string_view line, PmiMessage& out);
bool parse_pmi2(std::string_view body, PmiMessage& out);

// Six characters of length before the body. The fields keep their order; ';' in values is doubled.
std::string format_pmi2(const std::vector<std::pair<std::string_view, std::string_view>>& fields);

// The response to a PMI-2 request.
std::string pmi2_response(const PmiMessage& request,
                          std::vector<std::pair<std::string_view, std::string_view>> fields);
// The response with a value, or without one; flag: name of the field that says which.
std::string pmi2_value_response(const PmiMessage& request, std::string_view flag, const std::string* value);

// The length in a PMI-2 header, or -1 if it is not valid.
int parse_pmi2_length(std::string_view six);

// A decimal number with optional sign that is the whole text; otherwise the fallback.
int parse_pmi_int(std::string_view text, int fallback);

} // namespace zipmpi::launch

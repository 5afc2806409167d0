// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/matrix.hpp"

#include <algorithm>
#include <charconv>

namespace zipmpi::mapping {
namespace {

constexpr uint32_t most_ranks = 1'000'000;
constexpr double bytes_of_a_message = 4096;

std::string_view take_line(std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    return line;
}

// Removes blanks and a number from the front.
bool take_number(std::string_view& line, uint64_t& value) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc()) return false;
    line.remove_prefix(static_cast<size_t>(end - line.data()));
    return line.empty() || line.front() == ' ' || line.front() == '\t';
}

bool parse_pair(std::string_view line, uint32_t ranks, Traffic& t, std::string& wrong) {
    uint64_t n[6];
    std::string_view rest = line;
    for (uint64_t& value : n)
        if (!take_number(rest, value)) {
            wrong = "'" + std::string(line) + "' is not six numbers";
            return false;
        }
    if (!rest.empty()) {
        wrong = "'" + std::string(line) + "' is more than six numbers";
        return false;
    }
    if (n[0] >= ranks || n[1] >= ranks) {
        wrong = "rank " + std::to_string(std::max(n[0], n[1])) + " is not one of 0 to " +
                std::to_string(ranks - 1);
        return false;
    }
    t = {static_cast<uint32_t>(n[0]), static_cast<uint32_t>(n[1]), n[2], n[3], n[4], n[5]};
    return true;
}

bool parse_head(std::string_view& text, uint32_t& ranks, std::string& wrong) {
    if (const std::string_view first = take_line(text); first != "zipmpi-matrix 1") {
        wrong = first.starts_with("zipmpi-matrix ")
                    ? "line 1: '" + std::string(first) + "' is not version 1 of the format"
                    : "line 1: it does not begin with 'zipmpi-matrix 1'";
        return false;
    }
    std::string_view second = take_line(text);
    uint64_t n = 0;
    if (!second.starts_with("ranks ") || (second.remove_prefix(6), !take_number(second, n)) ||
        !second.empty() || n == 0 || n > most_ranks) {
        wrong = "line 2: it is not 'ranks N' with N from 1 to 1000000";
        return false;
    }
    ranks = static_cast<uint32_t>(n);
    return true;
}

} // namespace

bool parse_matrix(std::string_view text, Matrix& out, std::string& wrong) {
    out = {};
    if (!parse_head(text, out.ranks, wrong)) return false;
    for (uint32_t number = 3; !text.empty(); ++number) {
        const std::string_view line = take_line(text);
        if (line.empty() || line.front() == '#') continue;
        Traffic t;
        if (!parse_pair(line, out.ranks, t, wrong)) {
            wrong.insert(0, "line " + std::to_string(number) + ": ");
            return false;
        }
        out.pairs.push_back(t);
    }
    return true;
}

std::string print(const Matrix& matrix) {
    std::string text = "zipmpi-matrix 1\nranks " + std::to_string(matrix.ranks) +
                       "\n# from to messages bytes coll_messages coll_bytes\n";
    for (const Traffic& t : matrix.pairs) {
        const char* between = "";
        for (const uint64_t n :
             {uint64_t{t.from}, uint64_t{t.to}, t.messages, t.bytes, t.coll_messages, t.coll_bytes}) {
            text += between + std::to_string(n);
            between = " ";
        }
        text += "\n";
    }
    return text;
}

double weight(const Traffic& t) {
    return static_cast<double>(t.messages) + static_cast<double>(t.coll_messages) +
           (static_cast<double>(t.bytes) + static_cast<double>(t.coll_bytes)) / bytes_of_a_message;
}

Graph graph_of(const Matrix& matrix) {
    std::vector<Edge> edges;
    edges.reserve(matrix.pairs.size());
    for (const Traffic& t : matrix.pairs) edges.push_back({t.from, t.to, weight(t)});
    return {matrix.ranks, std::move(edges)};
}

} // namespace zipmpi::mapping

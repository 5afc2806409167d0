// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/rank_file.hpp"

#include "launch/mpiexec/actions.hpp"

#include <algorithm>
#include <charconv>

namespace zipmpi::launch {
namespace {

using Entry = PlacementPolicy::RankFileEntry;

// "0=HOST", after the word "rank".
bool parse_host(std::string_view word, Entry& entry) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals + 1 == word.size()) return false;
    const auto [end, error] = std::from_chars(word.data(), word.data() + equals, entry.rank);
    entry.host = word.substr(equals + 1);
    return error == std::errc() && end == word.data() + equals;
}

bool parse_cpus(std::string_view word, Entry& entry, std::string& wrong) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (equals == std::string_view::npos || (name != "slot" && name != "slots")) return false;
    const std::string_view cpus = word.substr(equals + 1);
    if (cpus.starts_with('p') || cpus.starts_with('P'))
        wrong = "'" + std::string(word) +
                "' has physical core numbers; use logical numbers as `zipmpi map` shows them";
    entry.cpus = cpus;
    return !cpus.empty() && cpus.find_first_not_of("0123456789,-:*") == std::string_view::npos;
}

bool parse_line(std::string line, Entry& entry, std::string& wrong) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::replace(line.begin(), line.end(), '\r', ' ');
    const std::vector<std::string> words = split(line, ' ');
    return words.size() == 3 && words[0] == "rank" && parse_host(words[1], entry) &&
           parse_cpus(words[2], entry, wrong);
}

} // namespace

bool parse_rank_file(std::string_view text, std::vector<Entry>& out, std::string& wrong) {
    out.clear();
    for (const std::string& whole : split(text, '\n')) {
        const std::string line = whole.substr(0, whole.find('#'));
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        Entry entry;
        wrong = "'" + line + "' is not 'rank N=HOST slot=CPUS'";
        if (!parse_line(line, entry, wrong)) return false;
        out.push_back(std::move(entry));
    }
    std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
    for (uint32_t i = 0; i < out.size(); ++i) {
        wrong = "rank " + std::to_string(std::min(i, out[i].rank)) +
                (out[i].rank < i ? " occurs twice" : " is missing");
        if (out[i].rank != i) return false;
    }
    wrong = "it has no rank";
    return !out.empty();
}

} // namespace zipmpi::launch

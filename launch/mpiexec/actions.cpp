// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Helpers of the actions, and the actions that accept, refuse, or map to other options.
#include "launch/mpiexec/actions.hpp"

#include "launch/mpiexec/host_selection.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/tree/agent.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace zipmpi::launch {
namespace {

constexpr double max_seconds = 1e9; // 31 years; its nanoseconds fit into 64 bits

} // namespace

bool bad_value(const Use& use, const std::string& reason, const std::string& fix, Diagnostic& why) {
    why = {"the value of " + use.written + " is not valid", use.where, "'" + use.value() + "' " + reason,
           fix};
    return false;
}

bool parse_whole_number(const Use& use, long least, long most, long& out, Diagnostic& why) {
    const std::string text = use.value();
    char* end = nullptr;
    out = std::strtol(text.c_str(), &end, 10);
    if (!text.empty() && *end == '\0' && out >= least && out <= most) return true;
    return bad_value(use, "is not a number from " + std::to_string(least) + " to " + std::to_string(most),
                     "write for example: " + use.written + " " + std::to_string(std::max(least, 4L)), why);
}

bool parse_seconds(const Use& use, double& out, Diagnostic& why) {
    const std::string text = use.value();
    char* end = nullptr;
    out = std::strtod(text.c_str(), &end);
    const bool whole = !text.empty() && *end == '\0';
    const bool negative = whole && out < 0;
    if (whole && out >= 0) {
        out = std::min(out, max_seconds);
        return true;
    }
    return bad_value(use, negative ? "is a negative number of seconds" : "is not a number of seconds",
                     "write a positive number of seconds", why);
}

bool apply_option(const std::string& text, const std::string* value, const Use& like, Draft& draft,
                  Diagnostic& why) {
    Use use = like;
    use.words = split(text, ' ');
    use.row = find_option(use.words[0]);
    use.words.erase(use.words.begin());
    if (value != nullptr) use.words.push_back(*value);
    return use.row->action(use, draft, why);
}

bool apply_alias(const AliasRow& alias, const std::string& value, const Use& like, Draft& draft,
                 Diagnostic& why) {
    if (*alias.option != '\0') return apply_option(alias.option, &value, like, draft, why);
    const int is = parse_truth(lower_case(value));
    const char* const option = is == 1 ? alias.yes : is == 0 ? alias.no : "";
    return *option == '\0' || apply_option(option, nullptr, like, draft, why);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const size_t end = std::min(text.find(separator), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

bool is_rank_list(std::string_view text) {
    if (text == "all" || text == "none") return true;
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
           text.find_first_not_of("0123456789,-") == std::string_view::npos;
}

namespace act {

bool accept(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    std::string note = use.written;
    for (const std::string& w : use.words) note += " " + w;
    draft.job.notes.push_back(note + " has no effect: " + use.row->help);
    return true;
}

bool refuse(const Use& use, Draft& /*draft*/, Diagnostic& why) {
    why = {"the option " + use.written + " is not supported", use.where, use.row->help, use.row->use};
    return false;
}

// "LIST word,word=value,...": Open MPI 5 has directives where Open MPI 4 has options.
bool directives(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string list(use.row->value, std::string_view(use.row->value).find(' '));
    const AliasKind kind = list == "display"  ? AliasKind::display
                           : list == "output" ? AliasKind::output
                                              : AliasKind::runtime;
    for (const std::string& part : split(use.words[0], ','))
        for (const std::string& directive : split(part, ':')) {
            const size_t equals = std::min(directive.find('='), directive.size() - 1);
            const AliasRow* alias = find_alias(kind, lower_case(directive.substr(0, equals + 1)));
            const bool plain = directive[equals] != '=';
            const std::string value = plain ? "" : directive.substr(equals + 1);
            if (alias == nullptr && !plain && parse_truth(lower_case(value)) >= 0) // word=true
                alias = find_alias(kind, lower_case(directive.substr(0, equals)));
            if (alias == nullptr) {
                why = {"the value of " + use.written + " is not valid", use.where,
                       "'" + directive + "' is not known", "`man mpiexec` lists the words of " + use.written};
                return false;
            }
            const bool takes = std::string_view(alias->name).ends_with('=');
            if (!takes && parse_truth(lower_case(value)) == 0) continue;
            Use like = use;
            like.written += " " + directive;
            if (!apply_option(alias->option, takes ? &value : nullptr, like, draft, why)) return false;
        }
    return true;
}

bool parameter(const Use& use, Draft& draft, Diagnostic& why) {
    if (const AliasRow* const alias = find_alias(AliasKind::parameter, use.words[0])) {
        Use like = use;
        like.written += " " + use.words[0];
        return apply_alias(*alias, use.words[1], like, draft, why);
    }
    draft.job.notes.push_back(use.written + " " + use.words[0] + " " + use.words[1] +
                              " has no effect: there is no such component");
    return true;
}

// Reads lines "-x NAME=VALUE", "--mca NAME VALUE" and "NAME = VALUE"; other lines tune another library.
bool parameter_file(const Use& use, Draft& draft, Diagnostic& why) {
    std::string text;
    if (!read_whole_file(use.words[0], "the parameter file", text, why)) return false;
    for (const std::string& line : split(text, '\n')) {
        std::vector<std::string> words;
        if (line[0] == '#' || !split_words(line, words)) continue;
        for (size_t i = 0; i < words.size(); ++i) {
            const OptionRow* const row = words[i][0] == '-' ? find_option(words[i]) : nullptr;
            Use one{row, words[i], {}, "file " + use.words[0]};
            if (row != nullptr && row->action == export_variable && i + 1 < words.size()) {
                one.words = {words[++i]};
            } else if (row != nullptr && row->action == parameter && i + 2 < words.size()) {
                one.words = {words[i + 1], words[i + 2]};
                i += 2;
            } else if (i + 2 < words.size() && words[i + 1] == "=") {
                one = {find_option("mca"), "--mca", {words[i], words[i + 2]}, one.where};
                i += 2;
            } else {
                break;
            }
            if (!one.row->action(one, draft, why)) return false;
        }
    }
    return true;
}

} // namespace act
} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi/pmi_message.hpp"

#include <charconv>

namespace zipmpi::launch {

std::string_view PmiMessage::get(std::string_view name) const {
    for (const auto& f : fields_)
        if (f.first == name) return f.second;
    return {};
}

bool PmiMessage::has(std::string_view name) const {
    for (const auto& f : fields_)
        if (f.first == name) return true;
    return false;
}

std::string_view PmiMessage::command() const { return has("cmd") ? get("cmd") : get("mcmd"); }

bool parse_pmi1(std::string_view line, PmiMessage& out) {
    while (!line.empty()) {
        const size_t from = line.find_first_not_of(" \t\r\n");
        if (from == std::string_view::npos) break;
        line.remove_prefix(from);
        const size_t to = line.find_first_of(" \t\r\n");
        const std::string_view word = line.substr(0, to);
        const size_t eq = word.find('=');
        if (eq == std::string_view::npos || eq == 0) return false;
        out.add(word.substr(0, eq), word.substr(eq + 1));
        line.remove_prefix(word.size());
    }
    return !out.command().empty();
}

bool parse_pmi2(std::string_view body, PmiMessage& out) {
    while (!body.empty()) {
        const size_t eq = body.find('=');
        if (eq == std::string_view::npos || eq == 0 || body.find(';') < eq) return false;
        const std::string_view name = body.substr(0, eq);
        std::string value;
        size_t i = eq + 1;
        for (;; ++i) {
            if (i >= body.size()) return false; // the ';' that ends a value is missing
            if (body[i] == ';') {
                if (i + 1 >= body.size() || body[i + 1] != ';') break;
                ++i;
            }
            value += body[i];
        }
        out.add(name, value);
        body.remove_prefix(i + 1);
    }
    return !out.command().empty();
}

std::string format_pmi2(const std::vector<std::pair<std::string_view, std::string_view>>& fields) {
    std::string body;
    for (const auto& [name, value] : fields) {
        body.append(name).append("=");
        for (const char c : value) body.append(c == ';' ? 2 : 1, c);
        body += ';';
    }
    std::string length = std::to_string(body.size());
    return std::string(6 - length.size(), ' ') + length + body;
}

std::string pmi2_response(const PmiMessage& request,
                          std::vector<std::pair<std::string_view, std::string_view>> fields) {
    const std::string name = std::string(request.command()) + "-response";
    if (request.has("thrid")) fields.insert(fields.begin(), {"thrid", request.get("thrid")});
    fields.insert(fields.begin(), {"cmd", name});
    return format_pmi2(fields);
}

std::string pmi2_value_response(const PmiMessage& request, std::string_view flag, const std::string* value) {
    if (value != nullptr) return pmi2_response(request, {{flag, "TRUE"}, {"value", *value}, {"rc", "0"}});
    return pmi2_response(request, {{flag, "FALSE"}, {"rc", "0"}});
}

int parse_pmi2_length(std::string_view six) {
    if (six.size() != 6) return -1;
    while (!six.empty() && six.front() == ' ') six.remove_prefix(1);
    const int n = parse_pmi_int(six, -1);
    return n > 0 && static_cast<size_t>(n) <= pmi_message_limit ? n : -1;
}

int parse_pmi_int(std::string_view text, int fallback) {
    int v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    return error == std::errc() && end == text.data() + text.size() ? v : fallback;
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/host_list.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace zipmpi::launch {
namespace {

constexpr uint32_t max_slots = 1U << 16;
constexpr size_t max_hosts = 1U << 17;

bool parse_number(std::string_view text, uint32_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_speed(std::string_view text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && is_speed(value);
}

// Rejects names that an agent takes for an option or that a shell would split.
bool is_host_name(std::string_view name) {
    const auto fits = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '@' || c == ':' || c == '%';
    };
    return !name.empty() && name[0] != '-' && name.size() <= 255 &&
           std::all_of(name.begin(), name.end(), fits);
}

class Collector {
  public:
    explicit Collector(HostList& out)
        : out_(out) {
        out.clear();
    }
    bool add(std::string_view name, uint32_t slots, double speed = 0) { // speed 0: not given
        if (!is_host_name(name) || slots == 0 || slots > max_slots || out_.size() == max_hosts) return false;
        const auto [it, added] = index_.emplace(name, out_.size());
        if (added)
            out_.push_back({std::string(name), slots});
        else
            out_[it->second].slots += slots;
        if (speed > 0) out_[it->second].speed = speed;
        return true;
    }
    // "name" or "name:slots". An IPv6 address with slots needs brackets: "[::1]:2".
    bool add_entry(std::string_view entry, uint32_t slots = 1, double speed = 0) {
        if (!entry.empty() && entry[0] == '[') {
            const size_t close = entry.find(']');
            if (close == std::string_view::npos) return false;
            const std::string_view rest = entry.substr(close + 1);
            return (rest.empty() || (rest[0] == ':' && parse_number(rest.substr(1), slots))) &&
                   add(entry.substr(1, close - 1), slots, speed);
        }
        const size_t colon = entry.find(':');
        if (colon != std::string_view::npos && entry.rfind(':') == colon) {
            if (!parse_number(entry.substr(colon + 1), slots)) return false;
            entry = entry.substr(0, colon);
        }
        return add(entry, slots, speed);
    }

  private:
    HostList& out_;
    std::unordered_map<std::string, size_t> index_;
};

std::string_view trimmed(std::string_view t) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!t.empty() && blank(t.front())) t.remove_prefix(1);
    while (!t.empty() && blank(t.back())) t.remove_suffix(1);
    return t;
}

// Removes the text before the separator. Brackets are skipped.
std::string_view next_field(std::string_view& text, char separator) {
    size_t end = 0;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != separator); ++end)
        depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

bool add_line(Collector& hosts, std::string_view line) {
    const size_t name_end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view name = line.substr(0, name_end);
    std::string_view rest = trimmed(line.substr(name_end));
    uint32_t slots = 1;
    double speed = 0;
    bool second = true;
    while (!rest.empty()) { // other words (max_slots, cpu=..., a queue) belong to other launchers
        const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
        const std::string_view word = rest.substr(0, end);
        rest = trimmed(rest.substr(end));
        if (word.starts_with("slots=") && !parse_number(word.substr(6), slots)) return false;
        if (word.starts_with("speed=") && !parse_speed(word.substr(6), speed)) return false;
        if (uint32_t number = 0; std::exchange(second, false) && parse_number(word, number)) slots = number;
    }
    return hosts.add_entry(name, slots, speed);
}

// "a[1-3]b[0,2]": every combination, in order; leading zeros are kept.
bool expand(std::string_view pattern, const std::string& before, std::vector<std::string>& out) {
    const size_t open = pattern.find('[');
    if (open == std::string_view::npos) {
        out.push_back(before + std::string(pattern));
        return out.size() <= max_hosts;
    }
    const size_t close = pattern.find(']', open);
    if (close == std::string_view::npos) return false;
    const std::string head = before + std::string(pattern.substr(0, open));
    const std::string_view tail = pattern.substr(close + 1);
    std::string_view ranges = pattern.substr(open + 1, close - open - 1);
    while (!ranges.empty()) {
        const std::string_view range = next_field(ranges, ',');
        const size_t dash = range.find('-');
        const std::string_view low = range.substr(0, dash);
        uint32_t from = 0;
        uint32_t to = 0;
        if (!parse_number(low, from)) return false;
        to = from;
        if (dash != std::string_view::npos && !parse_number(range.substr(dash + 1), to)) return false;
        if (to < from || to - from > max_hosts) return false;
        for (uint32_t i = from; i <= to; ++i) {
            std::string digits = std::to_string(i);
            if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
            if (!expand(tail, head + digits, out)) return false;
        }
    }
    return true;
}

// "2(x3),1" -> 2 2 2 1
bool expand_counts(std::string_view text, size_t hosts, std::vector<uint32_t>& out) {
    while (!text.empty()) {
        const std::string_view part = next_field(text, ',');
        const size_t open = part.find('(');
        uint32_t count = 0;
        uint32_t times = 1;
        if (!parse_number(part.substr(0, open), count)) return false;
        if (open != std::string_view::npos &&
            (part.substr(open, 2) != "(x" || part.back() != ')' ||
             !parse_number(part.substr(open + 2, part.size() - open - 3), times)))
            return false;
        if (times > hosts) return false;
        out.insert(out.end(), times, count);
    }
    return out.size() == hosts;
}

} // namespace

bool is_speed(double value) { return value >= least_speed && value <= 1 / least_speed; }

bool parse_host_option(std::string_view text, HostList& out, std::string& wrong) {
    Collector hosts(out);
    while (!text.empty()) {
        const std::string_view part = next_field(text, ',');
        if (hosts.add_entry(trimmed(part))) continue;
        wrong = part;
        return false;
    }
    return !out.empty();
}

bool parse_host_file(std::string_view text, HostList& out, std::string& wrong) {
    Collector hosts(out);
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, std::min(text.find('#'), end)));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || add_line(hosts, line)) continue;
        wrong = line;
        return false;
    }
    return !out.empty();
}

bool parse_host_pairs(std::string_view text, HostList& out, std::string& wrong) {
    Collector hosts(out);
    for (std::string_view rest = trimmed(text); !rest.empty();) {
        wrong = std::string(next_field(rest, ' '));
        rest = trimmed(rest);
        const std::string_view count = next_field(rest, ' ');
        rest = trimmed(rest);
        uint32_t slots = 0;
        if (!parse_number(count, slots) || !hosts.add(wrong, slots)) return false;
    }
    wrong.clear();
    return !out.empty();
}

bool parse_slurm(std::string_view nodes, std::string_view tasks, HostList& out, std::string& wrong) {
    Collector hosts(out);
    std::vector<std::string> names;
    std::string_view rest = nodes;
    while (!rest.empty()) {
        const std::string_view part = next_field(rest, ',');
        if (expand(part, {}, names)) continue;
        wrong = part;
        return false;
    }
    std::vector<uint32_t> counts;
    if (tasks.empty()) counts.assign(names.size(), 1);
    if (!tasks.empty() && !expand_counts(tasks, names.size(), counts)) {
        wrong = tasks;
        return false;
    }
    for (size_t i = 0; i < names.size(); ++i)
        if (!hosts.add(names[i], counts[i])) {
            wrong = names[i];
            return false;
        }
    return !out.empty();
}

} // namespace zipmpi::launch

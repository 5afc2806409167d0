// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"

#include "base/edit_distance.hpp"
#include "base/settings_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace zipmpi {
namespace {

std::vector<ParamBase*>& registry() {
    static std::vector<ParamBase*> list;
    return list;
}

std::vector<std::string>& internal_variables() {
    // The last two are read by the compiler wrappers.
    static std::vector<std::string> list{"ZIPMPI_CONFIG",        "ZIPMPI_CC",
                                         "ZIPMPI_CXX",           "ZIPMPI_FC",
                                         "ZIPMPI_FORTRAN_CACHE", "ZIPMPI_FORTRAN_MODULES"};
    return list;
}

ParamError unknown_name(std::string origin, std::string_view name, bool as_env) {
    ParamError f{std::move(origin), "no parameter has this name",
                 "`zipmpi info --params` lists all parameters"};
    size_t best = name.size() / 3 + 2;
    for (const ParamBase* p : all_params()) {
        const std::string candidate = as_env ? p->env_name() : p->name();
        const size_t d = edit_distance(name, candidate);
        if (d < best) {
            best = d;
            f.fix = "did you mean " + candidate + "? `zipmpi info --params` lists all parameters";
        }
    }
    return f;
}

ParamBase* find(std::string_view name) {
    for (ParamBase* p : registry())
        if (name == p->name()) return p;
    return nullptr;
}

void apply(ParamBase& p, std::string_view value, Origin origin, const std::string& origin_text,
           std::vector<ParamError>& faults) {
    std::string why = p.set(value, origin);
    if (!why.empty())
        faults.push_back({origin_text, "\"" + std::string(value) + "\": " + why,
                          "the default " + p.default_text() + " is used; " + p.help()});
}

void load_file(const char* path, std::vector<ParamError>& faults) {
    std::vector<Setting> settings;
    if (!read_settings(path, settings)) {
        faults.push_back({std::string("ZIPMPI_CONFIG=") + path,
                          std::string("the file cannot be read: ") + std::strerror(errno),
                          "correct the path or unset ZIPMPI_CONFIG"});
        return;
    }
    for (const Setting& s : settings) {
        const std::string where = std::string(path) + " line " + std::to_string(s.line);
        if (s.name.empty())
            faults.push_back(
                {where, "not of the form name = value", "write one parameter per line, # starts a comment"});
        else if (ParamBase* p = find(s.name))
            apply(*p, s.value, Origin::file, where, faults);
        else
            faults.push_back(unknown_name(where + ", parameter " + s.name, s.name, false));
    }
}

} // namespace

ParamBase::ParamBase(const char* name, Unit unit, Level level, Scope scope, const char* help,
                     Mutability changes)
    : name_(name)
    , help_(help)
    , unit_(unit)
    , level_(level)
    , scope_(scope)
    , mutability_(changes) {
    registry().push_back(this);
}

std::string ParamBase::env_name() const {
    std::string s = "ZIPMPI_";
    for (const char* c = name_; *c != '\0'; ++c)
        s += *c == '.' || *c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
    return s;
}

static std::string number_text(int64_t v, Unit unit) {
    if (unit == Unit::bytes && v != 0) {
        if (v % GiB == 0) return std::to_string(v / GiB) + "g";
        if (v % MiB == 0) return std::to_string(v / MiB) + "m";
        if (v % KiB == 0) return std::to_string(v / KiB) + "k";
    }
    return std::to_string(v);
}

std::string Param<int64_t>::value_text() const { return number_text(value_, unit()); }
std::string Param<int64_t>::default_text() const { return number_text(default_, unit()); }

std::string Param<int64_t>::parse(std::string_view text) {
    int64_t v = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
    std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (ec != std::errc() || end == text.data()) return "not a number";
    if (unit() == Unit::bytes && rest.size() == 1) {
        const int shift = rest == "k" || rest == "K"   ? 10
                          : rest == "m" || rest == "M" ? 20
                          : rest == "g" || rest == "G" ? 30
                                                       : 0;
        if (shift == 0 || v > (std::numeric_limits<int64_t>::max() >> shift)) return "not a size";
        v <<= shift;
        rest = {};
    }
    if (!rest.empty())
        return unit() == Unit::bytes ? "not a size such as 4096, 64k or 2m" : "not a whole number";
    if (v < range_.low || v > range_.high)
        return "not between " + number_text(range_.low, unit()) + " and " + number_text(range_.high, unit());
    value_ = v;
    return {};
}

std::string Param<bool>::parse(std::string_view text) {
    if (text == "1" || text == "y" || text == "yes" || text == "on" || text == "true")
        value_ = true;
    else if (text == "0" || text == "n" || text == "no" || text == "off" || text == "false")
        value_ = false;
    else
        return "neither yes nor no";
    return {};
}

std::string Param<std::string>::parse(std::string_view text) {
    if (choices_ != nullptr) {
        const std::string delimited = "|" + std::string(choices_) + "|";
        if (text.empty() || delimited.find("|" + std::string(text) + "|") == std::string::npos)
            return std::string("not one of ") + choices_;
    }
    value_ = text;
    return {};
}

std::vector<ParamBase*> all_params() {
    std::vector<ParamBase*> list = registry();
    std::sort(list.begin(), list.end(),
              [](const ParamBase* a, const ParamBase* b) { return std::strcmp(a->name(), b->name()) < 0; });
    return list;
}

void declare_internal_variable(const char* name) { internal_variables().emplace_back(name); }

std::vector<ParamError> load_params(const char* const* environ_like) {
    std::vector<ParamError> faults;
    constexpr std::string_view prefix = "ZIPMPI_";
    for (const char* const* e = environ_like; *e != nullptr; ++e)
        if (std::string_view(*e).starts_with("ZIPMPI_CONFIG="))
            load_file(*e + std::strlen("ZIPMPI_CONFIG="), faults);
    for (const char* const* e = environ_like; *e != nullptr; ++e) {
        const std::string_view entry = *e;
        if (!entry.starts_with(prefix)) continue;
        const size_t eq = entry.find('=');
        if (eq == std::string_view::npos) continue;
        const std::string name(entry.substr(0, eq));
        ParamBase* match = nullptr;
        for (ParamBase* p : registry())
            if (p->env_name() == name) match = p;
        if (match != nullptr)
            apply(*match, entry.substr(eq + 1), Origin::environment, "environment variable " + name, faults);
        else if (std::find(internal_variables().begin(), internal_variables().end(), name) ==
                 internal_variables().end())
            faults.push_back(unknown_name("environment variable " + name, name, true));
    }
    return faults;
}

} // namespace zipmpi

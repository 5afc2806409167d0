// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Knobs as control variables: numbers as MPI_COUNT, yes and no as MPI_INT, words as text.
#include "base/param.hpp"
#include "core/tool/registry.hpp"
#include "core/tool/tool.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::core::tool {

struct Cvar {
    ParamBase* knob;
};

namespace {

constexpr size_t text_room = 1024; // of a word with its final zero

Registry<Cvar>& handles() {
    static auto* const all = new Registry<Cvar>;
    return *all;
}

// In the order in which they came to be known.
std::vector<ParamBase*>& knobs() {
    static auto* const known = new std::vector<ParamBase*>;
    const std::vector<ParamBase*> now = all_params();
    if (now.size() != known->size())
        for (ParamBase* p : now)
            if (std::find(known->begin(), known->end(), p) == known->end()) known->push_back(p);
    return *known;
}

Verbosity verbosity_of(Level level) {
    switch (level) {
    case Level::user:
        return Verbosity::user;
    case Level::tuner:
        return Verbosity::tuner;
    case Level::developer:
        break;
    }
    return Verbosity::developer;
}

bool is_text(const ParamBase& knob) { return knob.unit() == Unit::word; }

ToolErr no_such_handle(const void* handle) {
    return refuse(ToolErr::invalid_handle, "%p is no handle of a control variable", handle);
}

} // namespace

int cvars() { return static_cast<int>(knobs().size()); }

bool cvar_info(int index, Variable& variable, CvarScope& scope) {
    if (index < 0 || index >= cvars()) return false;
    const ParamBase& knob = *knobs()[static_cast<size_t>(index)];
    variable = {knob.name(), knob.help(), verbosity_of(knob.level()), TypeId::COUNT, nullptr, Binding::none};
    if (is_text(knob)) variable.type = TypeId::CHAR;
    if (knob.unit() == Unit::boolean) {
        variable.type = TypeId::INT;
        variable.enumeration = &yes_or_no();
    }
    const CvarScope changes = knob.scope() == Scope::local ? CvarScope::local : CvarScope::all_equal;
    scope = knob.changeable() ? changes : CvarScope::read_only;
    return true;
}

int find_cvar(std::string_view name) {
    const auto& all = knobs();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ParamBase* p) { return name == p->name(); });
    return found != all.end() ? static_cast<int>(found - all.begin()) : -1;
}

ToolErr open_cvar(int index, Cvar*& handle, int& count) {
    if (index < 0 || index >= cvars())
        return refuse(ToolErr::invalid_index, "there is no control variable %d, there are %d", index,
                      cvars());
    ParamBase* const knob = knobs()[static_cast<size_t>(index)];
    handle = handles().add(std::make_unique<Cvar>(Cvar{knob}));
    count = is_text(*knob) ? static_cast<int>(text_room) : 1;
    return ToolErr::success;
}

ToolErr close_cvar(Cvar* handle) {
    return handles().remove(handle) ? ToolErr::success : no_such_handle(handle);
}

void close_all_cvars() { handles().clear(); }

ToolErr read_cvar(Cvar* handle, void* buffer) {
    if (!handles().has(handle)) return no_such_handle(handle);
    const ParamBase& knob = *handle->knob;
    if (is_text(knob)) {
        const std::string value = knob.value_text();
        const size_t n = std::min(value.size(), text_room - 1);
        std::memcpy(buffer, value.data(), n);
        static_cast<char*>(buffer)[n] = '\0';
    } else if (knob.unit() == Unit::boolean) {
        const int value = static_cast<const Param<bool>&>(knob) ? 1 : 0;
        std::memcpy(buffer, &value, sizeof value);
    } else {
        const int64_t value = static_cast<const Param<int64_t>&>(knob).get();
        std::memcpy(buffer, &value, sizeof value);
    }
    return ToolErr::success;
}

ToolErr write_cvar(Cvar* handle, const void* buffer) {
    if (!handles().has(handle)) return no_such_handle(handle);
    ParamBase& knob = *handle->knob;
    if (!knob.changeable())
        return refuse(ToolErr::cvar_set_never, "%s is read once: set %s in the environment", knob.name(),
                      knob.env_name().c_str());
    const auto* const text = static_cast<const char*>(buffer);
    const size_t length = strnlen(text, text_room);
    const std::string why =
        length < text_room ? knob.set(std::string_view(text, length), Origin::tool) : "the text does not end";
    return why.empty() ? ToolErr::success : refuse(ToolErr::invalid, "%s: %s", knob.name(), why.c_str());
}

} // namespace zipmpi::core::tool

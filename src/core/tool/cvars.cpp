// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters as control variables: numbers as MPI_COUNT, yes and no as MPI_INT, strings as MPI_CHAR.
#include "base/param.hpp"
#include "core/api/tool.hpp"
#include "core/tool/registry.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::core::tool {

struct Cvar {
    ParamBase* param;
};

namespace {

constexpr size_t text_capacity = 1024; // of a string, including the final zero

Registry<Cvar>& handles() {
    static auto* const all = new Registry<Cvar>;
    return *all;
}

// In the order of registration.
std::vector<ParamBase*>& cvar_params() {
    static auto* const params = new std::vector<ParamBase*>;
    const std::vector<ParamBase*> now = all_params();
    if (now.size() != params->size())
        for (ParamBase* p : now)
            if (std::find(params->begin(), params->end(), p) == params->end()) params->push_back(p);
    return *params;
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

bool is_text(const ParamBase& param) { return param.unit() == Unit::word; }

ToolErr no_such_handle(const void* handle) {
    return set_error(ToolErr::invalid_handle, "%p is not a valid control variable handle", handle);
}

} // namespace

int cvars() { return static_cast<int>(cvar_params().size()); }

bool cvar_info(int index, Variable& variable, CvarScope& scope) {
    if (index < 0 || index >= cvars()) return false;
    const ParamBase& param = *cvar_params()[static_cast<size_t>(index)];
    variable = {param.name(),  param.help(), verbosity_of(param.level()),
                TypeId::COUNT, nullptr,      Binding::none};
    if (is_text(param)) variable.type = TypeId::CHAR;
    if (param.unit() == Unit::boolean) {
        variable.type = TypeId::INT;
        variable.enumeration = &boolean_enumeration();
    }
    const CvarScope changes = param.scope() == Scope::local ? CvarScope::local : CvarScope::all_equal;
    scope = param.is_mutable() ? changes : CvarScope::read_only;
    return true;
}

int find_cvar(std::string_view name) {
    const auto& all = cvar_params();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ParamBase* p) { return name == p->name(); });
    return found != all.end() ? static_cast<int>(found - all.begin()) : -1;
}

ToolErr open_cvar(int index, Cvar*& handle, int& count) {
    if (index < 0 || index >= cvars())
        return set_error(ToolErr::invalid_index, "control variable index %d is out of range: there are %d",
                         index, cvars());
    ParamBase* const param = cvar_params()[static_cast<size_t>(index)];
    handle = handles().add(std::make_unique<Cvar>(Cvar{param}));
    count = is_text(*param) ? static_cast<int>(text_capacity) : 1;
    return ToolErr::success;
}

ToolErr close_cvar(Cvar* handle) {
    return handles().remove(handle) ? ToolErr::success : no_such_handle(handle);
}

void close_all_cvars() { handles().clear(); }

ToolErr read_cvar(Cvar* handle, void* buffer) {
    if (!handles().has(handle)) return no_such_handle(handle);
    const ParamBase& param = *handle->param;
    if (is_text(param)) {
        const std::string value = param.value_text();
        const size_t n = std::min(value.size(), text_capacity - 1);
        std::memcpy(buffer, value.data(), n);
        static_cast<char*>(buffer)[n] = '\0';
    } else if (param.unit() == Unit::boolean) {
        const int value = static_cast<const Param<bool>&>(param) ? 1 : 0;
        std::memcpy(buffer, &value, sizeof value);
    } else {
        const int64_t value = static_cast<const Param<int64_t>&>(param).get();
        std::memcpy(buffer, &value, sizeof value);
    }
    return ToolErr::success;
}

ToolErr write_cvar(Cvar* handle, const void* buffer) {
    if (!handles().has(handle)) return no_such_handle(handle);
    ParamBase& param = *handle->param;
    if (!param.is_mutable())
        return set_error(ToolErr::cvar_set_never, "%s is read only at startup: set %s in the environment",
                         param.name(), param.env_name().c_str());
    const auto* const text = static_cast<const char*>(buffer);
    const size_t length = strnlen(text, text_capacity);
    const std::string why = length < text_capacity ? param.set(std::string_view(text, length), Origin::tool)
                                                   : "the string is not terminated";
    return why.empty() ? ToolErr::success : set_error(ToolErr::invalid, "%s: %s", param.name(), why.c_str());
}

} // namespace zipmpi::core::tool

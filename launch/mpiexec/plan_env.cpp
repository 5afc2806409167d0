// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/plan_env.hpp"

#include "boot/timeouts.hpp"
#include "launch/mpiexec/forwarded_environment.hpp"
#include "launch/protocol/rank_environment.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

using Strings = std::vector<std::string>;

bool is_listed(const Strings& list, std::string_view variable) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& name) { return matches_name(name, variable); });
}

bool inherits_everything(const Inheritance& which) {
    return which.kind == Inheritance::Kind::all || which.kind == Inheritance::Kind::by_host;
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// Removes entries that are neither forwarded nor chosen by the user. Returns their names.
Strings withhold(Strings& env, const Strings& chosen) {
    Strings names;
    std::erase_if(env, [&](const std::string& entry) {
        const std::string_view name = name_of(entry);
        if (is_forwarded(name, boot::forwarded_variables()) || is_listed(chosen, name)) return false;
        names.emplace_back(name);
        return true;
    });
    return names;
}

Strings filter_inherited(const Strings& all, const Inheritance& which, const Strings& exported) {
    Strings kept;
    for (const std::string& entry : all) {
        const std::string_view name = name_of(entry);
        const bool listed = is_listed(which.names, name);
        const bool wanted =
            inherits_everything(which) || (which.kind == Inheritance::Kind::only ? listed : !listed);
        if (wanted || is_listed(exported, name)) kept.push_back(entry);
    }
    return kept;
}

Strings concatenate(Strings a, const Strings& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

void plan_environment(const Options& options, const char* const* environ_like, StartRequest& request) {
    const Strings all = remove_launcher_variables(environ_like);
    const bool differ = std::any_of(options.apps.begin(), options.apps.end(), [&](const AppOptions& app) {
        return app.inherit.has_value() || (!app.exported.empty() && !inherits_everything(options.inherit));
    });
    if (!differ) request.base_env = filter_inherited(all, options.inherit, options.exported);
    for (size_t i = 0; i < options.apps.size(); ++i) {
        const AppOptions& app = options.apps[i];
        Strings own = concatenate(options.env, app.context.env);
        if (differ)
            own = concatenate(filter_inherited(all, app.inherit.value_or(options.inherit),
                                               concatenate(options.exported, app.exported)),
                              own);
        request.apps[i].env = std::move(own);
    }
}

void withhold_environment(const Options& options, StartRequest& request, Remarks& remarks) {
    Strings chosen = options.exported;
    for (const std::string& entry : options.env) chosen.emplace_back(name_of(entry));
    for (const AppOptions& app : options.apps) {
        chosen.insert(chosen.end(), app.exported.begin(), app.exported.end());
        for (const std::string& entry : app.context.env) chosen.emplace_back(name_of(entry));
    }
    const auto by_host = [](const Inheritance& which) { return which.kind == Inheritance::Kind::by_host; };
    Strings names;
    if (by_host(options.inherit)) names = withhold(request.base_env, chosen);
    for (size_t i = 0; i < options.apps.size(); ++i)
        if (by_host(options.apps[i].inherit.value_or(options.inherit)))
            for (std::string& name : withhold(request.apps[i].env, chosen))
                if (!is_listed(names, name)) names.push_back(std::move(name));
    if (names.empty()) return;
    std::string text = "variables not sent to other hosts:";
    for (const std::string& name : names) text += ' ' + name;
    remarks.notes.push_back(text + "; -x NAME sends one, --genvall all");
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/plan_env.hpp"

#include "launch/protocol/rank_environment.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

using Strings = std::vector<std::string>;

// '*' at the end of a name matches any suffix.
bool is_listed(const Strings& list, std::string_view variable) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& name) {
        return name.ends_with('*') ? variable.starts_with(std::string_view(name).substr(0, name.size() - 1))
                                   : variable == name;
    });
}

Strings filter_inherited(const Strings& all, const Inheritance& which, const Strings& exported) {
    Strings kept;
    for (const std::string& entry : all) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        const bool listed = is_listed(which.names, name);
        const bool wanted = which.kind == Inheritance::Kind::all ||
                            (which.kind == Inheritance::Kind::only ? listed : !listed);
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
        return app.inherit.has_value() ||
               (!app.exported.empty() && options.inherit.kind != Inheritance::Kind::all);
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

} // namespace zipmpi::launch

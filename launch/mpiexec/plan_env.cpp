// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/plan_env.hpp"

#include "launch/link/environment.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

using Strings = std::vector<std::string>;

// '*' at the end of a name stands for all that begin so.
bool names(const Strings& list, std::string_view variable) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& name) {
        return name.ends_with('*') ? variable.starts_with(std::string_view(name).substr(0, name.size() - 1))
                                   : variable == name;
    });
}

Strings inherited(const Strings& all, const Inheritance& which, const Strings& pass_on) {
    Strings kept;
    for (const std::string& entry : all) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        const bool listed = names(which.names, name);
        const bool wanted = which.kind == Inheritance::Kind::all ||
                            (which.kind == Inheritance::Kind::only ? listed : !listed);
        if (wanted || names(pass_on, name)) kept.push_back(entry);
    }
    return kept;
}

Strings joined(Strings a, const Strings& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

void plan_environment(const Options& options, const char* const* environ_like, StartRequest& request) {
    const Strings all = without_launchers(environ_like);
    const bool differ = std::any_of(options.apps.begin(), options.apps.end(), [&](const AppOptions& app) {
        return app.inherit.has_value() ||
               (!app.pass_on.empty() && options.inherit.kind != Inheritance::Kind::all);
    });
    if (!differ) request.base_env = inherited(all, options.inherit, options.pass_on);
    for (size_t i = 0; i < options.apps.size(); ++i) {
        const AppOptions& app = options.apps[i];
        Strings own = joined(options.env, app.context.env);
        if (differ)
            own = joined(
                inherited(all, app.inherit.value_or(options.inherit), joined(options.pass_on, app.pass_on)),
                own);
        request.apps[i].env = std::move(own);
    }
}

} // namespace zipmpi::launch

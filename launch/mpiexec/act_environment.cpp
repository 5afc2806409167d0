// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Options about the variables and directories of ranks.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch::act {
namespace {

// "NAME=VALUE", or two words.
bool add_setting(const Use& use, std::vector<std::string>& env, Diagnostic& why) {
    const std::string entry = use.words.size() == 2 ? use.words[0] + "=" + use.words[1] : use.words[0];
    if (entry.find('=') == std::string::npos || entry[0] == '=')
        return bad_value(use, "is not NAME=VALUE",
                         "write NAME=VALUE; -x NAME passes on a variable of the environment", why);
    env.push_back(entry);
    return true;
}

// "NAME=VALUE", or "NAME" of a variable to inherit.
bool add_export(const Use& use, const std::string& entry, std::vector<std::string>& env,
                std::vector<std::string>& exported, Diagnostic& why) {
    if (entry.empty() || entry[0] == '=')
        return bad_value(use, "is not NAME=VALUE or NAME", "write for example: -x OMP_NUM_THREADS=4", why);
    (entry.find('=') == std::string::npos ? exported : env).push_back(entry);
    return true;
}

Inheritance inherit_only(const Use& use) { return {Inheritance::Kind::only, split(use.value(), ',')}; }
Inheritance inherit_except(const Use& use) { return {Inheritance::Kind::except, split(use.value(), ',')}; }

bool read_directory(const Use& use, std::string& out, Diagnostic& why) {
    out = use.value();
    return !out.empty() || bad_value(use, "is not a directory", "name a directory", why);
}

} // namespace

bool env(const Use& use, Draft& draft, Diagnostic& why) {
    return add_setting(use, draft.app.context.env, why);
}
bool genv(const Use& use, Draft& draft, Diagnostic& why) { return add_setting(use, draft.job.env, why); }

bool export_variable(const Use& use, Draft& draft, Diagnostic& why) {
    for (const std::string& entry :
         split(use.words[0], use.words[0].find('=') == std::string::npos ? ',' : '\0'))
        if (!add_export(use, entry, draft.app.context.env, draft.app.exported, why)) return false;
    return !use.words[0].empty() || add_export(use, "", draft.job.env, draft.job.exported, why);
}

bool env_list(const Use& use, Draft& draft, Diagnostic& why) {
    for (const std::string& entry : split(use.words[0], ';'))
        if (!add_export(use, entry, draft.job.env, draft.job.exported, why)) return false;
    return true;
}

bool inherit_all(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.inherit = {Inheritance::Kind::all, {}};
    return true;
}

bool inherit(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.inherit = inherit_only(use);
    return true;
}

bool exclude(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.inherit = inherit_except(use);
    return true;
}

bool app_inherit_all(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.app.inherit = Inheritance{Inheritance::Kind::all, {}};
    return true;
}

bool app_inherit(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.app.inherit = inherit_only(use);
    return true;
}

bool app_exclude(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.app.inherit = inherit_except(use);
    return true;
}

bool directory(const Use& use, Draft& draft, Diagnostic& why) {
    return read_directory(use, draft.app.context.directory, why);
}

bool job_directory(const Use& use, Draft& draft, Diagnostic& why) {
    return read_directory(use, draft.job.directory, why);
}

bool path(const Use& use, Draft& draft, Diagnostic& why) {
    return read_directory(use, draft.app.search, why);
}
bool job_path(const Use& use, Draft& draft, Diagnostic& why) {
    return read_directory(use, draft.job.search, why);
}

} // namespace zipmpi::launch::act

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/legacy_environment.hpp"

#include "launch/mpiexec/actions.hpp"

#include <string_view>

namespace zipmpi::launch {
namespace {

class Environment {
  public:
    Environment(const char* const* environ_like, Options& job)
        : environ_(environ_like)
        , draft_{job, none_} {}

    [[nodiscard]] std::string_view value(std::string_view name) const {
        for (const char* const* e = environ_; *e != nullptr; ++e) {
            const std::string_view entry(*e);
            if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
                return entry.substr(name.size() + 1);
        }
        return {};
    }

    bool apply(const AliasRow& alias, const std::string& name, Diagnostic& why) {
        const std::string text(value(name));
        Use like;
        like.written = name;
        like.where = "environment of mpiexec";
        return text.empty() || apply_alias(alias, text, like, draft_, why);
    }

  private:
    const char* const* environ_;
    AppOptions none_; // unused: no variable applies to one program only
    Draft draft_;
};

} // namespace

bool apply_environment(const char* const* environ_like, Options& out, Diagnostic& why) {
    Environment environment(environ_like, out);
    const bool in_a_rank = !environment.value("OMPI_COMM_WORLD_RANK").empty();
    for (const AliasRow& alias : alias_rows()) {
        if (alias.kind == AliasKind::variable && !environment.apply(alias, alias.name, why)) return false;
        if (alias.kind != AliasKind::parameter || in_a_rank) continue;
        for (const char* prefix : {"OMPI_MCA_", "PRTE_MCA_"})
            if (!environment.apply(alias, prefix + std::string(alias.name), why)) return false;
    }
    return true;
}

} // namespace zipmpi::launch

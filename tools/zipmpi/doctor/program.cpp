// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi doctor PROGRAM`: which MPI library the ranks of a program would load under mpiexec, and why.
#include "doctor/doctor.hpp"

#include "launch/mpiexec/executable.hpp"
#include "launch/program/binding_plan.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

namespace fs = std::filesystem;
using launch::BindingPlan;
using launch::FoundBy;

std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr ? text : "";
}

const char* rule_of(FoundBy by) {
    switch (by) {
    case FoundBy::rpath:
        return "DT_RPATH";
    case FoundBy::library_path:
        return "LD_LIBRARY_PATH";
    case FoundBy::runpath:
        return "DT_RUNPATH";
    case FoundBy::cache:
        return "/etc/ld.so.cache";
    case FoundBy::system:
        return "LD_PRELOAD or a system folder";
    case FoundBy::nothing:
        break;
    }
    return "not found";
}

const char* text_of(BindingPlan::Outcome outcome) {
    switch (outcome) {
    case BindingPlan::Outcome::standard:
        return "ZipMPI, with which it was linked";
    case BindingPlan::Outcome::binding:
        return "ZipMPI";
    case BindingPlan::Outcome::possible:
        return "ZipMPI, if it loads or starts something that needs Open MPI or MPICH";
    case BindingPlan::Outcome::own:
        break;
    }
    return "its own library";
}

Json facts_of(const std::string& file, const BindingPlan& plan) {
    Json libraries = Json::array();
    for (const launch::MpiLibrary& l : plan.libraries.found)
        libraries.push_back({{"name", l.name},
                             {"abi", launch::name_of(l.kind.abi)},
                             {"needed_by", l.needed_by},
                             {"file", l.path},
                             {"found_by", rule_of(l.by)}});
    Json messages = Json::array();
    for (const Diagnostic& w : plan.warnings)
        messages.push_back({{"what", w.what}, {"why", w.why}, {"fix", w.fix}});
    const Diagnostic& no = plan.refusal;
    if (!no.what.empty()) messages.push_back({{"what", no.what}, {"why", no.why}, {"fix", no.fix}});
    return {{"file", file},
            {"starts", no.what.empty()},
            {"interpreter", plan.interpreter},
            {"uses", text_of(plan.outcome)},
            {"note", plan.note},
            {"libraries", libraries},
            {"library_path", plan.variables.library_path},
            {"preload", plan.variables.preload},
            {"messages", messages}};
}

std::string field(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

std::string text_of(const Json& f, const char* kind) {
    std::string out = fmt::format("{} {}\n", kind, field(f, "file"));
    const auto line = [&](const char* name, const std::string& value) {
        if (!value.empty()) out += fmt::format("  {:<14}{}\n", name, value);
    };
    line("interpreter", field(f, "interpreter"));
    line("uses", f.at("starts").get<bool>() ? field(f, "uses") : "nothing: mpiexec refuses to start it");
    for (const Json& l : f.at("libraries")) {
        const std::string file = field(l, "file").empty() ? "" : field(l, "file") + ", by ";
        line("needs",
             fmt::format("{} ({}), needed by {}", field(l, "name"), field(l, "abi"), field(l, "needed_by")));
        line("  loads", file + field(l, "found_by"));
    }
    line("why", field(f, "note"));
    line("LD_LIBRARY_PATH", " " + field(f, "library_path"));
    if (!field(f, "preload").empty()) line("LD_PRELOAD", field(f, "preload"));
    for (const Json& m : f.at("messages"))
        out += fmt::format("\n  {}\n    why: {}\n    fix: {}\n", field(m, "what"), field(m, "why"),
                           field(m, "fix"));
    return out;
}

// Folders in which Python would look for packages, without starting it.
std::vector<fs::path> package_folders(const fs::path& python) {
    std::vector<fs::path> folders;
    for (const std::string& f : split_list(variable("PYTHONPATH"), ':')) folders.emplace_back(f);
    for (const fs::path& prefix :
         {fs::path(variable("VIRTUAL_ENV")), python.parent_path().parent_path(),
          fs::path(variable("HOME")) / ".local", fs::path("/usr/local"), fs::path("/usr")}) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(prefix / "lib", none))
            if (entry.path().filename().string().starts_with("python"))
                for (const char* kind : {"site-packages", "dist-packages"})
                    folders.push_back(entry.path() / kind);
    }
    return folders;
}

// The extension module of mpi4py decides which MPI a Python program needs.
std::string find_mpi4py(const fs::path& python) {
    for (const fs::path& folder : package_folders(python)) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder / "mpi4py", none)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("MPI.") && name.ends_with(".so")) return entry.path();
        }
    }
    return {};
}

} // namespace

int run_program_doctor(const DoctorOptions& options) {
    std::string path;
    Diagnostic why;
    int code = 0;
    if (!launch::find_program(options.program, {}, path, why, code)) {
        report(why, "zipmpi");
        return code;
    }
    const launch::BindingFolders bindings = launch::installed_bindings();
    const launch::LoaderVariables now{variable("LD_LIBRARY_PATH"), variable("LD_PRELOAD"), variable("PATH"),
                                      variable("R_LD_LIBRARY_PATH")};
    const BindingPlan plan = plan_binding(path, launch::MpiMode::automatic, bindings, now);
    Json all{{"program", facts_of(path, plan)}};
    bool good = plan.warnings.empty() && plan.refusal.what.empty();
    const std::string python = plan.interpreter.empty() ? path : plan.interpreter;
    if (fs::path(python).filename().string().starts_with("python"))
        if (const std::string module = find_mpi4py(python); !module.empty()) {
            const BindingPlan of_module = plan_binding(module, launch::MpiMode::automatic, bindings, now);
            all["mpi4py"] = facts_of(module, of_module);
            good = good && of_module.warnings.empty() && of_module.refusal.what.empty();
        }
    if (options.json) {
        std::puts(all.dump(2).c_str());
        return good ? 0 : 1;
    }
    std::fputs(text_of(all.at("program"), "program").c_str(), stdout);
    if (all.contains("mpi4py")) std::fputs(text_of(all.at("mpi4py"), "module").c_str(), stdout);
    if (bindings.openmpi.empty() && bindings.mpich.empty())
        std::puts("this installation has no libraries for programs of Open MPI and MPICH");
    return good ? 0 : 1;
}

} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program/binding_plan.hpp"

#include "launch/program/script.hpp"

#include <algorithm>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

using Outcome = BindingPlan::Outcome;
using Part = MpiSoname::Part;

constexpr int max_interpreters = 4; // of scripts that are interpreters of scripts; limit of the kernel

// Moves or adds an entry to the front of a list with ':'.
void put_first(const std::string& entry, std::string& list) {
    if (entry.empty()) return;
    const std::string all = ":" + list + ":";
    if (const size_t at = all.find(":" + entry + ":"); at != std::string::npos) {
        list.erase(at, entry.size() + 1);
        if (list.ends_with(':') && at >= list.size()) list.pop_back();
    }
    list = list.empty() ? entry : entry + ":" + list;
}

// Adds an entry to the end unless the list has it.
void put_last(const std::string& entry, std::string& list) {
    if ((":" + list + ":").find(":" + entry + ":") != std::string::npos) return;
    list += (list.empty() ? "" : ":") + entry;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The linker ignores LD_LIBRARY_PATH for programs that get rights of their file (AT_SECURE).
bool is_privileged(const std::string& path) {
    struct stat st {};
    if (stat(path.c_str(), &st) != 0) return false;
    const bool user = (st.st_mode & S_ISUID) != 0 && st.st_uid != getuid();
    const bool group = (st.st_mode & S_ISGID) != 0 && st.st_gid != getgid();
    return user || group || (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

class Planner {
  public:
    Planner(std::string program, MpiMode mode, const BindingFolders& bindings, const LoaderVariables& now)
        : program_(std::move(program))
        , mode_(mode)
        , bindings_(bindings) {
        plan_.variables = now;
    }

    BindingPlan run() {
        std::string file = program_;
        if (resolve_script(file)) plan_file(file);
        return std::move(plan_);
    }

  private:
    bool refuse(Diagnostic why, int code) {
        plan_.refusal = std::move(why);
        plan_.refusal_code = code;
        return false;
    }

    // Follows "#!" lines to the program that runs.
    bool resolve_script(std::string& file) {
        for (int depth = 0; depth < max_interpreters; ++depth) {
            if (r_home_.empty()) r_home_ = home_of_r(file);
            const Interpreter i = read_interpreter(file, plan_.variables.path);
            if (i.kind == Interpreter::Kind::none) return true;
            if (i.kind == Interpreter::Kind::missing) return refuse_script(file, i.name);
            plan_.interpreter = file = i.path;
        }
        return true;
    }

    bool refuse_script(const std::string& file, std::string name) {
        const bool has_return = name.ends_with('\r');
        if (has_return) name.pop_back();
        return refuse({"the script " + program_ + " cannot be started", "first line of " + file,
                       has_return ? "the interpreter " + name + " is followed by a carriage return"
                                  : "the interpreter " + (name.empty() ? "" : name + " ") + "does not exist",
                       has_return ? "save the file with line ends of Unix"
                                  : "install the interpreter, or change the first line"},
                      127);
    }

    void plan_file(const std::string& file) {
        const ElfFile elf = read_elf(file);
        switch (elf.kind) {
        case ElfFile::Kind::damaged:
            refuse({"the program " + program_ + " cannot be started", file,
                    "the file is damaged: " + elf.problem, "build or copy the file again"},
                   126);
            return;
        case ElfFile::Kind::other_machine:
            plan_.outcome = Outcome::own;
            plan_.warnings.push_back({"the program may not run on this host", file, "it is " + elf.problem,
                                      "build it for this machine"});
            return;
        case ElfFile::Kind::static_program:
            return plan_static(file);
        case ElfFile::Kind::not_elf: // run by a shell
            return plan_unknown(file);
        case ElfFile::Kind::dynamic:
            break;
        }
        if (!elf.interpreter.empty() && !exists(elf.interpreter))
            refuse({"the program " + program_ + " cannot be started", file,
                    "its dynamic linker " + elf.interpreter + " does not exist on this host",
                    "install the C library that it was built for, or build it on this host"},
                   127);
        else
            plan_dynamic(file);
    }

    void plan_static(const std::string& file) {
        plan_.outcome = Outcome::own;
        plan_.note = file + " is statically linked; a library cannot be replaced in it";
        if (file_contains(file, {"ZIPMPI_NODE_FD"}) || mode_ == MpiMode::own) return;
        if (file_contains(file, {"ompi_mpi_init", "MPIR_Process", "MPICH Version:"}))
            plan_.warnings.push_back({"the program uses the MPI that is linked into it, not ZipMPI", file,
                                      "it is statically linked, so its MPI library cannot be replaced",
                                      "link it dynamically; --mpi own leaves out this message"});
    }

    void plan_unknown(const std::string& file) {
        plan_.outcome = Outcome::possible;
        if (mode_ == MpiMode::own) return;
        put_bindings_first();
        if (!r_home_.empty()) put_first_in_r();
        if (!bindings_.openmpi.empty() || !bindings_.mpich.empty())
            plan_.note =
                file + " has no MPI among its libraries; for what it loads or starts, ZipMPI's bindings for "
                       "Open MPI and MPICH are first in LD_LIBRARY_PATH";
    }

    // R has a list of its own before LD_LIBRARY_PATH; unless set, the folder of R is the first.
    void put_first_in_r() {
        std::string& list = plan_.variables.r_library_path;
        if (list.empty()) list = r_home_ + "/lib";
        put_first(bindings_.mpich, list);
        put_first(bindings_.openmpi, list);
    }

    void put_bindings_first() {
        put_first(bindings_.mpich, plan_.variables.library_path);
        put_first(bindings_.openmpi, plan_.variables.library_path);
    }

    [[nodiscard]] const std::string& binding_for(MpiAbi abi) const {
        static const std::string none;
        return abi == MpiAbi::openmpi ? bindings_.openmpi : abi == MpiAbi::mpich ? bindings_.mpich : none;
    }

    [[nodiscard]] bool is_binding(const MpiLibrary& l) const {
        const std::string& folder = binding_for(l.kind.abi);
        return !folder.empty() && l.path.starts_with(folder + "/");
    }

    MpiLibraries look_up(const std::string& file) const {
        LibrarySearch search(plan_.variables.library_path);
        return find_mpi_libraries(file, plan_.variables.preload, search);
    }

    void plan_dynamic(const std::string& file) {
        const LoaderVariables before = plan_.variables;
        if (mode_ != MpiMode::own) put_bindings_first();
        plan_.libraries = look_up(file);
        const bool openmpi = plan_.libraries.has(MpiAbi::openmpi);
        const bool mpich = plan_.libraries.has(MpiAbi::mpich);
        if (mode_ != MpiMode::own && refuse_mix()) return;
        if (!openmpi && !mpich) {
            if (mode_ == MpiMode::automatic && plan_.libraries.has(MpiAbi::standard))
                plan_.variables = before;
            if (!plan_.libraries.has(MpiAbi::standard)) return plan_unknown(file);
            plan_.outcome = Outcome::standard;
            plan_.note = file + " is linked with libmpi_abi.so.1, ZipMPI's own library";
            return;
        }
        const MpiAbi abi = openmpi ? MpiAbi::openmpi : MpiAbi::mpich;
        if (mode_ == MpiMode::own || binding_for(abi).empty()) return keep_own(file, abi, before);
        if (mode_ == MpiMode::automatic) { // the other binding cannot be needed
            plan_.variables = before;
            put_first(binding_for(abi), plan_.variables.library_path);
        }
        use_binding(file, abi);
    }

    void keep_own(const std::string& file, MpiAbi abi, const LoaderVariables& before) {
        plan_.variables = before;
        plan_.outcome = Outcome::own;
        plan_.note =
            file + " uses its own " + name_of(abi) +
            (mode_ == MpiMode::own ? " (--mpi own)" : "; this installation of ZipMPI has no binding for it");
    }

    // Libraries of two ABIs in one process: functions of one would get objects of the other.
    bool refuse_mix() {
        const MpiLibrary* const found[] = {plan_.libraries.first(MpiAbi::standard),
                                           plan_.libraries.first(MpiAbi::openmpi),
                                           plan_.libraries.first(MpiAbi::mpich)};
        const MpiLibrary* first = nullptr;
        for (const MpiLibrary* l : found) {
            if (l == nullptr) continue;
            if (first == nullptr) {
                first = l;
                continue;
            }
            refuse({"the program " + program_ + " mixes two MPIs", first->needed_by + " and " + l->needed_by,
                    first->needed_by + " needs " + first->name + " (" + name_of(first->kind.abi) + "), " +
                        l->needed_by + " needs " + l->name + " (" + name_of(l->kind.abi) +
                        "); one process can use only one",
                    "build both for the same MPI, check LD_PRELOAD and LD_LIBRARY_PATH; to start it as it "
                    "is: --mpi own"},
                   126);
            return true;
        }
        return false;
    }

    void use_binding(const std::string& file, MpiAbi abi) {
        plan_.outcome = Outcome::binding;
        const MpiLibrary first = *plan_.libraries.first(abi);
        plan_.note = file + " uses " + name_of(abi) + "'s ABI (" + first.name + ", needed by " +
                     first.needed_by + "); it loads ZipMPI's binding in " + binding_for(abi);
        if (is_privileged(file)) return warn_privileged(file, abi);
        const LoaderVariables before = plan_.variables;
        for (const MpiLibrary& l : plan_.libraries.found) check_library(file, l);
        const bool changed =
            plan_.variables.preload != before.preload || plan_.variables.library_path != before.library_path;
        if (plan_.outcome == Outcome::binding && changed) plan_.libraries = look_up(file);
    }

    void check_library(const std::string& file, const MpiLibrary& l) {
        const std::string ours = binding_for(l.kind.abi) + "/" + l.name;
        if (!l.kind.supported && l.kind.part == Part::main) return warn_version(file, l);
        if (is_binding(l)) return;
        if (l.kind.part == Part::runtime) return supply_runtime(l);
        if (l.path.empty()) return warn_missing(l);
        if (!exists(ours)) return; // a companion that works on our library, such as Debian's libmpichfort
        if (l.by == FoundBy::rpath) {
            put_first(ours, plan_.variables.preload);
            plan_.note += "; DT_RPATH of the program names " + l.path + ", so " + ours + " is preloaded";
            return;
        }
        plan_.outcome = Outcome::own;
        plan_.warnings.push_back({"the program uses another MPI library than ZipMPI", file,
                                  l.path + " is loaded for " + l.name + " instead of " + ours,
                                  "remove it from LD_PRELOAD; --mpi own leaves out this message"});
    }

    // Empty libraries for a program that was linked with Open MPI's runtime, if the host has none. Where it
    // exists they must not be found: tools of Open MPI that a rank starts need the real ones.
    void supply_runtime(const MpiLibrary& l) {
        const std::string folder = binding_for(l.kind.abi) + "/runtime";
        if (l.path.empty() && exists(folder + "/" + l.name)) put_last(folder, plan_.variables.library_path);
    }

    void warn_privileged(const std::string& file, MpiAbi abi) {
        plan_.outcome = Outcome::own;
        plan_.note = file + " has privileges of its file; it uses its own " + name_of(abi);
        plan_.warnings.push_back(
            {std::string("the program uses its own ") + name_of(abi) + ", not ZipMPI", file,
             "it is setuid, setgid or has capabilities, and the dynamic linker ignores LD_LIBRARY_PATH for "
             "such programs",
             "remove these rights (chmod ug-s, setcap -r); --mpi own leaves out this message"});
    }

    void warn_version(const std::string& file, const MpiLibrary& l) {
        plan_.outcome = Outcome::own;
        plan_.note = file + " needs " + l.name + ", for which ZipMPI has no binding";
        plan_.warnings.push_back({"ZipMPI has no library for the MPI of this program", file,
                                  l.needed_by + " needs " + l.name + ", another version of " +
                                      name_of(l.kind.abi) + "'s ABI than " +
                                      (l.kind.abi == MpiAbi::openmpi ? "libmpi.so.40 (Open MPI 4 and 5)"
                                                                     : "libmpi.so.12 (MPICH 3.1 and later)"),
                                  "build it with mpicc of ZipMPI, or of a newer " +
                                      std::string(name_of(l.kind.abi)) +
                                      "; --mpi own leaves out this message"});
    }

    void warn_missing(const MpiLibrary& l) {
        plan_.warnings.push_back({"a library of the program is missing: " + l.name, l.needed_by,
                                  "it belongs to " + std::string(name_of(l.kind.abi)) +
                                      ", is not part of ZipMPI's binding and not installed on this host",
                                  std::string("install it; in Debian: apt install ") +
                                      (l.kind.abi == MpiAbi::openmpi ? "libopenmpi3" : "libmpich12")});
    }

    std::string program_;
    MpiMode mode_;
    const BindingFolders& bindings_;
    BindingPlan plan_;
    std::string r_home_; // if the program or an interpreter is R
};

std::string if_exists(const std::string& folder, const char* library) {
    return exists(folder + "/" + library) ? folder : std::string();
}

} // namespace

BindingFolders installed_bindings() {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return {};
    const std::string path(self, static_cast<size_t>(n));
    const std::string prefix = path.substr(0, path.rfind('/', path.rfind('/') - 1));
    BindingFolders found;
    for (const std::string& base : {prefix + "/lib/bindings", prefix + "/" + ZIPMPI_LIB_DIR + "/zipmpi"}) {
        if (found.openmpi.empty()) found.openmpi = if_exists(base + "/openmpi", "libmpi.so.40");
        if (found.mpich.empty()) found.mpich = if_exists(base + "/mpich", "libmpich.so.12");
    }
    return found;
}

BindingPlan plan_binding(const std::string& program, MpiMode mode, const BindingFolders& bindings,
                         const LoaderVariables& now) {
    return Planner(program, mode, bindings, now).run();
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/help.hpp"

#include "launch/mpiexec/actions.hpp"

namespace zipmpi::launch {
namespace {

constexpr size_t column = 30, right = 110;

constexpr const char* head = R"(Starts an MPI program on this host or on several:
  mpiexec [options] program [arguments] [: [options] program [arguments] ...]
)";

constexpr const char* examples = R"(
Examples:
  mpiexec -n 4 ./a.out                      4 ranks on this host
  mpiexec -n 4 --label ./a.out              each line prefixed with its rank
  mpiexec -n 2 --env OMP_NUM_THREADS=4 ./a  two ranks with four threads each
  mpiexec -n 4 --host n1:2,n2:2 ./a.out     two ranks on each of two hosts, started through ssh
  mpiexec --clusters campus.toml -n 8 ./a.out   clusters connected by gateways; see docs/guide/multi_cluster.md
  mpiexec -n 1 ./master : -n 3 ./worker     two programs in one job
  mpiexec -n 8 --report-hang 30 ./a.out     print a hang report after 30 s without progress
  mpiexec -n 8 --dry-run -ppn 4 ./a.out     print what would be started, and where
  kill -QUIT <pid of mpiexec>               print a hang report now; the job continues

Options end at the name of the program. One or two dashes are equivalent. The options of Open MPI's mpirun, of
MPICH's and of Intel MPI's mpiexec are understood: mpiexec --help=all lists them. The exit status is that
of the first rank that fails (128 + number if a signal killed it), 124 after --timeout, 130 after Ctrl-C.
)";

bool is_shown(const OptionRow& row, bool all) {
    const std::string_view from(row.from);
    return all ? !from.empty() : from.find('Z') != std::string_view::npos;
}

std::string heading(const OptionRow& row) {
    std::string text;
    for (const std::string_view name : names_of(row)) text += (text.empty() ? "" : ", ") + std::string(name);
    const bool attached = row.words == Words::attached;
    return text + (*row.args == '\0' || attached ? "" : " ") + row.args;
}

std::string description(const OptionRow& row) {
    if (row.action == act::accept) return std::string("accepted: ") + row.help;
    if (row.action == act::refuse) return std::string("refused: ") + row.help + "; " + row.use;
    return row.help;
}

void add_wrapped(std::string& out, const std::string& text, size_t used) {
    for (const std::string& word : split(text, ' ')) {
        if (used + 1 + word.size() > right) {
            out += "\n" + std::string(column - 1, ' ');
            used = column - 1;
        }
        out += " " + word;
        used += 1 + word.size();
    }
    out += "\n";
}

} // namespace

std::string help_text(bool all) {
    std::string out = head;
    int group = -1;
    for (const OptionRow& row : option_rows()) {
        if (!is_shown(row, all)) continue;
        if (row.group != group) out += std::string("\n") + group_title(row.group) + ":\n";
        group = row.group;
        std::string line = "  " + heading(row);
        if (line.size() + 2 > column) {
            out += line + "\n";
            line.clear();
        }
        line.resize(column - 1, ' ');
        out += line;
        add_wrapped(out, description(row), column - 1);
    }
    return out + examples;
}

std::string version_text() { return "mpiexec (ZipMPI) " ZIPMPI_VERSION "\n"; }

} // namespace zipmpi::launch

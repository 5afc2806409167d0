// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/options.hpp"

#include "base/words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace zipmpi::launch {
namespace {

constexpr long most_ranks = 1'000'000;

constexpr const char* examples = R"(
Examples:
  mpiexec -n 4 ./a.out                      4 ranks on this host
  mpiexec -n 4 --label ./a.out              each line with its rank in front
  mpiexec -n 2 --env OMP_NUM_THREADS=4 ./a  two ranks of four threads
  mpiexec -n 4 --host n1:2,n2:2 ./a.out     two ranks on each of two hosts, started through ssh
  mpiexec --grid campus.toml -n 8 ./a.out   on clusters joined by gateways; see docs/guide/bridge.md
  mpiexec -n 1 ./master : -n 3 ./worker     two programs in one job
  mpiexec -n 8 --report-hang 30 ./a.out     say who waits for whom if nothing moves for 30 s
  kill -QUIT <pid of mpiexec>               say it now, the job goes on

Options end at the name of the program. The exit status is that of the first rank that fails
(128 + number if a signal killed it), 124 after --timeout, 130 after Ctrl-C.)";

// What one command line part (between ':') can say.
struct Part {
    std::string ranks = "1", bind, pmix, map_by;
    std::vector<std::string> env;
};

void declare(CLI::App& app, Part& part, Options& all, bool& version) {
    app.add_option("-n,--np", part.ranks, "how many ranks to start (also -np)");
    app.add_option("--env", part.env, "set a variable for the ranks; may be repeated")
        ->type_name("NAME=VALUE");
    app.add_option("--bind-to", part.bind,
                   "core: each rank has cores of its own; socket: all of a socket; none: the kernel decides; "
                   "default: core if the ranks fit")
        ->type_name("core|socket|none");
    app.add_flag("--label", all.label, "begin each line of output with its rank");
    app.add_option("--timeout", all.timeout, "end the job after so many seconds (also MPIEXEC_TIMEOUT)")
        ->type_name("SECONDS");
    app.add_option("--report-hang", all.report_hang,
                   "if nothing moves for so many seconds, say who waits for whom")
        ->type_name("SECONDS");
    app.add_option("--pmix", part.pmix,
                   "serve PMIx for programs of other MPIs; default: if the program may need it")
        ->type_name("auto|yes|no");
    app.add_option("--host", all.host, "run on these hosts, with so many ranks on each")
        ->type_name("HOST[:SLOTS],...");
    app.add_option("--hostfile", all.hostfile, "the same from a file: a line 'HOST slots=N' for each host")
        ->type_name("FILE");
    app.add_option("--grid", all.grid,
                   "run on several clusters that share no network, joined by gateways, as the file says")
        ->type_name("FILE.toml");
    app.add_option("--map-by", part.map_by,
                   "slot, core: fill a host before the next, core by core; "
                   "socket: the same, with the sockets of a host in turn; node: hosts in turn; "
                   "comm: those that talk most near to each other, by the matrix of an earlier run")
        ->type_name("slot|core|socket|node|comm:FILE");
    app.add_flag("--keep-going", all.keep_going,
                 "a rank or host that dies does not end the job: the others get MPIX_ERR_PROC_FAILED");
    app.add_flag("--show-placement", all.show_placement, "print which rank is on which host and core");
    app.add_option("--launch-agent", all.agent, "starts a command on a host: AGENT HOST COMMAND; default ssh")
        ->type_name("COMMAND");
    app.add_option("--launch-width", all.width,
                   "how many hosts one process starts; the others are started by those")
        ->type_name("N");
    app.add_option("--launch-interface", all.interface,
                   "network interface that connects the hosts; default: any")
        ->type_name("NAME");
    app.add_flag("--version", version, "print the version");
    app.footer(examples);
}

constexpr const char* with_value[] = {
    "-n",     "--np",       "--env",  "--bind-to", "--timeout",      "--report-hang",  "--pmix",
    "--host", "--hostfile", "--grid", "--map-by",  "--launch-agent", "--launch-width", "--launch-interface"};
constexpr const char* without_value[] = {"--label",   "--keep-going", "--show-placement",
                                         "--version", "--help",       "-h"};

// -np, -label and so on, as other launchers spell them.
std::string two_dashes(const std::string& word) {
    if (word.size() < 3 || word[0] != '-' || word[1] == '-') return word;
    const std::string longer = "-" + word;
    const std::string name = longer.substr(0, longer.find('='));
    const auto same = [&](const char* known) { return name == known; };
    return std::any_of(std::begin(with_value), std::end(with_value), same) ||
                   std::any_of(std::begin(without_value), std::end(without_value), same)
               ? longer
               : word;
}

Problem usage(const std::string& what, const std::string& where, const std::string& why,
              const std::string& todo) {
    return {what, "command line of mpiexec" + (where.empty() ? "" : ", " + where), why, todo};
}

Problem unknown_option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    std::string todo = "`mpiexec --help` lists the options; those of the program come after its name";
    size_t best = 3;
    for (const auto& list : {std::vector<const char*>(std::begin(with_value), std::end(with_value)),
                             std::vector<const char*>(std::begin(without_value), std::end(without_value))})
        for (const char* known : list)
            if (const size_t d = edit_distance(name, known); d < best && std::string(known).size() > 2) {
                best = d;
                todo = std::string("did you mean ") + known + "? `mpiexec --help` lists all";
            }
    return usage("the option " + name + " is not known", "", "mpiexec has no option of this name", todo);
}

// Splits "options program arguments" and leaves the options. False: an unknown option.
bool cut(std::vector<std::string>& words, std::vector<std::string>& program, Problem& why) {
    size_t i = 0;
    while (i < words.size() && words[i].size() > 1 && words[i][0] == '-') {
        if (words[i] == "--") {
            words.erase(words.begin() + static_cast<long>(i));
            break;
        }
        words[i] = two_dashes(words[i]);
        const std::string name = words[i].substr(0, words[i].find('='));
        const auto same = [&](const char* known) { return name == known; };
        const bool attached =
            words[i].rfind("-n", 0) == 0 && words[i].size() > 2 && std::isdigit(words[i][2]) != 0;
        const bool value = std::any_of(std::begin(with_value), std::end(with_value), same);
        if (!value && !attached && std::none_of(std::begin(without_value), std::end(without_value), same)) {
            why = unknown_option(words[i]);
            return false;
        }
        i += value && name == words[i] ? 2 : 1;
    }
    i = std::min(i, words.size());
    program.assign(words.begin() + static_cast<long>(i), words.end());
    words.resize(i);
    return true;
}

bool take_part(const Part& part, AppContext& app, Options& out, Problem& why) {
    const auto bad = [&](const char* option, const std::string& given, const char* reason, const char* todo) {
        why = usage(std::string("the value of ") + option + " is not valid", "", "'" + given + "' " + reason,
                    todo);
        return false;
    };
    char* end = nullptr;
    const long n = std::strtol(part.ranks.c_str(), &end, 10);
    if (part.ranks.empty() || *end != '\0' || n < 1 || n > most_ranks)
        return bad("-n", part.ranks, "is not a number of ranks from 1 to 1000000",
                   "write for example: mpiexec -n 4 ./a.out");
    app.ranks = static_cast<uint32_t>(n);
    for (const auto& e : part.env) {
        if (e.find('=') == std::string::npos || e[0] == '=')
            return bad("--env", e, "is not NAME=VALUE",
                       "variables that are set already are passed on without --env");
        app.env.push_back(e);
    }
    if (part.bind == "core")
        out.bind = StartRequest::Bind::core;
    else if (part.bind == "socket")
        out.bind = StartRequest::Bind::socket;
    else if (part.bind == "none")
        out.bind = StartRequest::Bind::none;
    else if (!part.bind.empty())
        return bad("--bind-to", part.bind, "is not a way to bind", "write --bind-to core, socket or none");
    out.sockets_in_turn = out.sockets_in_turn || part.map_by == "socket";
    if (part.map_by == "node")
        out.map_by = MapBy::node;
    else if (part.map_by.starts_with("comm:") && part.map_by.size() > 5)
        out.matrix = part.map_by.substr(5);
    else if (!part.map_by.empty() && part.map_by != "slot" && part.map_by != "core" &&
             part.map_by != "socket")
        return bad("--map-by", part.map_by, "is not a way to map",
                   "write --map-by slot, core, socket, node or comm:FILE");
    if (out.width == 0)
        return bad("--launch-width", "0", "starts nothing", "give a number from 1 on; the default is 32");
    if (part.pmix == "yes")
        out.pmix = Pmix::yes;
    else if (part.pmix == "no")
        out.pmix = Pmix::no;
    else if (!part.pmix.empty() && part.pmix != "auto")
        return bad("--pmix", part.pmix, "is not a choice", "write --pmix auto, --pmix yes or --pmix no");
    return true;
}

bool parse_part(std::vector<std::string> words, Options& out, Problem& why) {
    AppContext app;
    if (!cut(words, app.argv, why)) return false;
    Part part;
    bool version = false;
    CLI::App cli("Starts an MPI program on this host or on several:\n"
                 "  mpiexec [options] program [arguments] [: [options] program [arguments] ...]",
                 "mpiexec");
    declare(cli, part, out, version);
    cli.get_option("--env")->expected(1)->take_all();
    try {
        std::reverse(words.begin(), words.end()); // as CLI11 wants it
        cli.parse(words);
    } catch (const CLI::CallForHelp&) {
        out.print = cli.help();
        return true;
    } catch (const CLI::ParseError& e) {
        why = usage("the command line is not understood", "", e.what(),
                    "`mpiexec --help` shows how it is written");
        return false;
    }
    if (version) {
        out.print = "mpiexec (ZipMPI) " ZIPMPI_VERSION "\n";
        return true;
    }
    if (app.argv.empty()) {
        why = usage("there is no program to start", "", "the command line ends after the options",
                    "name one: mpiexec -n 4 ./a.out");
        return false;
    }
    out.ranks_given = out.ranks_given || cli.count("--np") > 0;
    if (!take_part(part, app, out, why)) return false;
    out.apps.push_back(std::move(app));
    return true;
}

bool take_timeout_variable(const char* const* environ_like, Options& out, Problem& why) {
    for (const char* const* e = environ_like; *e != nullptr; ++e) {
        const std::string entry(*e);
        if (entry.rfind("MPIEXEC_TIMEOUT=", 0) != 0 || out.timeout != 0) continue;
        char* end = nullptr;
        out.timeout = std::strtod(entry.c_str() + 16, &end);
        if (*end == '\0' && out.timeout >= 0) continue;
        why = {"the environment variable MPIEXEC_TIMEOUT is not valid", "environment of mpiexec",
               "'" + entry.substr(16) + "' is not a number of seconds", "set it to a number, or unset it"};
        return false;
    }
    return true;
}

} // namespace

bool parse_options(const std::vector<std::string>& args, const char* const* environ_like, Options& out,
                   Problem& why) {
    std::vector<std::string> words;
    for (size_t i = 0; i <= args.size(); ++i) {
        if (i < args.size() && args[i] != ":") {
            words.push_back(args[i]);
            continue;
        }
        if (!parse_part(words, out, why)) return false;
        if (!out.print.empty()) return true;
        words.clear();
    }
    if (out.timeout < 0 || out.report_hang < 0) {
        why = usage("the number of seconds is not valid", "", "it is negative",
                    "give a positive number of seconds");
        return false;
    }
    return take_timeout_variable(environ_like, out, why);
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Splits a command line into uses of options: dashes, '=', values, ':' between programs, configuration files.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/host_selection.hpp"
#include "launch/mpiexec/legacy_environment.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/tree/agent.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace zipmpi::launch {
namespace {

constexpr const char* command_line = "command line of mpiexec";
constexpr int max_depth = 8; // nested configuration files

using WordList = std::vector<std::string>;

Diagnostic unknown_option(const std::string& name, const std::string& where) {
    const std::string like = closest_option(name);
    return {"the option " + name + " is not known", where, "mpiexec has no option of this name",
            like.empty() ? "`mpiexec --help=all` lists the options; those of the program come after its name"
                         : "did you mean " + like + "? `mpiexec --help=all` lists all"};
}

Diagnostic value_missing(const Use& use) {
    return {"the option " + use.written + " has no value", use.where,
            std::string("it is followed by ") + use.row->args, "write " + use.written + " " + use.row->args};
}

// "-n4": a name with its value as digits.
bool split_digits(const std::string& word, Use& use) {
    size_t end = word.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(word[end - 1])) != 0) --end;
    if (end == word.size() || end < 2) return false;
    use.row = find_option(word.substr(0, end));
    if (use.row == nullptr || use.row->words != Words::one) return false;
    use.written = word.substr(0, end);
    use.words.push_back(word.substr(end));
    return true;
}

// The name, and a value after '='.
bool take_name(const std::string& word, Use& use, Diagnostic& why) {
    const size_t equals = word.find('=');
    use.written = word.substr(0, equals);
    use.row = find_option(use.written);
    if (use.row == nullptr) {
        if (equals == std::string::npos && split_digits(word, use)) return true;
        why = unknown_option(use.written, use.where);
        return false;
    }
    if (equals == std::string::npos) return true;
    use.words.push_back(word.substr(equals + 1));
    if (use.row->words != Words::none && use.row->words != Words::two) return true;
    why = {"the option " + use.written + " does not take a value with '='", use.where,
           "'" + word + "' has one", "write " + use.written + " " + use.row->args};
    return false;
}

// Number of words that belong to the option; the first one is given.
size_t words_needed(const Use& use, const std::string* next) {
    if (!use.words.empty()) return 0;
    switch (use.row->words) {
    case Words::one:
        return 1;
    case Words::two:
        return 2;
    case Words::pair:
        return next != nullptr && next->find('=') != std::string::npos ? 1 : 2;
    case Words::ranks:
        return next != nullptr && is_rank_list(*next) ? 1 : 0;
    default:
        return 0;
    }
}

class LineReader {
  public:
    LineReader(Options& job, Diagnostic& why)
        : job_(job)
        , why_(why) {}

    // Programs separated by ':'.
    bool read_line(const WordList& all, const std::string& where) {
        WordList part;
        for (size_t i = 0; i <= all.size(); ++i) {
            if (i < all.size() && all[i] != ":") {
                part.push_back(all[i]);
                continue;
            }
            if (!read_program(part, where)) return false;
            if (!job_.print.empty()) return true;
            part.clear();
        }
        return true;
    }

  private:
    bool read_program(const WordList& words, const std::string& where) {
        AppOptions app = common_;
        Draft draft{job_, app};
        size_t i = 0;
        while (i < words.size() && words[i].size() > 1 && words[i][0] == '-') {
            if (words[i++] == "--") break;
            if (!read_option(words, i, where, draft)) return false;
            if (!job_.print.empty()) return true;
        }
        app.context.argv.assign(words.begin() + static_cast<long>(i), words.end());
        const std::vector<std::string> files = std::exchange(job_.config_files, {});
        const bool no_program = app.context.argv.empty();
        const AppOptions for_files = no_program ? app : common_;
        if (!no_program)
            job_.apps.push_back(std::move(app));
        else if (words.empty() || (files.empty() && depth_ == 0))
            return refuse_empty(where);
        else if (files.empty())
            common_ = std::move(app); // for the rest of the file
        for (const std::string& file : files)
            if (!read_file(file, for_files)) return false;
        return true;
    }

    // words[i - 1] is an option; sets i after its values.
    bool read_option(const WordList& words, size_t& i, const std::string& where, Draft& draft) {
        Use use;
        use.where = where;
        if (!take_name(words[i - 1], use, why_)) return false;
        const size_t wanted = words_needed(use, i < words.size() ? &words[i] : nullptr);
        if (words.size() - i < wanted) {
            why_ = value_missing(use);
            return false;
        }
        for (size_t k = 0; k < wanted; ++k) use.words.push_back(words[i++]);
        return use.row->action(use, draft, why_);
    }

    bool refuse_empty(const std::string& where) {
        why_ = {"there is no program to start", where, "no program follows the options",
                "add a program: mpiexec -n 4 ./a.out"};
        return false;
    }

    // One program per line; '#' starts a comment, '\' at the end of a line continues it. common: options for
    // all of them.
    bool read_file(const std::string& path, const AppOptions& common) {
        std::string text;
        if (!read_whole_file(path, "the configuration file", text, why_)) return false;
        if (++depth_ > max_depth) {
            why_ = {"configuration files include each other", path,
                    "a file includes itself, directly or indirectly",
                    "remove --configfile and --app from the file"};
            return false;
        }
        const size_t before = job_.apps.size();
        const AppOptions outside = std::exchange(common_, common);
        for (std::string_view rest = text; !rest.empty();) {
            const std::string line = next_line(rest);
            WordList words;
            if (line.empty()) continue;
            if (!split_words(line, words)) {
                why_ = {"a line of the configuration file is not valid", path,
                        "'" + line + "' has an open quote", "close the quote"};
                return false;
            }
            if (!words.empty() && !read_line(words, "file " + path)) return false;
        }
        common_ = outside;
        --depth_;
        if (job_.apps.size() > before) return true;
        return refuse_empty("file " + path);
    }

    static std::string next_line(std::string_view& rest) {
        std::string line;
        for (bool more = true; more && !rest.empty();) {
            const size_t end = std::min(rest.find('\n'), rest.size());
            line += rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            more = line.ends_with('\\');
            if (more) line.back() = ' ';
        }
        const size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#') return {};
        return line;
    }

    Options& job_;
    Diagnostic& why_;
    AppOptions common_;
    int depth_ = 0;
};

bool names_hosts(const Options& o) {
    return !o.host.empty() || !o.hostfile.empty() ||
           std::any_of(o.apps.begin(), o.apps.end(), [](const AppOptions& app) { return !app.host.empty(); });
}

} // namespace

bool parse_options(const std::vector<std::string>& args, const char* const* environ_like, Options& out,
                   Diagnostic& why) {
    if (!apply_environment(environ_like, out, why)) return false;
    // Hosts of the environment count only if the command line has none.
    std::string host = std::exchange(out.host, {});
    std::string hostfile = std::exchange(out.hostfile, {});
    out.launch.inherited_agent_override = std::exchange(out.launch.agent_override, {});
    if (!LineReader(out, why).read_line(args, command_line)) return false;
    if (names_hosts(out)) return true;
    out.host = std::move(host);
    out.hostfile = std::move(hostfile);
    return true;
}

} // namespace zipmpi::launch

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/stacks.hpp"

#include "launch/report/report_text.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace zipmpi::launch {
namespace {

constexpr size_t most_frames = 24;   // of a stack
constexpr size_t most_columns = 160; // of a frame; names of templates are long
constexpr size_t most_groups = 32;   // different stacks

std::string_view next_line(std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::string frame_text(std::string_view function, std::string_view place) {
    std::string text = function.empty() ? "??" : std::string(function.substr(0, most_columns));
    if (!place.empty()) text.append(", ").append(place);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
    return text;
}

// "#1  0x7f... in f (x=...) at a.c:3", "#0  main () at a.c:5", "#2  0x7f... in ?? () from /lib/libx.so"
std::string gdb_frame(std::string_view line) {
    std::string_view place;
    for (const std::string_view word : {std::string_view(") at "), std::string_view(") from ")})
        if (const size_t at = line.rfind(word); at != std::string_view::npos) {
            place = file_name(line.substr(at + word.size()));
            line = line.substr(0, at + 1);
            break;
        }
    if (const size_t arguments = line.rfind(" ("); arguments != std::string_view::npos)
        line = line.substr(0, arguments);
    if (line.starts_with("0x"))
        if (const size_t in = line.find(" in "); in != std::string_view::npos) line.remove_prefix(in + 4);
    return frame_text(trimmed(line), place);
}

// "#0  0x00007f0a9a189503 f@GLIBC_2.2.5 - /usr/lib/libc.so.6"; source file and line may follow on a line
std::string eu_stack_frame(std::string_view line, std::string_view source) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    std::string_view place;
    if (const size_t dash = line.rfind("- "); dash != std::string_view::npos) {
        place = file_name(line.substr(dash + 2));
        line = line.substr(0, dash);
    }
    line = trimmed(line.substr(0, line.find('@')));
    if (source.empty()) return frame_text(line, place);
    source = file_name(trimmed(source)); // a.c:3:14
    const size_t colon = source.find(':');
    if (colon != std::string_view::npos) source = source.substr(0, source.find(':', colon + 1));
    return frame_text(line, source);
}

std::string_view function_of(std::string_view frame) { return frame.substr(0, frame.rfind(", ")); }

bool is_mpi_call(std::string_view frame) {
    const std::string_view prefix = frame.substr(0, frame.starts_with('P') || frame.starts_with('p') ? 5 : 4);
    std::string lower(prefix);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower == "mpi_" || lower == "pmpi_";
}

// Names of static functions of the library begin with checked_ or with its namespace; without debug
// information the frame has the file of a library instead.
bool is_in_library(std::string_view frame) {
    return is_mpi_call(frame) || frame.starts_with("checked_") || frame.starts_with("zipmpi::") ||
           frame.find(", libmpi") != std::string_view::npos;
}

// The stack of one thread, from the MPI call to main().
class ThreadStack {
  public:
    void begin(bool main_thread) {
        frames_.clear();
        main_thread_ = main_thread;
        in_mpi_ = ended_ = false;
    }
    void add(std::string frame) {
        if (ended_) return;
        if (is_in_library(frame)) {
            frames_.clear();
            in_mpi_ = true;
        }
        ended_ = main_thread_ && function_of(frame) == "main"; // callers of main() are of no interest
        frames_.push_back(std::move(frame));
    }
    void end(std::vector<StackGroup>& groups, const TracedRank& traced) {
        if (in_mpi_ && main_thread_ && !frames_.empty() && !traced.function.empty())
            frames_.front() = traced.function;
        if (frames_.size() > most_frames) {
            frames_.resize(most_frames - 1);
            frames_.push_back("...");
        }
        if (!frames_.empty() && (main_thread_ || in_mpi_))
            add_stack(groups, {frames_, {traced.rank}, main_thread_});
        frames_.clear();
    }

  private:
    Frames frames_;
    bool main_thread_ = true, in_mpi_ = false, ended_ = false;
};

// Number after a word: "TID 123:", "Thread 1 (LWP 123)".
int number_after(std::string_view line, std::string_view word) {
    const size_t at = line.find(word);
    return at == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(at + word.size())).c_str());
}

// Of one process. reason: what the tool says if there is no frame.
void parse_process(std::string_view text, int pid, const TracedRank& traced, HostStacks& out) {
    ThreadStack thread;
    std::string reason;
    size_t frames = 0;
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        const bool of_gdb = line.starts_with("Thread ");
        if (of_gdb || line.starts_with("TID ")) {
            thread.end(out.groups, traced);
            const int number = number_after(line, of_gdb ? "LWP " : "TID "); // 0: the only thread
            thread.begin(number == pid || number == 0);
        } else if (line.starts_with("#")) {
            ++frames;
            const std::string_view frame = trimmed(line.substr(std::min(line.find(' '), line.size())));
            const bool by_gdb = frame.find(" (") != std::string_view::npos || !frame.starts_with("0x");
            std::string_view source;
            if (!by_gdb && text.starts_with("    ")) source = next_line(text);
            thread.add(by_gdb ? gdb_frame(frame) : eu_stack_frame(frame, source));
        } else if (reason.empty()) {
            reason = trimmed(line);
        }
    }
    thread.end(out.groups, traced);
    if (frames > 0) return;
    out.unread.push_back(traced.rank);
    if (out.reason.empty()) out.reason = reason;
}

void sort_unique(std::vector<int>& ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

std::string group_text(const StackGroup& group) {
    std::string text =
        "  [" + rank_list(group.ranks) + "]" + (group.main_thread ? "" : " other threads") + "\n";
    for (const std::string& frame : group.frames) text += "    " + frame + "\n";
    return text;
}

} // namespace

void add_stack(std::vector<StackGroup>& groups, const StackGroup& more) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const StackGroup& g) {
        return g.main_thread == more.main_thread && g.frames == more.frames;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), {more.frames, {}, more.main_thread});
    same->ranks.insert(same->ranks.end(), more.ranks.begin(), more.ranks.end());
    sort_unique(same->ranks);
}

HostStacks parse_stacks(std::string_view text, const std::map<int, TracedRank>& ranks) {
    HostStacks out;
    std::map<int, TracedRank> left = ranks;
    for (size_t at = text.find(process_mark); at != std::string_view::npos;) {
        const std::string_view rest = text.substr(at + process_mark.size());
        const size_t next = text.find(process_mark, at + 1);
        std::string_view part =
            rest.substr(0, next == std::string_view::npos ? next : next - at - process_mark.size());
        const int pid = std::atoi(std::string(next_line(part)).c_str());
        if (const auto it = left.find(pid); it != left.end()) {
            parse_process(part, pid, it->second, out);
            left.erase(it);
        }
        at = next;
    }
    for (const auto& [pid, traced] : left) out.unread.push_back(traced.rank);
    sort_unique(out.unread);
    return out;
}

std::string stacks_report(const std::vector<HostStacks>& hosts, const std::string& limits) {
    std::vector<StackGroup> groups;
    std::vector<int> unread;
    std::string tool;
    std::string without_tool; // hosts
    std::string notes;
    for (const HostStacks& host : hosts) {
        for (const StackGroup& group : host.groups) add_stack(groups, group);
        if (!host.tool.empty()) tool = host.tool;
        if (!host.reason.empty())
            notes += "  " + ranks_text(host.unread) + " on host " + host.host + ": " + host.reason + "\n";
        else if (host.tool.empty())
            without_tool += (without_tool.empty() ? "" : ",") + host.host;
        else
            unread.insert(unread.end(), host.unread.begin(), host.unread.end());
    }
    if (!unread.empty()) {
        sort_unique(unread);
        notes += "  " + ranks_text(unread) + ": not read; " + limits + "\n";
    }
    const std::string missing = "install gdb or eu-stack (elfutils) on host " + without_tool;
    if (tool.empty() && !without_tool.empty())
        return "mpiexec: no stacks of the ranks: " + missing + "\n" + notes;
    std::sort(groups.begin(), groups.end(),
              [](const StackGroup& a, const StackGroup& b) { return a.ranks < b.ranks; });
    std::string text = "mpiexec: stacks of the ranks" + (tool.empty() ? "" : ", by " + tool) + ":\n";
    for (size_t i = 0; i < groups.size() && i < most_groups; ++i) text += group_text(groups[i]);
    if (groups.size() > most_groups)
        text += "  and " + std::to_string(groups.size() - most_groups) + " other stacks\n";
    if (!without_tool.empty()) notes += "  for the other ranks " + missing + "\n";
    return text + notes;
}

} // namespace zipmpi::launch

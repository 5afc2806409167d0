// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/tune.hpp"

#include "base/problem.hpp"
#include "boot/node_segment.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"
#include "topo/module.hpp"
#include "tune/resume.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zipmpi::tool {
namespace {

constexpr double most_spread = 0.15; // more, and the medians are not to be trusted

// One line that is written over, only where somebody looks at it.
class Display {
  public:
    Display(size_t parts, double seconds)
        : parts_(parts)
        , seconds_(seconds) {}
    ~Display() {
        if (shown_) std::fputs("\r\033[K", stderr);
    }
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;

    void show(size_t part, const char* name, double within) {
        const double done = (static_cast<double>(part) + within) / static_cast<double>(parts_);
        const int percent = static_cast<int>(done * 100);
        if (isatty(STDERR_FILENO) == 0 || percent == last_) return;
        last_ = percent;
        shown_ = true;
        const std::string line = fmt::format("\r\033[Kmeasuring {} ({} of {}): {} %, {:.0f} s left", name,
                                             part + 1, parts_, percent, seconds_ * (1 - done));
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
    }

  private:
    size_t parts_;
    double seconds_;
    int last_ = -1;
    bool shown_ = false;
};

// Beside the file first, then in its place: a reader never sees half of it.
class OutputFile {
  public:
    explicit OutputFile(std::string path)
        : path_(std::move(path))
        , beside_(path_ + ".new") {
        std::error_code ignored; // opening says it better
        std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
        stream_.open(beside_);
    }
    // Opened before anything is measured, so that nobody waits in vain.
    [[nodiscard]] bool opened() const { return stream_.is_open(); }
    bool keep(const std::string& text) {
        stream_ << text;
        stream_.close();
        return stream_.good() && std::rename(beside_.c_str(), path_.c_str()) == 0;
    }
    int refuse() const {
        report({"the measured costs cannot be kept", "file " + path_, std::strerror(errno),
                "name another file with --output, and give it to the library with ZIPMPI_TUNE_FILE"},
               "zipmpi");
        return 1;
    }

  private:
    std::string path_, beside_;
    std::ofstream stream_;
};

std::vector<Measurement> measure_all(const TuneOptions& options, Measured& before) {
    topo::Machine machine;
    topo::read_machine(machine); // without it, two classes are told apart: one CPU, and two
    os::CpuUnion own;
    own.add(0);
    const auto pairs = pairs_to_measure(machine, own.list());
    Display display(pairs.size(), options.seconds);
    std::vector<Measurement> all;
    for (size_t i = 0; i < pairs.size(); ++i) {
        if (const Measurement* known = before.find(pairs[i]); known != nullptr) {
            all.push_back(*known);
            continue;
        }
        all.push_back(measure(pairs[i], topo::shared_cache_bytes(machine, pairs[i].pair),
                              boot::NodeSegment::new_cell_bytes(),
                              options.seconds / static_cast<double>(pairs.size()),
                              [&](double part) { display.show(i, topo::name(pairs[i].pair), part); }));
        before.add(all.back());
    }
    return all;
}

} // namespace

int run_tune(const TuneOptions& options) {
    const std::string path = options.output.empty() ? proto::costs_file_places().front() : options.output;
    std::optional<OutputFile> file;
    if (!options.dry_run && !file.emplace(path).opened()) return file->refuse();
    Measured before(options.dry_run ? "" : path + ".part", !options.fresh);
    const auto all = measure_all(options, before);
    const std::string text = costs_file_text(all, os::host_name());
    if (file && !file->keep(text)) return file->refuse();
    before.forget();
    std::string out = options.dry_run ? text : "";
    if (before.taken_over() > 0)
        out += fmt::format(
            "{} of {} classes were measured before the last run was interrupted; --fresh measures "
            "all anew\n",
            before.taken_over(), all.size());
    out += changes_text(all, boot::NodeSegment::new_cell_bytes());
    for (const Measurement& m : all)
        if (m.spread > most_spread)
            out += fmt::format("\n{}: the rounds differ much; measure again when the machine is quiet.\n",
                               topo::name(m.where.pair));
    if (!options.dry_run)
        out += "\nkept in " + path + (options.output.empty() ? "" : "; ZIPMPI_TUNE_FILE must name it") + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

} // namespace zipmpi::tool

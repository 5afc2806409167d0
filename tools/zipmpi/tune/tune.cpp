// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/tune.hpp"

#include "base/diagnostic.hpp"
#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"
#include "proto/select/costs_file.hpp"
#include "segment/node_segment.hpp"
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

// Progress line, only on a terminal.
class Display {
  public:
    Display(size_t steps, double seconds)
        : steps_(steps)
        , seconds_(seconds) {}
    ~Display() {
        if (shown_) std::fputs("\r\033[K", stderr);
    }
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;

    void show(size_t step, const char* name, double within) {
        const double done = (static_cast<double>(step) + within) / static_cast<double>(steps_);
        const int percent = static_cast<int>(done * 100);
        if (isatty(STDERR_FILENO) == 0 || percent == last_) return;
        last_ = percent;
        shown_ = true;
        const std::string line = fmt::format("\r\033[Kmeasuring {} ({} of {}): {} %, {:.0f} s left", name,
                                             step + 1, steps_, percent, seconds_ * (1 - done));
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
    }

  private:
    size_t steps_;
    double seconds_;
    int last_ = -1;
    bool shown_ = false;
};

// Writes next to the file, then renames: a reader never sees a partial file.
class OutputFile {
  public:
    explicit OutputFile(std::string path)
        : path_(std::move(path))
        , temp_path_(path_ + ".new") {
        std::error_code ignored; // fopen reports the error
        std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
        stream_.open(temp_path_);
    }
    // Opened before the measurement, so that an unwritable file is reported first.
    [[nodiscard]] bool is_open() const { return stream_.is_open(); }
    bool commit(const std::string& text) {
        stream_ << text;
        stream_.close();
        return stream_.good() && std::rename(temp_path_.c_str(), path_.c_str()) == 0;
    }
    int report_write_error() const {
        report({"the measured costs cannot be written", "file " + path_, std::strerror(errno),
                "choose another file with --output, and set ZIPMPI_TUNE_FILE to it"},
               "zipmpi");
        return 1;
    }

  private:
    std::string path_, temp_path_;
    std::ofstream stream_;
};

std::vector<Measurement> measure_all(const TuneOptions& options, ResumeFile& before) {
    hwtopo::Machine machine;
    hwtopo::read_machine(machine); // without it only two classes are distinguished: one CPU, and two
    os::CpuUnion own;
    own.add(0);
    const auto pairs = pairs_to_measure(machine, own.list());
    Display display(pairs.size(), options.seconds);
    std::vector<Measurement> all;
    for (size_t i = 0; i < pairs.size(); ++i) {
        if (const Measurement* resumed = before.find(pairs[i]); resumed != nullptr) {
            all.push_back(*resumed);
            continue;
        }
        all.push_back(measure(
            pairs[i], hwtopo::shared_cache_bytes(machine, pairs[i].pair),
            segment::NodeSegment::new_cell_bytes(), options.seconds / static_cast<double>(pairs.size()),
            [&](double fraction) { display.show(i, hwtopo::name(pairs[i].pair), fraction); }));
        before.add(all.back());
    }
    return all;
}

} // namespace

int run_tune(const TuneOptions& options) {
    const std::string path = options.output.empty() ? proto::costs_file_paths().front() : options.output;
    std::optional<OutputFile> file;
    if (!options.dry_run && !file.emplace(path).is_open()) return file->report_write_error();
    ResumeFile before(options.dry_run ? "" : path + ".part", !options.restart);
    const auto all = measure_all(options, before);
    const std::string text = costs_file_text(all, os::host_name());
    if (file && !file->commit(text)) return file->report_write_error();
    before.discard();
    if (options.json) {
        const Json facts{{"host", os::host_name()},
                         {"file", options.dry_run ? "" : path},
                         {"resumed", before.resumed()},
                         {"classes", class_facts(all, segment::NodeSegment::new_cell_bytes())}};
        std::puts(facts.dump(2).c_str());
        return 0;
    }
    std::string out = options.dry_run ? text : "";
    if (before.resumed() > 0)
        out += fmt::format(
            "{} of {} classes were measured before the last run was interrupted; --restart discards "
            "them\n",
            before.resumed(), all.size());
    out += changes_text(all, segment::NodeSegment::new_cell_bytes());
    for (const Measurement& m : all)
        if (is_unreliable(m))
            out += fmt::format("\n{}: the rounds differ strongly; measure again on an idle machine.\n",
                               hwtopo::name(m.where.pair));
    if (!options.dry_run)
        out += "\nwritten to " + path +
               (options.output.empty() ? "" : "; set ZIPMPI_TUNE_FILE to this file") + "\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

} // namespace zipmpi::tool

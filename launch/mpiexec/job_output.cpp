// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/job_output.hpp"

#include "os/clock.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t output_high =
    1U << 20; // bytes pending for stdout or stderr above which reading from the daemons stops

LineFolder make_folder(const OutputPolicy& policy, uint32_t world_size) {
    return LineFolder(world_size, policy.timestamps ? LinePrefix::Stamp::iso : LinePrefix::Stamp::none);
}

} // namespace

JobOutput::JobOutput(const OutputPolicy& policy, uint32_t world_size)
    : folds_(policy.label == OutputPolicy::Label::fold)
    , streams_{OutStream(STDOUT_FILENO), OutStream(STDERR_FILENO)}
    , folders_{make_folder(policy, folds_ ? world_size : 0), make_folder(policy, folds_ ? world_size : 0)} {}

void JobOutput::on_output(std::string_view payload) {
    PayloadReader r(payload);
    const size_t stream = r.u32() == 1 ? 0 : 1;
    const uint32_t rank = r.u32();
    const std::string_view text = r.rest();
    if (!folds_) return streams_[stream].add(text);
    std::string out;
    folders_[stream].add(rank, text, os::now_ns(), out);
    streams_[stream].add(out);
}

void JobOutput::on_exit_codes(std::string_view payload) {
    PayloadReader r(payload);
    const uint32_t node = r.u32();
    std::string text = " [" + r.text() + "] ";
    const std::vector<uint32_t> codes = r.numbers();
    if (!r.is_finished() || codes.empty()) return;
    for (size_t i = 0; i < codes.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(codes[i]);
    exit_codes_[node] = text;
}

void JobOutput::write_stderr(std::string_view text) {
    if (text.empty()) return;
    flush_folded();
    streams_[1].add(text);
}

void JobOutput::flush_folded() {
    for (size_t s = 0; s < 2; ++s) {
        std::string out;
        folders_[s].flush(out);
        streams_[s].add(out);
    }
}

// In the format of hydra's -print-all-exitcodes.
void JobOutput::finish() {
    flush_folded();
    if (exit_codes_.empty()) return;
    std::string line = "[mpiexec@" + os::host_name() + "] Exit codes:";
    for (const auto& [node, codes] : exit_codes_) line += codes;
    exit_codes_.clear();
    write_stdout(line + "\n");
}

bool JobOutput::full() const {
    return std::any_of(streams_.begin(), streams_.end(),
                       [](const OutStream& s) { return s.queued() >= output_high; });
}

uint64_t JobOutput::next_time() const {
    const uint64_t a = folders_[0].next_time();
    const uint64_t b = folders_[1].next_time();
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

void JobOutput::on_time(uint64_t now) {
    for (size_t s = 0; s < 2; ++s) {
        std::string out;
        folders_[s].on_time(now, out);
        streams_[s].add(out);
    }
}

void JobOutput::write_some() {
    for (OutStream& s : streams_) s.write_some();
}

void JobOutput::drop() {
    for (OutStream& s : streams_) s.drop();
}

} // namespace zipmpi::launch

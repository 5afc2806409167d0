// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/line_splitter.hpp"

namespace zipmpi::launch {

void LineSplitter::append(std::string& out, std::string_view line) {
    if (line.empty()) return;
    if (!mid_line_) prefix_.append_to(out);
    out.append(line);
    mid_line_ = line.back() != '\n';
}

std::string LineSplitter::feed(std::string_view bytes) {
    std::string out;
    const size_t last = bytes.rfind('\n');
    if (last == std::string_view::npos) {
        partial_.append(bytes);
        return partial_.size() > max_line_bytes ? flush() : out;
    }
    std::string_view whole = bytes.substr(0, last + 1);
    if (!partial_.empty()) {
        const size_t first = whole.find('\n');
        partial_.append(whole.substr(0, first + 1));
        append(out, partial_);
        partial_.clear();
        whole.remove_prefix(first + 1);
    }
    if (prefix_.empty()) { // nothing to do per line
        append(out, whole);
    } else {
        while (!whole.empty()) {
            const size_t end = whole.find('\n') + 1;
            append(out, whole.substr(0, end));
            whole.remove_prefix(end);
        }
    }
    partial_.assign(bytes.substr(last + 1));
    return out;
}

std::string LineSplitter::flush() {
    std::string out;
    append(out, partial_);
    partial_.clear();
    return out;
}

} // namespace zipmpi::launch

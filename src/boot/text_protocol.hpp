// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What PMI-1 and PMI-2 have in common: a command goes out, one answer comes back, as a line or as a frame of
// "name=value" fields. The launcher's bytes are not trusted: lengths are bounded before anything is stored.
//
// Threads: one caller at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::boot {

// The field of this name in "a=1 b=2 c=3" or "a=1;b=2;". False if there is none.
bool field(std::string_view text, char separator, std::string_view name, std::string& value);

enum class Framing {
    lines, // PMI-1: fields separated by blanks, ended by a newline
    frames // PMI-2: six characters of length, then fields each ended by a semicolon
};

class TextConnection {
  public:
    static constexpr size_t longest_answer = 65536;
    static constexpr int no_limit = -1;

    explicit TextConnection(int fd) // a socket; stays open, it was inherited
        : fd_(fd) {}

    void set_framing(Framing f) { framing_ = f; }
    [[nodiscard]] char separator() const { return framing_ == Framing::lines ? ' ' : ';'; }

    bool send(std::string_view command);
    // Sends the command, reads one answer, and checks that it is of the kind `answer_name`.
    bool ask(std::string_view command, std::string_view answer_name, int limit_ms);
    [[nodiscard]] bool answer(std::string_view name, std::string& value) const { // a field of the last answer
        return field(answer_, separator(), name, value);
    }
    [[nodiscard]] bool answer_is(std::string_view name, std::string_view expected) const {
        std::string value;
        return answer(name, value) && value == expected;
    }
    [[nodiscard]] const std::string& failure() const { return failure_; } // why the last call failed

  private:
    bool fail(std::string why);
    bool fill(uint64_t deadline_ns);
    bool take_line(uint64_t deadline_ns);
    bool take_frame(uint64_t deadline_ns);

    int fd_;
    Framing framing_ = Framing::lines;
    std::string received_; // bytes beyond the last answer
    std::string answer_;
    std::string failure_;
};

} // namespace zipmpi::boot

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connection to a PMI server, common to PMI-1 and PMI-2: one reply per command, as a line or a frame of
// "name=value" fields. Data of the launcher is not trusted: lengths are bounded before anything is stored.
//
// Threads: one caller at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zipmpi::boot {

// Value of a field in "a=1 b=2 c=3" or "a=1;b=2;". Returns false if there is none.
bool field(std::string_view text, char separator, std::string_view name, std::string& value);

enum class Framing {
    lines, // PMI-1: fields separated by blanks, ended by a newline
    frames // PMI-2: six characters of length, then fields each ended by a semicolon
};

class PmiConnection {
  public:
    static constexpr size_t max_reply_bytes = 65536;
    static constexpr int no_limit = -1;

    explicit PmiConnection(int fd) // an inherited socket; not closed
        : fd_(fd) {}

    void set_framing(Framing f) { framing_ = f; }
    [[nodiscard]] char separator() const { return framing_ == Framing::lines ? ' ' : ';'; }

    bool send(std::string_view command);
    // Sends the command, reads one reply, and checks that it is a `reply_name`.
    bool request(std::string_view command, std::string_view reply_name, int limit_ms);
    [[nodiscard]] bool reply_field(std::string_view name,
                                   std::string& value) const { // a field of the last reply
        return field(reply_, separator(), name, value);
    }
    [[nodiscard]] bool reply_field_is(std::string_view name, std::string_view expected) const {
        std::string value;
        return reply_field(name, value) && value == expected;
    }
    [[nodiscard]] const std::string& failure() const { return failure_; } // reason why the last call failed

  private:
    bool fail(std::string why);
    bool fill(uint64_t deadline_ns);
    bool take_line(uint64_t deadline_ns);
    bool take_frame(uint64_t deadline_ns);

    int fd_;
    Framing framing_ = Framing::lines;
    std::string received_; // bytes after the last reply
    std::string reply_;
    std::string failure_;
};

} // namespace zipmpi::boot

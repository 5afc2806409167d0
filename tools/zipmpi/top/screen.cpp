// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/screen.hpp"

#include "top/plots.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

volatile std::sig_atomic_t quit_requested = 0;
volatile std::sig_atomic_t resized = 0;

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        text.remove_prefix(static_cast<size_t>(n));
    }
}

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = [](int s) {
        if (s == SIGWINCH)
            resized = 1;
        else
            quit_requested = 1;
    };
    for (const int s : {SIGWINCH, SIGINT, SIGTERM, SIGHUP}) sigaction(s, &action, nullptr);
}

constexpr std::string_view other_page = "\033[?1049h\033[?25l"; // alternate screen, cursor hidden
constexpr std::string_view first_page = "\033[?25h\033[?1049l";

} // namespace

Screen::Screen() {
    tcgetattr(STDIN_FILENO, &saved_termios_);
    termios raw = saved_termios_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    install_signal_handlers();
    update_size();
    write_all(other_page);
}

Screen::~Screen() {
    write_all(first_page);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_termios_);
}

void Screen::update_size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
    rows_ = size.ws_row;
    columns_ = size.ws_col;
}

void Screen::show(const std::vector<std::string>& lines, size_t bright) {
    std::string page = "\033[H";
    for (size_t i = 0; i < rows_; ++i) {
        if (i > 0) page += "\r\n";
        if (i < lines.size()) {
            if (i == bright) page += "\033[7m";
            page += first_columns(lines[i], columns_);
            if (i == bright) page += "\033[0m";
        }
        page += "\033[K";
    }
    write_all(page);
}

char Screen::key(int limit_ms) {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    const int n = poll(&in, 1, limit_ms);
    if (resized != 0) {
        resized = 0;
        update_size();
    }
    if (quit_requested != 0) return 'q';
    if (n <= 0) return 0;
    char bytes[8] = {};
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes - 1);
    if (got <= 0) return 'q';
    const std::string_view text(bytes, static_cast<size_t>(got));
    if (text == "\033[A") return 'U';
    if (text == "\033[B") return 'D';
    if (text == "\033[5~") return 'P';
    if (text == "\033[6~") return 'N';
    return text[0];
}

} // namespace zipmpi::tool

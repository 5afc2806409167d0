// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program/script.hpp"

#include <fstream>
#include <sstream>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr size_t max_line = 4096;

std::string search_path_for(const std::string& name, const std::string& search_path) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
    std::istringstream folders(search_path);
    for (std::string folder; std::getline(folders, folder, ':');)
        if (std::string file = (folder.empty() ? "." : folder) + "/" + name; access(file.c_str(), X_OK) == 0)
            return file;
    return {};
}

// The program in the arguments of env(1): "-S python3 -u", "NAME=VALUE python3".
std::string program_of_env(std::istringstream& words) {
    for (std::string word; words >> word;)
        if (word[0] != '-' && word.find('=') == std::string::npos) return word;
    return {};
}

} // namespace

Interpreter read_interpreter(const std::string& path, const std::string& search_path) {
    std::ifstream file(path, std::ios::binary);
    char begin[2] = {};
    if (!file.read(begin, sizeof begin) || begin[0] != '#' || begin[1] != '!') return {};
    std::string line(max_line, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(file.gcount()));
    line.resize(std::min(line.find('\n'), line.size()));
    std::istringstream words(line);
    Interpreter out;
    words >> out.name;
    if (line == out.name + '\r' || line == ' ' + out.name + '\r')
        out.name += '\r'; // part of the name for the kernel
    out.path = search_path_for(out.name, {});
    if (out.name.ends_with("/env") && !out.path.empty())
        if (const std::string name = program_of_env(words); !name.empty()) {
            out.name = name;
            out.path = search_path_for(name, search_path);
        }
    out.kind = out.path.empty() ? Interpreter::Kind::missing : Interpreter::Kind::found;
    return out;
}

std::string home_of_r(const std::string& program) {
    const size_t name = program.rfind('/') + 1;
    if (program.compare(name, std::string::npos, "R") != 0 &&
        program.compare(name, std::string::npos, "Rscript") != 0)
        return {};
    std::ifstream start_script(program.substr(0, name) + "R");
    const std::string assignment = "R_HOME_DIR=/";
    for (std::string line; std::getline(start_script, line);)
        if (line.starts_with(assignment)) return line.substr(assignment.size() - 1);
    return {};
}

} // namespace zipmpi::launch

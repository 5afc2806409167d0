// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench.hpp"

#include "base/diagnostic.hpp"
#include "doctor/doctor.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

// In an installation, or in the sources of a build folder with tests.
std::string compare_script() {
    for (std::string path :
         {own_folder() + "/../" ZIPMPI_DATA_DIR "/zipmpi/bench/compare", std::string(ZIPMPI_BENCH_SOURCE)})
        if (access(path.c_str(), R_OK) == 0) return path;
    return {};
}

} // namespace

int run_bench(const std::vector<std::string>& arguments) {
    const std::string compare = compare_script();
    std::vector<std::string> args{"python3", "-B", compare, "--bin", own_folder(), "--out", "zipmpi-bench"};
    args.insert(args.end(), arguments.begin(), arguments.end()); // later options override earlier ones
    std::vector<char*> argv;
    argv.reserve(args.size() + 1);
    for (std::string& w : args) argv.push_back(w.data());
    argv.push_back(nullptr);
    if (!compare.empty()) execvp(argv[0], argv.data());
    report({"the comparison cannot be started", "zipmpi bench",
            compare.empty() ? "bench/compare is not part of this installation"
                            : std::string("python3: ") + std::strerror(errno),
            "install python3 (3.11 or newer), or ZipMPI with its folder share/zipmpi/bench"},
           "zipmpi");
    return 1;
}

} // namespace zipmpi::tool

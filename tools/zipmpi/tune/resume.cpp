// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tune/resume.hpp"

#include "json.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <utility>

namespace zipmpi::tool {
namespace {

constexpr time_t most_age = time_t{24} * 3600; // seconds

bool is_recent(const std::string& file) {
    struct stat st {};
    return stat(file.c_str(), &st) == 0 && std::time(nullptr) - st.st_mtime < most_age;
}

} // namespace

std::string to_line(const Measurement& m) {
    Json costs;
    proto::each_constant(m.costs,
                         [&](const char* constant, const uint64_t& value) { costs[constant] = value; });
    const Json line{{"pair", static_cast<int>(m.where.pair)},
                    {"first", m.where.first},
                    {"second", m.where.second},
                    {"costs", costs},
                    {"cma_copies", m.cma_works},
                    {"rounds", m.rounds},
                    {"spread", m.spread},
                    {"misfit", m.misfit},
                    {"detail", m.detail}};
    return line.dump();
}

bool from_line(const std::string& line, Measurement& m) {
    const Json j = Json::parse(line);
    if (!j.is_object()) return false;
    try {
        const int pair = j.at("pair").get<int>();
        if (pair < 0 || static_cast<size_t>(pair) >= hwtopo::pair_classes) return false;
        m.where = {static_cast<hwtopo::PairClass>(pair), j.at("first").get<int>(), j.at("second").get<int>()};
        proto::each_constant(m.costs, [&](const char* constant, uint64_t& value) {
            value = j.at("costs").at(constant).get<uint64_t>();
        });
        m.cma_works = j.at("cma_copies").get<bool>();
        m.rounds = j.at("rounds").get<int>();
        m.spread = j.at("spread").get<double>();
        m.misfit = j.at("misfit").get<double>();
        m.detail = j.at("detail").get<std::string>();
    } catch (const JsonError&) { // truncated, or of another version
        return false;
    }
    return true;
}

ResumeFile::ResumeFile(std::string file, bool take_over)
    : file_(std::move(file)) {
    if (!take_over || !is_recent(file_)) {
        discard();
        return;
    }
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);)
        if (Measurement m; from_line(line, m)) all_.push_back(std::move(m));
    resumed_ = all_.size();
}

const Measurement* ResumeFile::find(const MeasuredPair& where) const {
    for (const Measurement& m : all_)
        if (m.where.pair == where.pair && m.where.first == where.first && m.where.second == where.second)
            return &m;
    return nullptr;
}

void ResumeFile::add(const Measurement& m) {
    all_.push_back(m);
    std::ofstream(file_, std::ios::app) << to_line(m) << '\n';
}

void ResumeFile::discard() {
    std::error_code none;
    std::filesystem::remove(file_, none);
}

} // namespace zipmpi::tool

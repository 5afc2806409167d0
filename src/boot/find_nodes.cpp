// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank is on which node, for a job on several hosts under a launcher of others. Asked by one rank per
// node only.
#include "boot/host_groups.hpp"
#include "boot/job.hpp"
#include "boot/problem_here.hpp"
#include "boot/process_mapping.hpp"

#include <unordered_map>

namespace zipmpi::boot {
namespace {

// Names of nodes -> numbers in the order in which they come.
template <class Name>
class Numbers {
  public:
    uint32_t of(const Name& name) {
        return numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size())).first->second;
    }
    [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(numbers_.size()); }

  private:
    std::unordered_map<Name, uint32_t> numbers_;
};

bool by_launcher(const Job& job, Nodes& nodes) {
    std::vector<int64_t> names;
    if (!node_of_each(job.mapping, job.size, names)) {
        names.clear();
        for (int r = 0; r < job.size; ++r) names.push_back(job.launcher->node_of(r));
    }
    Numbers<int64_t> numbers;
    for (const int64_t name : names) {
        if (name < 0) return false;
        nodes.node_of.push_back(numbers.of(name));
    }
    nodes.count = numbers.count();
    return true;
}

bool by_host_names(const Job& job, Nodes& nodes) {
    Numbers<std::string> numbers;
    nodes.node_of.clear();
    for (int r = 0; r < job.size; ++r) {
        std::string name;
        if (!host_of(job, r, name)) return false;
        nodes.node_of.push_back(numbers.of(name));
    }
    nodes.count = numbers.count();
    return true;
}

} // namespace

bool find_nodes(const Job& job, Nodes& nodes, Problem& why) {
    if (!by_launcher(job, nodes) && !by_host_names(job, nodes)) {
        why = problem_of_rank(job.rank, job.size, "this job spans several hosts, but not all are known",
                              "the launcher does not say which rank is on which host",
                              "start the program with a launcher that offers PMI_process_mapping or PMIx, "
                              "such as ZipMPI's mpiexec, mpiexec.hydra or srun");
        return false;
    }
    nodes.own = nodes.node_of[static_cast<size_t>(job.rank)];
    return true;
}

} // namespace zipmpi::boot

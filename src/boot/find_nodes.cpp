// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Node of each rank, for a job on several hosts under another launcher. Called by one rank per node.
#include "boot/host_groups.hpp"
#include "boot/job.hpp"
#include "boot/local_diagnostic.hpp"
#include "boot/process_mapping.hpp"

#include <unordered_map>

namespace zipmpi::boot {
namespace {

// Maps node names to dense ids in order of first appearance.
template <class Name>
class DenseIds {
  public:
    uint32_t id_of(const Name& name) {
        return ids_.try_emplace(name, static_cast<uint32_t>(ids_.size())).first->second;
    }
    [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(ids_.size()); }

  private:
    std::unordered_map<Name, uint32_t> ids_;
};

bool nodes_from_launcher(const Job& job, segment::NodeTable& nodes) {
    std::vector<int64_t> names;
    if (!parse_rank_nodes(job.mapping, job.size, names)) {
        names.clear();
        for (int r = 0; r < job.size; ++r) names.push_back(job.launcher->node_of(r));
    }
    DenseIds<int64_t> numbers;
    for (const int64_t name : names) {
        if (name < 0) return false;
        nodes.node_of.push_back(numbers.id_of(name));
    }
    nodes.count = numbers.count();
    return true;
}

bool nodes_from_host_names(const Job& job, segment::NodeTable& nodes) {
    DenseIds<std::string> numbers;
    nodes.node_of.clear();
    for (int r = 0; r < job.size; ++r) {
        std::string name;
        if (!host_of(job, r, name)) return false;
        nodes.node_of.push_back(numbers.id_of(name));
    }
    nodes.count = numbers.count();
    return true;
}

} // namespace

bool find_nodes(const Job& job, segment::NodeTable& nodes, Diagnostic& why) {
    if (!nodes_from_launcher(job, nodes) && !nodes_from_host_names(job, nodes)) {
        why = rank_diagnostic(job.rank, job.size, "the hosts of this job cannot be determined",
                              "the launcher does not report which rank is on which host",
                              "start the program with a launcher that offers PMI_process_mapping or PMIx, "
                              "such as ZipMPI's mpiexec, mpiexec.hydra or srun");
        return false;
    }
    nodes.own = nodes.node_of[static_cast<size_t>(job.rank)];
    return true;
}

} // namespace zipmpi::boot

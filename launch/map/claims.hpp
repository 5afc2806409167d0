// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which CPUs of this host belong to which job of this user (docs/decisions/0042). One file per user in
// /dev/shm; a claim is a record lock on the byte of a CPU, so the kernel takes it back when its holder dies,
// however that happens. The last one to leave removes the file.
#pragma once

#include "launch/map/units.hpp"

#include "os/fd.hpp"

namespace zipmpi::launch {

class CpuClaims {
  public:
    CpuClaims() = default;
    CpuClaims(CpuClaims&&) = default;
    CpuClaims& operator=(CpuClaims&&) = delete;
    ~CpuClaims() { close(); }

    // False: there is no such file and none can be made, or somebody else's is in its place. Then nothing is
    // known of other jobs, and every claim succeeds. job: daemons of one job have the same number.
    bool open(const std::string& path, uint64_t job);

    // Gives everything back, and removes the file if nobody else has it open.
    void close();

    struct Others {
        CpuList own,
            lent; // CPUs that other holders have as their own; those they use until somebody needs them
        CpuList siblings; // the part of `own` that is held by other daemons of this job
    };
    [[nodiscard]] Others others() const;

    // Looks and claims between these two are seen by others as one. Who waits too long goes on without: a
    // holder may be stopped.
    void enter();
    void leave();

    // All of them or none; `conflict` is one that another holder has.
    bool take(CpuList cpus, int& conflict);
    bool add(int cpu); // one more; false: another holder has it
    // As many as nobody else has; returns those.
    CpuList borrow(const CpuList& cpus);
    void give_back_lent();
    void give_back(); // all that is held

    // Readable when claims of others may have changed; -1: it cannot be watched. Read it with changed().
    int watch();
    bool changed();

  private:
    void note(const CpuList& cpus) const;
    bool lock(uint64_t first, uint64_t count, short type) const;
    [[nodiscard]] CpuList locked(uint64_t base) const;

    os::Fd fd_, notes_;
    std::string path_;
    uint64_t job_ = 0;
};

std::string claims_path(); // of this user
// Removes the file if nobody holds it: after a holder was killed.
void remove_unused_claims(const std::string& path);

} // namespace zipmpi::launch

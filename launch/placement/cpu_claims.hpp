// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Registry of the CPUs that each job of this user has claimed on this host (docs/decisions/0042). One file
// per user in /dev/shm; a claim is a record lock on the byte of a CPU, so the kernel releases it when its
// holder dies. The last holder removes the file. Ranks without a CPU of their own are locked bytes, too, so
// that others can count them.
#pragma once

#include "launch/placement/hardware_units.hpp"

#include "os/fd.hpp"

namespace zipmpi::launch {

class CpuClaims {
  public:
    CpuClaims() = default;
    CpuClaims(CpuClaims&&) = default;
    CpuClaims& operator=(CpuClaims&&) = delete;
    ~CpuClaims() { close(); }

    // Returns false if there is no such file and none can be created, or if another user owns it. Then other
    // jobs are unknown and every claim succeeds. job: equal for all daemons of a job.
    bool open(const std::string& path, uint64_t job);

    // Releases all claims, and removes the file if no other process has it open.
    void close();

    struct OtherClaims {
        CpuList own,
            lent;         // CPUs that other holders own; CPUs they use until another job needs them
        CpuList siblings; // subset of `own` held by other daemons of this job
    };
    [[nodiscard]] OtherClaims other_claims() const;

    // Reads and claims between begin_update() and end_update() are atomic for other jobs. After a timeout
    // begin_update() proceeds without the lock: its holder may be stopped.
    void begin_update();
    void end_update();

    // All of them or none; `conflict` is one that another holder has.
    bool claim(CpuList cpus, int& conflict);
    bool claim_one(int cpu); // one more; false if another holder has it
    // Claims the CPUs that no other holder has; returns those.
    CpuList borrow(const CpuList& cpus);
    void release_borrowed();
    void release_all(); // all that is held

    // Announces the number of ranks of this holder that share these CPUs and have not claimed one.
    void announce_ranks(uint32_t ranks, const CpuList& cpus);
    // CPUs among these that other holders own, plus ranks that they have announced there. Stops at `limit`,
    // so that the cost does not grow with the number of holders.
    [[nodiscard]] uint32_t count_others(const CpuList& cpus, uint32_t limit) const;

    // Readable when claims of others may have changed; -1 if they cannot be watched. Read it with changed().
    int watch_fd();
    bool has_changed();

  private:
    void write_owner(const CpuList& cpus) const;
    bool set_lock(uint64_t first, uint64_t count, short type) const;
    void lock_free_bytes(uint64_t first, uint64_t end, uint64_t count) const;
    [[nodiscard]] CpuList locked_cpus(uint64_t base) const;

    os::Fd fd_, inotify_;
    std::string path_;
    uint64_t job_ = 0;
};

std::string claims_path(); // of this user
// Removes the file if no process holds it, after a holder was killed.
void remove_unused_claims(const std::string& path);

} // namespace zipmpi::launch

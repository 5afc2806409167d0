#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: inject_defect.py DEFECT SOURCE OUT

Writes a copy of SOURCE, a file of src, with an injected defect. Each replaced text must occur exactly once.
"""
import pathlib
import sys

DEFECTS = {
    "delivers_twice": [("if (f.in.has_seen(sequence)) {", "if (sequence > f.in.deliver_next && f.in.has_seen(sequence)) {"),
                       ("if (sequence == in.deliver_next) {", "if (sequence <= in.deliver_next) {")],
    "delivers_early": [("if (sequence == in.deliver_next) {", "if (f.index == 0) {")],
    "wrong_bytes": [("m.early_data.data() + offset, data.data()", "m.early_data.data(), data.data()")],
    "completes_twice": [("f.out.abandoned.push_back(std::move(m));",
                         "ended.push_back(m->memory.operation), f.out.abandoned.push_back(std::move(m));")],
    "never_probes": [("!queue_.empty() || open_chunked_sends_ != 0;", "!queue_.empty();")],
    "never_retransmits": [("        sender_.retransmit(*unacked);\n        ++happened;", "        ++happened;")],
    "waits_for_failed_peer": [("if (m.flow->failed && !m.chunks.complete()) {", "if (m.length == ~uint64_t{0}) {")],
    "never_disconnects": [("path.controls_confirmed = std::max(path.controls_confirmed, controls_confirmed);", ";")],
    "use_after_free": [("f.out.abandoned.push_back(std::move(m));", "m.reset();")],
    # tests/simulation
    "never_reconnects": [("        static_cast<void>(network_->connect_to(gateway_id(locator_.job_size, path)));\n", "")],
    "ignores_credit": [("if (!path.up || (path.unacked_bytes != 0 && path.unacked_bytes + bytes > limits_.path_bytes))", "if (!path.up)")],
    "no_route_updates": [("if (id >= config_.job_size) return;", "if (id >= 0) return;")],
    "keeps_unsendable_ack": [("        if (!paths_.has_path(f.route)) f.due_ack = {}; // it cannot be sent\n", "")],
    "delivers_duplicates": [("if (f.in.has_seen(sequence)) {", "if (sequence > f.in.deliver_next && f.in.has_seen(sequence)) {"),
                            ("if (sequence - in.deliver_next > wire::flow_window) {", "if (sequence > in.deliver_next + wire::flow_window) {"),
                            ("if (sequence == in.deliver_next) {", "if (sequence <= in.deliver_next) {")],
    "never_releases_buffer": [("    subtract(counters_.buffered_bytes, t.bytes);\n", "")],
    "completes_batched_twice": [("protocols_.send_finished(operation, OpStatus::done);",
                                 "protocols_.send_finished(operation, OpStatus::done), protocols_.send_finished(operation, OpStatus::done);")],
    "sleeps_without_deadline": [("std::min(endpoint_.next_deadline_ns(), paths_.next_retry_ns())", "paths_.next_retry_ns()")],
    "forgets_pending_gets": [("return owner_of(key) == static_cast<int>(owner); }", "return owner_of(key) == static_cast<int>(owner) && owner > job_.size; }")],
    "forgets_absent_ranks": [("    if (remote_.absent) remote_.absent();\n", "")],
    "requests_from_failed_rank": [("failed_owners_.insert(owner);", "")],
    "leaves_fence_early": [("if (!fence_.is_complete() || fence_.is_sent()) return;", "if (fence_.is_sent()) return;")],
    "loses_remote_value": [("g.request, found ? &text : nullptr);", "g.request, nullptr);")],
    "announces_failures_late": [("    announce_failures();\n    broadcast_(event);", "    broadcast_(event);")],
    "gather_waits_for_failed_rank": [("        a->second.missing.remove(ranks);\n", "")],
    "gather_forgets_failures": [("        a->second.missing.remove(failed_);\n", "")],
    "gather_loses_contribution": [("        combined.flags &= e.flags;\n", "")],
    "gather_loses_ranks": [("        combined.ranks.add(e.ranks);\n", "")],
    "gather_sends_early": [("    if (!a->second.missing.empty()) return;", "    if (a->second.missing.size() > 1) return;")],
    "counts_other_failures": [("event.failed = failures();", "event.failed = failures() + (failures() > 1 ? 1 : 0);")],
    # schedules/
    "no_barrier": [("        os::global_membarrier();\n", "")],
    "no_final_poll": [("if (engine.progress_all() == 0 && engine.faults().poll() == 0 &&\n"
                      "        (info.final_check == nullptr || !info.final_check(info.waiter))) {", "{")],
    "forgets_polled_sender": [("    draining_.push_back(evicted);\n", "")],
    "no_descriptor_handover": [("own_.block.sleepers.load(std::memory_order_seq_cst) > 1",
                              "own_.block.futex_sleepers.load(std::memory_order_seq_cst) != 0")],
    "no_wakeup_notification": [("if (block.descriptor_sleepers.load(std::memory_order_seq_cst) != 0) socket_.notify(address);", "")],
    "enters_during_write": [(" && (now & overtaken) == 0)", ")")],
    "no_cell_request": [("    own_.block.waits_for_cell.store(1, std::memory_order_seq_cst);\n", "")],
    "reclaims_cells_early": [("std::memory_order_seq_cst) == cells_[cell].generation;",
                                "std::memory_order_seq_cst) <= cells_[cell].generation;")],
    "ignores_copy_number": [("word >> 32 != sequence || ", "(word >> 32 != sequence && sequence == 0) || ")],
    "claims_without_exchange": [("    } while (!slot.taken.compare_exchange_weak(word, word + (from_front ? 1U << 16 : 1U),\n"
                                 "                                               std::memory_order_acq_rel, std::memory_order_acquire));",
                                 "    } while (false);\n    slot.taken.store(word + (from_front ? 1U << 16 : 1U), std::memory_order_release);")],
    "sleeps_after_last_exit": [("entries() == seen && is_inside())", "entries() == seen && (is_inside() || true))")],
    "leaves_sleeper": [("if (state == parked && now -", "if (now -")],
    "enters_beside_readers": [("(mode == LockMode::shared || writers == ticket)", "(mode == LockMode::shared || writers <= ticket)")],
    "yields_without_release": [("        release(after - 1);\n", "        l_.writers.store(after, order);\n")],
    "no_waiter_name": [("        w.slot().store(w.waiter_id, std::memory_order_seq_cst);\n", "")],
}


def main(defect: str, source: str, out: str) -> int:
    text = pathlib.Path(source).read_text(encoding="utf-8")
    for old, new in DEFECTS[defect]:
        if text.count(old) != 1:
            print(f"{source}: '{old}' occurs {text.count(old)} times; adapt the defect to the code", file=sys.stderr)
            return 1
        text = text.replace(old, new)
    pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(out).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

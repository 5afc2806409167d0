#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: plant.py DEFECT SOURCE OUT

Writes a copy of SOURCE, a file of src, with a planted defect. Each old text must occur exactly once.
"""
import pathlib
import sys

DEFECTS = {
    "delivers_twice": [("if (sequence < f.deliver_next) return true;", ""),
                       ("if (sequence == f.deliver_next) {", "if (sequence <= f.deliver_next) {")],
    "delivers_early": [("if (sequence == f.deliver_next) {", "if (f.index == 0) {")],
    "wrong_bytes": [("m.early.data() + offset, data.data()", "m.early.data(), data.data()")],
    "completes_twice": [("f.given_up.push_back(std::move(m));",
                         "ended.push_back(m->memory.operation), f.given_up.push_back(std::move(m));")],
    "never_asks": [("||\n           open_long_sends_ != 0;", ";")],
    "never_resends": [("        send_again(*piece);\n        ++happened;", "        ++happened;")],
    "waits_for_the_dead": [("if (m.flow->failed && m.missing != 0) {", "if (m.length == ~uint64_t{0}) {")],
    "never_leaves": [("l.confirmed = std::max(l.confirmed, v.frame.sequence);", "")],
    "touches_the_freed": [("f.given_up.push_back(std::move(m));", "m.reset();")],
    # schedules/
    "no_barrier": [("        os::barrier_for_all();\n    }\n    leaving_settled_", "    }\n    leaving_settled_")],
    "no_last_look": [("if (lane.progress_all() == 0 && lane.look_for_news() == 0 &&\n"
                      "        (note.last_look == nullptr || !note.last_look(note.waiter))) {", "{")],
    "forgets_who_was_watched": [("        leaving_.push_back(gone);\n", "")],
    "hands_over_to_nobody": [("block_->sleepers.load(std::memory_order_seq_cst) > 1",
                              "block_->futex_sleepers.load(std::memory_order_seq_cst) != 0")],
    "rings_no_bell": [("if (block.descriptor_sleepers.load(std::memory_order_seq_cst) != 0) bell_.ring(bell);", "")],
    "enters_beside_a_writer": [(" && (now & passed) == 0)", ")")],
    "asks_for_no_cell": [("        block_->wants_cell.store(1, std::memory_order_seq_cst);\n", "")],
    "takes_cells_back_early": [("std::memory_order_seq_cst) == made_[cell].turn;",
                                "std::memory_order_seq_cst) <= made_[cell].turn;")],
    "leaves_no_name": [("        w.slot().store(w.name, std::memory_order_seq_cst);\n", "")],
}


def main(defect: str, source: str, out: str) -> int:
    text = pathlib.Path(source).read_text(encoding="utf-8")
    for old, new in DEFECTS[defect]:
        if text.count(old) != 1:
            print(f"{source}: '{old}' occurs {text.count(old)} times; adapt the defect to the code", file=sys.stderr)
            return 1
        text = text.replace(old, new)
    pathlib.Path(out).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

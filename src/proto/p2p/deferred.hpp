// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a lane runs besides its operations. Apart from the lane itself, so that a header with an object of
// this kind does not need all that a lane is made of.
#pragma once

namespace zipmpi::proto {

// Work that must not run inside the completion of an operation, where matching is between two states.
struct Deferred {
    void (*run)(Deferred&) = nullptr;
    bool waiting = false; // in a lane's list
    Deferred* next = nullptr;
    Deferred* previous = nullptr;
};

// Something that is looked at in every round of progress.
struct Watcher {
    int (*look)(Watcher&) = nullptr; // returns how many things happened; may end the watch
    bool watched = false;
    Watcher* next = nullptr;
    Watcher* previous = nullptr;
};

} // namespace zipmpi::proto

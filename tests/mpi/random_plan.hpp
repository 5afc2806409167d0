// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The plan of a round of random messages, and the model of MPI's matching rules with which the result is
// compared. All ranks draw the messages from one seed; each draws its own receives. Makes no MPI calls.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mpi.h>
#include <random>
#include <utility>
#include <vector>

namespace random_messages {

using Random = std::mt19937;
using Bytes = std::vector<unsigned char>;

inline size_t index(int i) { return static_cast<size_t>(i); }
inline int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

constexpr int room = 320000; // no message is longer
enum Mode { standard, synchronous, buffered, ready, modes };

struct Message {
    int source, destination, tag, bytes;
    int number; // index among the messages of its source to its destination
    int mode;
    bool persistent, blocking;
};

struct Receive {
    int source, tag; // arguments of the receive
    unsigned char* buffer = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    const Message* got = nullptr; // message according to the model
};

struct Shape {
    int messages; // per round
    int largest;  // bytes
    int first_tag;
    bool any_tag; // the communicator has no other user, so MPI_ANY_TAG is possible
};

constexpr int tags[] = {0, 1, 2, 777};
constexpr int unused_tag_offset = 99; // first_tag plus this is the tag of no message

inline int random_bytes(Random& random, int largest) {
    int bytes = below(random, 3000);
    switch (below(random, 8)) {
    case 0:
        bytes = below(random, 6);
        break;
    case 1:
        bytes = 32000 + below(random, 2000); // about a cell
        break;
    case 2:
        bytes = below(random, room);
        break;
    case 3:
        bytes = 36 + below(random, 8); // about a slot
        break;
    default:
        break;
    }
    return std::min(bytes, largest);
}

inline std::vector<Message> plan_messages(Random& random, int ranks, const Shape& shape) {
    std::vector<Message> plan;
    std::vector<int> numbers(index(ranks * ranks));
    for (int i = 0; i < shape.messages; ++i) {
        Message m{};
        m.source = below(random, ranks);
        m.destination = below(random, ranks);
        m.tag = shape.first_tag + tags[below(random, 4)];
        m.bytes = random_bytes(random, shape.largest);
        m.mode = below(random, modes);
        m.persistent = below(random, 4) == 0;
        m.blocking = below(random, 4) == 0;
        m.number = numbers[index(m.source * ranks + m.destination)]++;
        plan.push_back(m);
    }
    return plan;
}

enum Style { exact, any_source, any_tag, any_both, exact_then_any, styles };

// One receive for each message to this rank, in posting order. Exact ones come before wildcards, which might
// take their messages otherwise.
inline std::vector<Receive> plan_receives(const std::vector<Message>& plan, int rank, const Shape& shape,
                                          Random& random) {
    const auto style = static_cast<Style>(below(random, shape.any_tag ? styles : any_tag));
    std::vector<Receive> first;
    std::vector<Receive> last;
    for (const Message& m : plan) {
        if (m.destination != rank) continue;
        Receive r{};
        const bool wild = style == any_both || (style == exact_then_any && below(random, 2) == 0);
        r.source = wild || style == any_source ? MPI_ANY_SOURCE : m.source;
        r.tag = wild || style == any_tag ? MPI_ANY_TAG : m.tag;
        (wild ? last : first).push_back(r);
    }
    std::shuffle(first.begin(), first.end(), random);
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

// Contents of a message: a section of one long random text. Its start depends on everything that
// distinguishes the message from others.
class Text {
  public:
    Text()
        : all_(room + offsets) {
        Random random(1);
        for (unsigned char& byte : all_) byte = static_cast<unsigned char>(random());
    }
    const unsigned char* of(const Message& m) const {
        const unsigned mix =
            static_cast<unsigned>(m.number) * 7919 + static_cast<unsigned>(m.source) * 104729 +
            static_cast<unsigned>(m.destination) * 1299709 + static_cast<unsigned>(m.tag) * 15485863;
        return all_.data() + mix % offsets;
    }

  private:
    static constexpr size_t offsets = 65521;
    Bytes all_;
};

// Determines the message of each receive. Messages with one source and tag are received in sending order, by
// receives in posting order, so that source and tag of the statuses identify the message. Returns the error,
// or null.
inline const char* assign(std::vector<Receive>& receives, const std::vector<Message>& plan, int rank) {
    std::map<std::pair<int, int>, std::vector<const Message*>> sent; // by source and tag, the first one last
    for (auto m = plan.rbegin(); m != plan.rend(); ++m)
        if (m->destination == rank) sent[{m->source, m->tag}].push_back(&*m);
    for (Receive& r : receives) {
        const int source = r.status.MPI_SOURCE;
        const int tag = r.status.MPI_TAG;
        if ((r.source != MPI_ANY_SOURCE && r.source != source) || (r.tag != MPI_ANY_TAG && r.tag != tag))
            return "a receive got a message that it does not match";
        auto& waiting = sent[{source, tag}];
        if (waiting.empty()) return "a message that no rank sent";
        r.got = waiting.back();
        waiting.pop_back();
    }
    return nullptr;
}

// Two messages of one source: the later one must not be in a receive that was posted earlier and matches the
// earlier one.
inline bool overtaken(const std::vector<Receive>& receives) {
    for (size_t early = 0; early < receives.size(); ++early)
        for (size_t late = early + 1; late < receives.size(); ++late) {
            const Receive& a = receives[early];
            const Receive& b = receives[late];
            const bool fits = a.tag == MPI_ANY_TAG || a.tag == b.got->tag;
            if (fits && a.got->source == b.got->source && a.got->number > b.got->number) return true;
        }
    return false;
}

} // namespace random_messages

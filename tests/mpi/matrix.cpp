// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The communication matrix against the messages that the program has sent: the variables of each rank, and
// the file at the end, which is named through MPI_T. Point-to-point exactly, collectives by lower bounds.
// With the argument "sizes" (and ZIPMPI_MATRIX_SIZES) also the histogram of sizes, without it its absence.
#include "check.hpp"

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

struct Traffic {
    uint64_t messages = 0;
    uint64_t bytes = 0;
};

// Shorter and longer than every limit at which the protocol changes.
constexpr int lengths[] = {0, 8, 40, 200, 3000, 30000, 70000, 600000};

int repeats(int from, int to, int length) { return (from * 7 + to * 3 + length) % 3; }

Traffic expected(int from, int to) {
    Traffic t;
    for (const int length : lengths) {
        const auto n = static_cast<uint64_t>(repeats(from, to, length));
        t.messages += 3 * n;
        t.bytes += 3 * n * static_cast<uint64_t>(length);
    }
    return t;
}

// Contiguous, noncontiguous, and synchronous; on two communicators.
void send_and_receive(MPI_Comm other) {
    std::vector<char> out(1 << 21);
    std::vector<char> in(1 << 21);
    std::vector<MPI_Request> requests;
    const auto add = [&] { return &requests.emplace_back(MPI_REQUEST_NULL); };
    for (const int length : lengths) {
        MPI_Datatype gaps = MPI_DATATYPE_NULL;
        MPI_Type_vector(length / 4, 4, 8, MPI_CHAR, &gaps);
        MPI_Type_commit(&gaps);
        for (int peer = 0; peer < size_; ++peer) {
            requests.clear();
            const int coming = 3 * repeats(peer, rank_, length);
            const int going = repeats(rank_, peer, length);
            for (int i = 0; i < coming; ++i)
                MPI_Irecv(in.data(), length, MPI_CHAR, peer, i, i % 3 == 2 ? other : MPI_COMM_WORLD, add());
            for (int i = 0; i < going; ++i) {
                MPI_Isend(out.data(), length, MPI_CHAR, peer, 3 * i, MPI_COMM_WORLD, add());
                MPI_Isend(out.data(), 1, gaps, peer, 3 * i + 1, MPI_COMM_WORLD, add());
                MPI_Issend(out.data(), length, MPI_CHAR, peer, 3 * i + 2, other, add());
            }
            MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        }
        MPI_Type_free(&gaps);
    }
}

class Variable { // MPI_T performance variable bound to a communicator
  public:
    Variable(MPI_T_pvar_session session, const char* name, int cls, MPI_Comm comm)
        : session_(session) {
        int index = -1;
        int count = 0;
        CHECK(MPI_T_pvar_get_index(name, cls, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &handle_, &count) == MPI_SUCCESS);
        values_.resize(static_cast<size_t>(count));
        CHECK(MPI_T_pvar_start(session, handle_) == MPI_SUCCESS);
    }
    const std::vector<unsigned long long>& read() {
        CHECK(MPI_T_pvar_read(session_, handle_, values_.data()) == MPI_SUCCESS);
        return values_;
    }

  private:
    MPI_T_pvar_session session_;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
    std::vector<unsigned long long> values_;
};

// Messages of the program with one of the long lengths, each of which has a class of its own that collectives
// do not use.
constexpr int long_lengths[] = {3000, 30000, 70000, 600000};
uint64_t class_of(int length) { return std::bit_floor(static_cast<uint64_t>(length)); }

uint64_t expected_of_length(int from, int length) {
    uint64_t messages = 0;
    for (int to = 0; to < size_; ++to) messages += 3 * static_cast<uint64_t>(repeats(from, to, length));
    return messages;
}

std::vector<Variable> variables_of_sizes(MPI_T_pvar_session session) {
    std::vector<Variable> variables;
    for (const int length : long_lengths)
        variables.emplace_back(session, ("size." + std::to_string(class_of(length))).c_str(),
                               MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    return variables;
}

void check_sizes(std::vector<Variable>& variables, bool counted) {
    for (size_t i = 0; i < variables.size(); ++i)
        CHECK(variables[i].read()[0] == (counted ? expected_of_length(rank_, long_lengths[i]) : 0));
}

// By smallest size of a class, as in the file.
bool sizes_are_correct(std::map<uint64_t, uint64_t>& sizes, bool counted) {
    if (!counted) return sizes.empty();
    for (const int length : long_lengths) {
        uint64_t want = 0;
        for (int from = 0; from < size_; ++from) want += expected_of_length(from, length);
        if (sizes[class_of(length)] != want) return false;
    }
    return true;
}

void name_file(const std::string& path) {
    int index = -1;
    int count = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_get_index("matrix.file", &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS);
    CHECK(static_cast<size_t>(count) > path.size());
    CHECK(MPI_T_cvar_write(handle, path.c_str()) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
}

void check_variables(Variable& messages, Variable& bytes) {
    for (int to = 0; to < size_; ++to) {
        const Traffic want = expected(rank_, to);
        CHECK(messages.read()[static_cast<size_t>(to)] == want.messages);
        CHECK(bytes.read()[static_cast<size_t>(to)] == want.bytes);
    }
}

// After MPI_Finalize: errors set the exit status.
bool file_is_correct(const std::string& path, bool counted) {
    std::ifstream file(path);
    std::string line;
    std::map<std::pair<int, int>, Traffic> sent;
    std::pair<int, int> last{-1, -1};
    uint64_t collective_messages = 0;
    std::map<uint64_t, uint64_t> sizes;
    if (!std::getline(file, line) || line != "zipmpi-matrix 1") return false;
    if (!std::getline(file, line) || line != "ranks " + std::to_string(size_)) return false;
    while (std::getline(file, line)) {
        unsigned long long least = 0;
        unsigned long long messages = 0;
        if (std::sscanf(line.c_str(), "# size %llu %llu", &least, &messages) == 2) sizes[least] = messages;
        if (line[0] == '#') continue;
        int from = 0;
        int to = 0;
        Traffic t;
        uint64_t coll_messages = 0;
        uint64_t coll_bytes = 0;
        std::istringstream words(line);
        if (!(words >> from >> to >> t.messages >> t.bytes >> coll_messages >> coll_bytes)) return false;
        if (std::pair(from, to) <= last) return false; // sorted
        last = {from, to};
        sent[last] = t;
        collective_messages += coll_messages;
    }
    for (int from = 0; from < size_; ++from)
        for (int to = 0; to < size_; ++to) {
            const Traffic want = expected(from, to);
            const Traffic got = sent[{from, to}];
            if (got.messages == want.messages && got.bytes == want.bytes) continue;
            std::fprintf(stderr,
                         "%d to %d: %" PRIu64 " messages with %" PRIu64 " bytes, not %" PRIu64
                         " with %" PRIu64 "\n",
                         from, to, got.messages, got.bytes, want.messages, want.bytes);
            return false;
        }
    if (!sizes_are_correct(sizes, counted)) return false;
    return size_ == 1 ||
           collective_messages >= static_cast<uint64_t>(size_ - 1); // broadcast of the file name
}

std::string share_path() {
    char path[64] = {};
    if (rank_ == 0) std::snprintf(path, sizeof path, "/tmp/matrix_test.%d", static_cast<int>(getpid()));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    return path;
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    const Session session(&argc, &argv);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_T_pvar_session variables = MPI_T_PVAR_SESSION_NULL;
    CHECK(MPI_T_pvar_session_create(&variables) == MPI_SUCCESS);
    Variable messages(variables, "matrix.sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    Variable bytes(variables, "matrix.sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_WORLD);
    const bool counted = argc > 1 && std::string(argv[1]) == "sizes";
    std::vector<Variable> sizes = variables_of_sizes(variables);
    const std::string path = share_path();
    name_file(path);
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    send_and_receive(other);
    check_variables(messages, bytes);
    check_sizes(sizes, counted);
    MPI_Comm_free(&other);
    CHECK(MPI_T_pvar_session_free(&variables) == MPI_SUCCESS);
    MPI_T_finalize();
    MPI_Finalize();
    if (rank_ != 0) return 0;
    const bool right = file_is_correct(path, counted);
    unlink(path.c_str());
    if (right) std::printf("matrix: ok\n");
    return right ? 0 : 1;
}

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random views and accesses against a model of the file as an array. All ranks draw everything from one seed,
// so that each can predict what the others write. In a round every rank writes through its own view, whose
// blocks do not overlap those of others; then every rank reads through the view of some rank, and one rank
// checks the whole file. usage: random_files seed=N rounds=N
#include "files.hpp"

#include <algorithm>
#include <random>

namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<unsigned char>;

uint64_t below(Random& random, uint64_t n) { return random() % n; }

constexpr int blocks_most = 12;

// A tile of blocks, each of which belongs to one rank or to none; the file is tiled with it.
struct Tiling {
    MPI_Offset displacement = 0;
    int etype = 1; // bytes
    std::vector<int> lengths;
    std::vector<int> owners;
    int extent = 0;

    explicit Tiling(Random& random) {
        constexpr int etypes[] = {1, 2, 4, 8};
        etype = etypes[below(random, 4)];
        displacement = static_cast<MPI_Offset>(below(random, 3) * below(random, 5000));
        const auto blocks = 1 + below(random, blocks_most);
        const auto longest = below(random, 4) == 0 ? 3000 : below(random, 2) == 0 ? 200 : 4;
        for (uint64_t b = 0; b < blocks; ++b) {
            lengths.push_back(etype * static_cast<int>(1 + below(random, static_cast<uint64_t>(longest))));
            owners.push_back(static_cast<int>(below(random, static_cast<uint64_t>(size_ + 1))));
            extent += lengths.back();
        }
        for (int r = 0; r < size_; ++r) { // every rank has a block
            lengths.push_back(etype);
            owners.push_back(r);
            extent += etype;
        }
    }

    [[nodiscard]] MPI_Datatype filetype(int rank) const {
        std::vector<int> its_lengths;
        std::vector<MPI_Aint> places;
        int at = 0;
        for (size_t b = 0; b < lengths.size(); at += lengths[b++]) {
            if (owners[b] != rank) continue;
            its_lengths.push_back(lengths[b]);
            places.push_back(at);
        }
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Datatype tile = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(static_cast<int>(places.size()), its_lengths.data(), places.data(), MPI_BYTE,
                                 &type);
        MPI_Type_create_resized(type, 0, extent, &tile);
        MPI_Type_commit(&tile);
        MPI_Type_free(&type);
        return tile;
    }

    // File position of byte `index` of a rank's data.
    [[nodiscard]] std::vector<size_t> places(int rank) const {
        std::vector<size_t> result;
        size_t at = 0;
        for (size_t b = 0; b < lengths.size(); ++b)
            for (int i = 0; i < lengths[b]; ++i, ++at)
                if (owners[b] == rank) result.push_back(at);
        return result;
    }
};

// One access of one rank, in etypes of its view.
struct Access {
    int64_t offset;
    int count;
    Access(Random& random, size_t data_of_tile, int etype) {
        const uint64_t tiles = 1 + below(random, 4000 / (data_of_tile + 1) + 6);
        const uint64_t etypes = tiles * data_of_tile / static_cast<uint64_t>(etype);
        offset = static_cast<int64_t>(below(random, etypes + 1));
        count = static_cast<int>(below(random, etypes + 1));
    }
};

struct Model {
    Bytes bytes; // contents up to the end of the file
    unsigned char& at(size_t place) {
        if (place >= bytes.size()) bytes.resize(place + 1, 0);
        return bytes[place];
    }
};

size_t offset_of(const Tiling& t, const std::vector<size_t>& places, size_t index) {
    return static_cast<size_t>(t.displacement) + index / places.size() * static_cast<size_t>(t.extent) +
           places[index % places.size()];
}

enum AccessMethod { at, at_all, own, all, without_waiting, all_without_waiting, split, split_at, ways };

// Noncontiguous or contiguous memory.
struct Memory {
    MPI_Datatype type = MPI_BYTE; // of one etype
    size_t stride;
    size_t etype;
    Bytes bytes;
    Memory(int etype_bytes, int count, bool gaps)
        : stride(static_cast<size_t>(etype_bytes) + (gaps ? 3 : 0))
        , etype(static_cast<size_t>(etype_bytes))
        , bytes(stride * static_cast<size_t>(count) + 1, 0xee) {
        MPI_Datatype plain = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(etype_bytes, MPI_BYTE, &plain);
        MPI_Type_create_resized(plain, 0, static_cast<MPI_Aint>(stride), &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&plain);
    }
    ~Memory() { MPI_Type_free(&type); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    unsigned char& operator[](size_t i) { return bytes[i / etype * stride + i % etype]; }
};

int write_some(MPI_File fh, AccessMethod way, const Access& a, Memory& m, MPI_Status& status) {
    MPI_Request request = MPI_REQUEST_NULL;
    const void* const p = m.bytes.data();
    if (way == own || way == all || way == split) MPI_File_seek(fh, a.offset, MPI_SEEK_SET);
    switch (way) {
    case at:
        return MPI_File_write_at(fh, a.offset, p, a.count, m.type, &status);
    case at_all:
        return MPI_File_write_at_all(fh, a.offset, p, a.count, m.type, &status);
    case own:
        return MPI_File_write(fh, p, a.count, m.type, &status);
    case all:
        return MPI_File_write_all(fh, p, a.count, m.type, &status);
    case without_waiting:
        MPI_File_iwrite_at(fh, a.offset, p, a.count, m.type, &request);
        return MPI_Wait(&request, &status);
    case all_without_waiting:
        MPI_File_iwrite_at_all(fh, a.offset, p, a.count, m.type, &request);
        return MPI_Wait(&request, &status);
    case split:
        MPI_File_write_all_begin(fh, p, a.count, m.type);
        return MPI_File_write_all_end(fh, p, &status);
    default:
        MPI_File_write_at_all_begin(fh, a.offset, p, a.count, m.type);
        return MPI_File_write_at_all_end(fh, p, &status);
    }
}

int read_some(MPI_File fh, AccessMethod way, const Access& a, Memory& m, MPI_Status& status) {
    MPI_Request request = MPI_REQUEST_NULL;
    void* const p = m.bytes.data();
    if (way == own || way == all || way == split) MPI_File_seek(fh, a.offset, MPI_SEEK_SET);
    switch (way) {
    case at:
        return MPI_File_read_at(fh, a.offset, p, a.count, m.type, &status);
    case at_all:
        return MPI_File_read_at_all(fh, a.offset, p, a.count, m.type, &status);
    case own:
        return MPI_File_read(fh, p, a.count, m.type, &status);
    case all:
        return MPI_File_read_all(fh, p, a.count, m.type, &status);
    case without_waiting:
        MPI_File_iread_at(fh, a.offset, p, a.count, m.type, &request);
        return MPI_Wait(&request, &status);
    case all_without_waiting:
        MPI_File_iread_at_all(fh, a.offset, p, a.count, m.type, &request);
        return MPI_Wait(&request, &status);
    case split:
        MPI_File_read_all_begin(fh, p, a.count, m.type);
        return MPI_File_read_all_end(fh, p, &status);
    default:
        MPI_File_read_at_all_begin(fh, a.offset, p, a.count, m.type);
        return MPI_File_read_at_all_end(fh, p, &status);
    }
}

int bytes_of(const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return bytes;
}

void write_round(const TestFile& f, Random& random, Model& model) {
    const Tiling t(random);
    const auto way = static_cast<AccessMethod>(below(random, ways));
    const bool gaps = below(random, 2) == 0;
    MPI_Datatype filetype = t.filetype(rank_);
    MPI_Datatype etype = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(t.etype, MPI_BYTE, &etype);
    MPI_Type_commit(&etype);
    CHECK(MPI_File_set_view(f.fh, t.displacement, etype, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int r = 0; r < size_; ++r) {
        const std::vector<size_t> places = t.places(r);
        const Access a(random, places.size(), t.etype);
        Memory m(t.etype, a.count, gaps);
        const auto first = static_cast<size_t>(a.offset * t.etype);
        const auto bytes = static_cast<size_t>(a.count) * static_cast<size_t>(t.etype);
        for (size_t i = 0; i < bytes; ++i) {
            m[i] = static_cast<unsigned char>(random());
            model.at(offset_of(t, places, first + i)) = m[i];
        }
        if (r != rank_) continue;
        MPI_Status status;
        CHECK(write_some(f.fh, way, a, m, status) == MPI_SUCCESS &&
              bytes_of(status) == static_cast<int>(bytes));
    }
    MPI_Type_free(&filetype);
    MPI_Type_free(&etype);
}

// The views may be those of another rank, or one view for all.
void read_round(const TestFile& f, Random& random, const Model& model) {
    const Tiling t(random);
    const auto way = static_cast<AccessMethod>(below(random, ways));
    const bool gaps = below(random, 2) == 0;
    const auto turn = static_cast<int>(below(random, static_cast<uint64_t>(size_)));
    const int whose = below(random, 2) == 0 ? turn : (rank_ + turn) % size_;
    Random mine(random() + static_cast<uint64_t>(rank_));
    MPI_Datatype filetype = t.filetype(whose);
    MPI_Datatype etype = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(t.etype, MPI_BYTE, &etype);
    MPI_Type_commit(&etype);
    CHECK(MPI_File_set_view(f.fh, t.displacement, etype, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    const std::vector<size_t> places = t.places(whose);
    const Access a(mine, places.size(), t.etype);
    Memory m(t.etype, a.count, gaps);
    MPI_Status status;
    CHECK(read_some(f.fh, way, a, m, status) == MPI_SUCCESS);
    const auto wanted = static_cast<size_t>(a.count) * static_cast<size_t>(t.etype);
    size_t got = 0;
    for (; got < wanted; ++got) {
        const size_t place = offset_of(t, places, static_cast<size_t>(a.offset * t.etype) + got);
        if (place >= model.bytes.size()) break;
        CHECK(m[got] == model.bytes[place]);
    }
    CHECK(bytes_of(status) == static_cast<int>(got));
    MPI_Type_free(&filetype);
    MPI_Type_free(&etype);
}

// Blocks of random lengths in rank order, from the shared file pointer on.
void ordered_round(const TestFile& f, Random& random, Model& model) {
    CHECK(MPI_File_set_view(f.fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    size_t place = below(random, model.bytes.size() + 100);
    CHECK(MPI_File_seek_shared(f.fh, static_cast<MPI_Offset>(place), MPI_SEEK_SET) == MPI_SUCCESS);
    for (int r = 0; r < size_; ++r) {
        Bytes data(below(random, 1000));
        for (auto& b : data) model.at(place++) = b = static_cast<unsigned char>(random());
        if (r != rank_) continue;
        CHECK(MPI_File_write_ordered(f.fh, data.data(), static_cast<int>(data.size()), MPI_BYTE,
                                     MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    f.sync();
    MPI_Offset after = 0;
    CHECK(MPI_File_get_position_shared(f.fh, &after) == MPI_SUCCESS &&
          after == static_cast<MPI_Offset>(place));
}

void check_whole_file(const TestFile& f, const Model& model) {
    CHECK(MPI_File_set_view(f.fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Offset size = 0;
    CHECK(MPI_File_get_size(f.fh, &size) == MPI_SUCCESS &&
          size == static_cast<MPI_Offset>(model.bytes.size()));
    if (rank_ == 0) {
        Bytes raw(model.bytes.size());
        CHECK(MPI_File_read_at(f.fh, 0, raw.data(), static_cast<int>(raw.size()), MPI_BYTE,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(raw == model.bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

MPI_Info random_hints(Random& random) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    constexpr const char* choices[] = {"automatic", "enable", "disable"};
    constexpr const char* sizes[] = {"1000", "70000", "16777216"};
    MPI_Info_set(info, "romio_cb_write", choices[below(random, 3)]);
    MPI_Info_set(info, "romio_cb_read", choices[below(random, 3)]);
    MPI_Info_set(info, "cb_buffer_size", sizes[below(random, 3)]);
    MPI_Info_set(info, "cb_nodes", std::to_string(1 + below(random, 3)).c_str());
    return info;
}

void run(uint64_t seed, int rounds) {
    Random random(seed);
    constexpr int rounds_of_a_file = 8;
    for (int round = 0; round < rounds; round += rounds_of_a_file) {
        Model model;
        MPI_Info info = random_hints(random);
        const TestFile f("random", MPI_MODE_CREATE | MPI_MODE_RDWR, info);
        MPI_Info_free(&info);
        for (int i = 0; i < rounds_of_a_file; ++i) {
            write_round(f, random, model);
            f.sync();
            if (below(random, 4) == 0) ordered_round(f, random, model);
            read_round(f, random, model);
            check_whole_file(f, model);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    unsigned long long seed = 1;
    int rounds = 40;
    for (int i = 1; i < argc; ++i) {
        std::sscanf(argv[i], "seed=%llu", &seed);
        std::sscanf(argv[i], "rounds=%d", &rounds);
    }
    if (rank_ == 0) std::printf("random_files: seed=%llu rounds=%d\n", seed, rounds);
    run(seed, rounds);
    session.end("random_files");
}

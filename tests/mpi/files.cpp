// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files: all read and write functions, views, pointers, representations. usage: files
#include "files.hpp"

#include <algorithm>

namespace {

constexpr int n = 100;

void explicit_offsets() {
    const TestFile f("offsets");
    const std::vector<int> out = numbers(n, rank_ * n);
    const MPI_Offset at = static_cast<MPI_Offset>(rank_) * n * 4;
    MPI_Status status;
    CHECK(MPI_File_write_at(f.fh, at, out.data(), n, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == n);
    f.sync();
    std::vector<int> in(n);
    const int other = (rank_ + 1) % size_;
    CHECK(MPI_File_read_at(f.fh, static_cast<MPI_Offset>(other) * n * 4, in.data(), n, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(count_of(status) == n && in == numbers(n, other * n));
    MPI_Offset bytes = 0;
    CHECK(MPI_File_get_size(f.fh, &bytes) == MPI_SUCCESS && bytes == static_cast<MPI_Offset>(size_) * n * 4);
    // a read at the end of the file is short, behind it empty
    CHECK(MPI_File_read_at(f.fh, bytes - 8, in.data(), n, MPI_INT, &status) == MPI_SUCCESS &&
          count_of(status) == 2);
    CHECK(MPI_File_read_at(f.fh, bytes + 8, in.data(), n, MPI_INT, &status) == MPI_SUCCESS &&
          count_of(status) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Each rank sees every size_-th block of two ints.
MPI_Datatype round_robin_view(MPI_Datatype old) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(old, &lower, &extent);
    const MPI_Aint place = 2 * rank_ * extent;
    int two = 2;
    MPI_Type_create_hindexed(1, &two, &place, old, &block);
    MPI_Type_create_resized(block, 0, 2 * size_ * extent, &spaced);
    MPI_Type_free(&block);
    MPI_Type_commit(&spaced);
    return spaced;
}

int expected(int index) { return 1000 * ((index / 2) % size_) + index / (2 * size_) * 2 + index % 2; }

void check_round_robin(const TestFile& f, MPI_Datatype type) {
    CHECK(MPI_File_set_view(f.fh, 0, type, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    std::vector<int> all(static_cast<size_t>(n * size_));
    MPI_Status status;
    CHECK(MPI_File_read_at_all(f.fh, 0, all.data(), n * size_, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == n * size_);
    for (int i = 0; i < n * size_; ++i) CHECK(all[static_cast<size_t>(i)] == expected(i));
}

void interleaved(const char* collective_buffering) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", collective_buffering);
    MPI_Info_set(info, "romio_cb_read", collective_buffering);
    MPI_Info_set(info, "cb_nodes", "2");
    const TestFile f("interleaved", MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    MPI_Datatype filetype = round_robin_view(MPI_INT);
    CHECK(MPI_File_set_view(f.fh, 0, MPI_INT, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    const std::vector<int> out = numbers(n, 1000 * rank_);
    MPI_Status status;
    CHECK(MPI_File_write_all(f.fh, out.data(), n / 2, MPI_INT, &status) == MPI_SUCCESS &&
          count_of(status) == n / 2);
    MPI_Offset at = 0;
    CHECK(MPI_File_get_position(f.fh, &at) == MPI_SUCCESS && at == n / 2);
    CHECK(MPI_File_get_byte_offset(f.fh, 3, &at) == MPI_SUCCESS && at == 4 * (2 * size_ + 2 * rank_ + 1));
    CHECK(MPI_File_write_all_begin(f.fh, &out[n / 2], n / 2, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_all_end(f.fh, &out[n / 2], &status) == MPI_SUCCESS && count_of(status) == n / 2);
    CHECK(MPI_File_seek(f.fh, -2, MPI_SEEK_END) == MPI_SUCCESS);
    f.sync();
    std::vector<int> in(n);
    CHECK(MPI_File_read_all(f.fh, in.data(), n, MPI_INT, &status) == MPI_SUCCESS && count_of(status) == 2);
    CHECK(in[0] == 1000 * rank_ + n - 2 && in[1] == 1000 * rank_ + n - 1);
    CHECK(MPI_File_get_position(f.fh, &at) == MPI_SUCCESS && at == n);
    check_round_robin(f, MPI_INT);
    MPI_Type_free(&filetype);
}

void pointers() {
    const TestFile f("pointers");
    CHECK(MPI_File_set_view(f.fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    const int one[2] = {rank_, rank_ + 100};
    for (int i = 0; i < 10; ++i)
        CHECK(MPI_File_write_shared(f.fh, one, 2, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    f.sync();
    MPI_Offset at = 0;
    CHECK(MPI_File_get_position_shared(f.fh, &at) == MPI_SUCCESS && at == 20 * size_);
    std::vector<int> all(static_cast<size_t>(20 * size_));
    CHECK(MPI_File_read_at(f.fh, 0, all.data(), 20 * size_, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    std::vector<int> times(static_cast<size_t>(size_), 0);
    for (size_t i = 0; i < all.size(); i += 2) {
        CHECK(all[i] >= 0 && all[i] < size_ && all[i + 1] == all[i] + 100);
        ++times[static_cast<size_t>(all[i])];
    }
    CHECK(std::all_of(times.begin(), times.end(), [](int t) { return t == 10; }));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_seek_shared(f.fh, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    const std::vector<int> mine(static_cast<size_t>(rank_ + 1), rank_);
    CHECK(MPI_File_write_ordered(f.fh, mine.data(), rank_ + 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_write_ordered_begin(f.fh, mine.data(), 1, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_ordered_end(f.fh, mine.data(), MPI_STATUS_IGNORE) == MPI_SUCCESS);
    f.sync();
    const int total = size_ * (size_ + 1) / 2;
    CHECK(MPI_File_get_position_shared(f.fh, &at) == MPI_SUCCESS && at == total + size_);
    std::vector<int> there(static_cast<size_t>(total + size_));
    CHECK(MPI_File_read_at(f.fh, 0, there.data(), total + size_, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int r = 0, i = 0; r < size_; ++r) {
        for (int k = 0; k <= r; ++k) CHECK(there[static_cast<size_t>(i++)] == r);
        CHECK(there[static_cast<size_t>(total + r)] == r);
    }
    CHECK(MPI_File_seek_shared(f.fh, -size_, MPI_SEEK_CUR) == MPI_SUCCESS);
    int last = -1;
    CHECK(MPI_File_read_ordered(f.fh, &last, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && last == rank_);
}

void nonblocking() {
    const TestFile f("requests");
    const std::vector<int> out = numbers(n, rank_);
    std::vector<int> in(n);
    const MPI_Offset at = static_cast<MPI_Offset>(rank_) * n * 4;
    MPI_Request r[2];
    MPI_Status status[2];
    CHECK(MPI_File_iwrite_at(f.fh, at, out.data(), n / 2, MPI_INT, &r[0]) == MPI_SUCCESS);
    CHECK(MPI_File_iwrite_at_all(f.fh, at + 2 * n, &out[n / 2], n / 2, MPI_INT, &r[1]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, r, status) == MPI_SUCCESS && count_of(status[0]) == n / 2 &&
          count_of(status[1]) == n / 2);
    CHECK(MPI_File_seek(f.fh, at, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_iread(f.fh, in.data(), n / 2, MPI_INT, &r[0]) == MPI_SUCCESS);
    CHECK(MPI_File_iread_all(f.fh, &in[n / 2], n / 2, MPI_INT, &r[1]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, r, status) == MPI_SUCCESS && in == out);
    MPI_Barrier(MPI_COMM_WORLD);
}

void external32() {
    const TestFile f("external");
    MPI_Datatype filetype = round_robin_view(MPI_LONG);
    CHECK(MPI_File_set_view(f.fh, 16, MPI_LONG, filetype, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    const long out[4] = {rank_, -rank_, 1, 1 << 30};
    MPI_Status status;
    CHECK(MPI_File_write_at_all(f.fh, 0, out, 4, MPI_LONG, &status) == MPI_SUCCESS);
    int count = 0;
    CHECK(MPI_Get_count(&status, MPI_LONG, &count) == MPI_SUCCESS && count == 4);
    MPI_Aint extent = 0;
    CHECK(MPI_File_get_type_extent(f.fh, MPI_LONG, &extent) == MPI_SUCCESS && extent == 4);
    long in[4] = {};
    CHECK(MPI_File_read_at_all(f.fh, 0, in, 4, MPI_LONG, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(std::equal(in, in + 4, out));
    MPI_Offset place = 0; // a long has 4 bytes; displacements given in bytes stay
    CHECK(MPI_File_get_byte_offset(f.fh, 2, &place) == MPI_SUCCESS && place == 16 + 8 * 2 * (size_ + rank_));
    f.sync();
    CHECK(MPI_File_set_view(f.fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    unsigned char raw[4] = {};
    CHECK(MPI_File_read_at(f.fh, place + 4, raw, 4, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(raw[0] == 0x40 && raw[1] == 0 && raw[3] == 0);
    MPI_Type_free(&filetype);
}

// A data representation in which every element is twice as long plus seven bytes.
int to_wide(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void* calls) {
    for (int i = 0; i < count; ++i)
        static_cast<int64_t*>(file)[i] = static_cast<int*>(user)[position + i] + 7;
    ++*static_cast<int*>(calls);
    return MPI_SUCCESS;
}
int from_wide(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void* calls) {
    for (int i = 0; i < count; ++i)
        static_cast<int*>(user)[position + i] = static_cast<int>(static_cast<int64_t*>(file)[i] - 7);
    ++*static_cast<int*>(calls);
    return MPI_SUCCESS;
}
int wide_extent(MPI_Datatype type, MPI_Aint* extent, void*) {
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    *extent = 2 * bytes;
    return MPI_SUCCESS;
}

void user_representation() {
    static int calls = 0;
    CHECK(MPI_Register_datarep("wide", from_wide, to_wide, wide_extent, &calls) == MPI_SUCCESS);
    FAILS(MPI_Register_datarep("wide", from_wide, to_wide, wide_extent, &calls), MPI_ERR_DUP_DATAREP);
    const TestFile f("wide");
    CHECK(MPI_File_set_view(f.fh, 0, MPI_INT, MPI_INT, "wide", MPI_INFO_NULL) == MPI_SUCCESS);
    const std::vector<int> out = numbers(n, rank_ * n);
    std::vector<int> in(n);
    CHECK(MPI_File_write_at(f.fh, rank_ * n, out.data(), n, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Status status;
    CHECK(MPI_File_read_at(f.fh, rank_ * n, in.data(), n, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(in == out && count_of(status) == n && calls == 2);
    f.sync();
    MPI_Offset bytes = 0;
    CHECK(MPI_File_get_size(f.fh, &bytes) == MPI_SUCCESS && bytes == static_cast<MPI_Offset>(size_) * n * 8);
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype = MPI_DATATYPE_NULL;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    CHECK(MPI_File_get_view(f.fh, &bytes, &etype, &filetype, name) == MPI_SUCCESS);
    CHECK(bytes == 0 && etype == MPI_INT && filetype == MPI_INT && std::strcmp(name, "wide") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

void file_queries() {
    const TestFile f("about");
    int amode = 0;
    CHECK(MPI_File_get_amode(f.fh, &amode) == MPI_SUCCESS);
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    CHECK(MPI_File_set_size(f.fh, 1000) == MPI_SUCCESS && MPI_File_preallocate(f.fh, 5000) == MPI_SUCCESS);
    MPI_Offset bytes = 0;
    CHECK(MPI_File_get_size(f.fh, &bytes) == MPI_SUCCESS && bytes == 5000);
    int atomic = 1;
    CHECK(MPI_File_get_atomicity(f.fh, &atomic) == MPI_SUCCESS && atomic == 0);
    CHECK(MPI_File_set_atomicity(f.fh, 1) == MPI_SUCCESS);
    CHECK(MPI_File_get_atomicity(f.fh, &atomic) == MPI_SUCCESS && atomic == 1);
    std::vector<char> same(5000, static_cast<char>('a' + rank_));
    CHECK(MPI_File_write_at_all(f.fh, 0, same.data(), 5000, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(f.fh, 0, same.data(), 5000, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(std::count(same.begin(), same.end(), same[0]) == 5000);
    MPI_Group group = MPI_GROUP_NULL;
    int members = 0;
    CHECK(MPI_File_get_group(f.fh, &group) == MPI_SUCCESS && MPI_Group_size(group, &members) == MPI_SUCCESS);
    CHECK(members == size_);
    MPI_Group_free(&group);
    MPI_Info info = MPI_INFO_NULL;
    char value[64] = {};
    int found = 0;
    int length = sizeof value;
    CHECK(MPI_File_get_info(f.fh, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_get_string(info, "cb_buffer_size", &length, value, &found) == MPI_SUCCESS && found != 0);
    MPI_Info_free(&info);
    CHECK(MPI_File_fromint(MPI_File_toint(f.fh)) == f.fh);
    MPI_Barrier(MPI_COMM_WORLD);
}

void appended() {
    const std::string name = fresh_name("appended");
    for (int round = 0; round < 3; ++round) {
        MPI_File fh = MPI_FILE_NULL;
        const int last = round == 2 ? MPI_MODE_DELETE_ON_CLOSE : 0;
        CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(),
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND | last, MPI_INFO_NULL,
                            &fh) == MPI_SUCCESS);
        MPI_Offset at = -1;
        CHECK(MPI_File_get_position(fh, &at) == MPI_SUCCESS && at == round * size_);
        CHECK(MPI_File_get_position_shared(fh, &at) == MPI_SUCCESS && at == round * size_);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_File_close(&fh) == MPI_SUCCESS && fh == MPI_FILE_NULL);
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    explicit_offsets();
    for (const char* const buffering : {"automatic", "enable", "disable"}) interleaved(buffering);
    pointers();
    nonblocking();
    external32();
    user_representation();
    file_queries();
    appended();
    session.end("files");
}

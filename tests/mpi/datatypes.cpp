// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Datatypes as objects: their contents, names, invalid arguments, packing, external32.
#include "check.hpp"

#include <cstdint>

namespace {

void contents_of_both_forms() {
    const int blocks[] = {2, 1};
    const int places[] = {0, 5};
    MPI_Datatype narrow;
    MPI_Type_indexed(2, blocks, places, MPI_SHORT, &narrow);
    int n[4] = {};
    int combiner = 0;
    MPI_Type_get_envelope(narrow, &n[0], &n[1], &n[2], &combiner);
    CHECK(n[0] == 5 && n[1] == 0 && n[2] == 1 && combiner == MPI_COMBINER_INDEXED);
    int integers[5] = {};
    MPI_Datatype types[1] = {};
    MPI_Type_get_contents(narrow, 5, 0, 1, integers, nullptr, types);
    CHECK(integers[0] == 2 && integers[1] == 2 && integers[4] == 5 && types[0] == MPI_SHORT);
    FAILS(MPI_Type_get_contents(narrow, 4, 0, 1, integers, nullptr, types), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(MPI_INT, 4, 0, 1, integers, nullptr, types), MPI_ERR_TYPE);

    const MPI_Count wide_blocks[] = {1, 1};
    const MPI_Count wide_places[] = {0, 64};
    MPI_Datatype wide;
    MPI_Type_create_hindexed_c(2, wide_blocks, wide_places, narrow, &wide);
    MPI_Type_free(&narrow); // remains as a component of the other
    MPI_Count c[4] = {};
    MPI_Type_get_envelope_c(wide, &c[0], &c[1], &c[2], &c[3], &combiner);
    CHECK(c[0] == 0 && c[1] == 0 && c[2] == 5 && c[3] == 1 && combiner == MPI_COMBINER_HINDEXED);
    FAILS(MPI_Type_get_envelope(wide, &n[0], &n[1], &n[2], &combiner), MPI_ERR_TYPE);
    MPI_Count large[5] = {};
    MPI_Type_get_contents_c(wide, 0, 0, 5, 1, nullptr, nullptr, large, types);
    CHECK(large[0] == 2 && large[4] == 64);
    int size = 0;
    MPI_Type_size(types[0], &size);
    CHECK(size == 6);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&wide);
    CHECK(wide == MPI_DATATYPE_NULL);
}

void names() {
    char text[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_get_name(type, text, &length);
    CHECK(length == 0 && text[0] == '\0');
    MPI_Type_set_name(type, "three");
    MPI_Type_get_name(type, text, &length);
    CHECK(std::strcmp(text, "three") == 0 && length == 5);
    MPI_Type_get_name(MPI_DOUBLE, text, &length);
    CHECK(std::strcmp(text, "MPI_DOUBLE") == 0);
    // of two names for one datatype, the one that is not a synonym
    MPI_Type_get_name(MPI_LONG_LONG, text, &length);
    CHECK(std::strcmp(text, "MPI_LONG_LONG_INT") == 0);
    MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, text, &length);
    CHECK(std::strcmp(text, "MPI_C_COMPLEX") == 0);
    MPI_Type_free(&type);
}

void rejected_arguments() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype builtin = MPI_INT;
    int data[4] = {};
    const int bad_blocks[] = {1, -1};
    const int places[] = {0, 1};
    const int sizes[] = {4, 4};
    const int parts[] = {2, 3};
    const int starts[] = {1, 2};
    FAILS(MPI_Type_free(&builtin), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_indexed(2, bad_blocks, places, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_indexed(2, nullptr, places, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, parts, places, 7, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_contiguous_c(INT64_MAX, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_real(100, 100000, &type), MPI_ERR_ARG);
    CHECK(type == MPI_DATATYPE_NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    FAILS(MPI_Send(data, 1, type, rank_, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); // not committed
    const MPI_Datatype stale = type;
    MPI_Type_free(&type);
    FAILS(MPI_Send(data, 1, stale, rank_, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
}

void packing() {
    const struct {
        int number;
        double value;
    } in[2] = {{1, 1.5}, {2, 2.5}};
    const int ones[] = {1, 1};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, ones, at, members, &type);
    MPI_Type_commit(&type);
    char packed[40];
    int position = 0;
    int size = 0;
    MPI_Pack_size(2, type, MPI_COMM_WORLD, &size);
    CHECK(size == 24);
    MPI_Pack(in, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    CHECK(position == 24);
    FAILS(MPI_Pack(in, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    int number = 0;
    double value = 0;
    position = 12;
    MPI_Unpack(packed, 24, &position, &number, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(packed, 24, &position, &value, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(number == 2 && value == 2.5 && position == 24);
    FAILS(MPI_Unpack(packed, 24, &position, &number, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    MPI_Type_free(&type);
}

template <class T>
bool survives(MPI_Datatype type, T value, const std::vector<unsigned char>& external) {
    std::vector<unsigned char> bytes(external.size());
    MPI_Aint position = 0;
    MPI_Aint size = 0;
    MPI_Pack_external_size("external32", 1, type, &size);
    if (size != static_cast<MPI_Aint>(external.size())) return false;
    MPI_Pack_external("external32", &value, 1, type, bytes.data(), size, &position);
    T back{};
    position = 0;
    MPI_Unpack_external("external32", bytes.data(), size, &position, &back, 1, type);
    return bytes == external &&
           std::memcmp(&back, &value, sizeof(long double) > sizeof(T) ? sizeof(T) : 10) == 0;
}

void external32() {
    CHECK(survives<int>(MPI_INT, -2, {0xff, 0xff, 0xff, 0xfe}));
    CHECK(survives<short>(MPI_SHORT, 0x0102, {1, 2}));
    CHECK(survives<long>(MPI_LONG, -3, {0xff, 0xff, 0xff, 0xfd}));
    CHECK(survives<unsigned long>(MPI_UNSIGNED_LONG, 0xfffffffeUL, {0xff, 0xff, 0xff, 0xfe}));
    CHECK(survives<int64_t>(MPI_INT64_T, 1, {0, 0, 0, 0, 0, 0, 0, 1}));
    CHECK(survives<double>(MPI_DOUBLE, 1.0, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
    CHECK(survives<wchar_t>(MPI_WCHAR, L'A', {0, 65}));
    CHECK(survives<char>(MPI_CHAR, 'x', {'x'}));
    CHECK(survives<long double>(MPI_LONG_DOUBLE, -2.0L, {0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    const long too_large = 1L << 40;
    char bytes[8];
    MPI_Aint position = 0;
    FAILS(MPI_Pack_external("external32", &too_large, 1, MPI_LONG, bytes, 8, &position), MPI_ERR_CONVERSION);
    FAILS(MPI_Pack_external("native", &too_large, 1, MPI_LONG, bytes, 8, &position),
          MPI_ERR_UNSUPPORTED_DATAREP);
}

void predefined_by_class() {
    MPI_Datatype a;
    MPI_Datatype b;
    MPI_Type_create_f90_real(15, 307, &a);
    MPI_Type_create_f90_real(15, 307, &b);
    CHECK(a == b);
    int n[3] = {};
    int combiner = 0;
    MPI_Type_get_envelope(a, &n[0], &n[1], &n[2], &combiner);
    CHECK(n[0] == 2 && n[1] == 0 && n[2] == 0 && combiner == MPI_COMBINER_F90_REAL);
    FAILS(MPI_Type_free(&a), MPI_ERR_TYPE);
    double in = rank_ + 1;
    double sum = 0;
    MPI_Allreduce(&in, &sum, 1, a, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size_ * (size_ + 1) / 2.0);
    if (!portable_) FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 12, &a), MPI_ERR_ARG);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &a);
    CHECK(a == MPI_INTEGER4);
#if HAVE_MPI_41
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &a);
    CHECK(a == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_CHAR, &a);
    CHECK(a == MPI_DATATYPE_NULL);
#endif
}

void elements_of_a_status() {
    const int blocks[] = {1, 2};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, blocks, at, members, &type);
    MPI_Status status{};
    int n = 0;
    MPI_Status_set_elements(&status, type, 5); // one complete element, then int and double
    MPI_Get_elements(&status, type, &n);
    CHECK(n == 5);
    MPI_Get_count(&status, type, &n);
    CHECK(n == MPI_UNDEFINED);
    MPI_Status_set_elements(&status, type, 6);
    MPI_Get_count(&status, type, &n);
    CHECK(n == 2);
    MPI_Type_free(&type);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    contents_of_both_forms();
    names();
    rejected_arguments();
    packing();
    external32();
    predefined_by_class();
    elements_of_a_status();
    session.end("datatypes");
    return 0;
}

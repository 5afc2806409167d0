// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/convert.hpp"

#include <string.h>

namespace zipmpi::fortran {
namespace {

// The significant part of a string.
struct TrimmedText {
    const char* begin;
    size_t length;
};

TrimmedText trim(const char* text, size_t length, Strip strip) {
    while (length > 0 && text[length - 1] == ' ') length--;
    while (strip == Strip::both && length > 0 && *text == ' ') {
        text++;
        length--;
    }
    return {text, length};
}

char* trimmed_copy(const char* text, size_t length) {
    const TrimmedText trimmed = trim(text, length, Strip::end);
    auto* const copy = static_cast<char*>(malloc(trimmed.length + 1));
    memcpy(copy, trimmed.begin, trimmed.length);
    copy[trimmed.length] = '\0';
    return copy;
}

bool is_blank(const char* text, size_t length) { return trim(text, length, Strip::end).length == 0; }

struct Degrees {
    int in = 0;
    int out = 0;
};

Degrees degrees(MPI_Comm comm) {
    int topology = MPI_UNDEFINED;
    Degrees result;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        int dimensions = 0;
        PMPI_Cartdim_get(comm, &dimensions);
        result = {2 * dimensions, 2 * dimensions};
    } else if (topology == MPI_GRAPH) {
        int rank = 0;
        int neighbors = 0;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &neighbors);
        result = {neighbors, neighbors};
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        PMPI_Dist_graph_neighbors_count(comm, &result.in, &result.out, &weighted);
    }
    return result;
}

} // namespace

int peer_count(MPI_Comm comm) {
    int inter = 0;
    int size = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0; // the call itself reports the error
    if (inter != 0)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

int source_count(MPI_Comm comm) { return degrees(comm).in; }
int destination_count(MPI_Comm comm) { return degrees(comm).out; }

bool at_root(int root, MPI_Comm comm) {
    int rank = MPI_PROC_NULL;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

MPI_Aint attribute_value(int keyval, void* value) {
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPIX_FT:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *static_cast<int*>(value);
    case MPI_WIN_SIZE:
        return *static_cast<MPI_Aint*>(value);
    default:
        return reinterpret_cast<MPI_Aint>(value);
    }
}

Text::Text(const char* text, size_t length, Strip strip)
    : buffer_(length + 1) {
    const TrimmedText trimmed = trim(text, length, strip);
    memcpy(buffer_.data(), trimmed.begin, trimmed.length);
    buffer_.data()[trimmed.length] = '\0';
}

ResultText::ResultText(char* target, size_t length, int capacity)
    : target_(target)
    , length_(length)
    , capacity_(capacity > 0 ? static_cast<size_t>(capacity) : 0)
    , buffer_(capacity_ + 1) {
    const TrimmedText trimmed = trim(target, capacity_ == 0 ? 0 : length, Strip::end);
    const size_t start = trimmed.length < capacity_ ? trimmed.length : capacity_;
    memcpy(buffer_.data(), trimmed.begin, start);
    buffer_.data()[start] = '\0';
}

void ResultText::store() {
    if (capacity_ == 0) return;
    buffer_.data()[capacity_] = '\0';
    const size_t written = strlen(buffer_.data());
    const size_t copied = written < length_ ? written : length_;
    memcpy(target_, buffer_.data(), copied);
    memset(target_ + copied, ' ', length_ - copied);
}

TextList::TextList(const char* first, size_t length, int count, size_t stride) {
    if (first == &mpi_fortran_argv_null_ || first == &mpi_fortran_argvs_null_ || count == 0) return;
    if (stride == 0) stride = length;
    size_t n = 0;
    if (count == until_blank)
        while (!is_blank(first + n * stride, length)) n++;
    else
        n = static_cast<size_t>(count);
    texts_ = static_cast<char**>(malloc((n + 1) * sizeof(char*)));
    for (size_t i = 0; i < n; i++) texts_[i] = trimmed_copy(first + i * stride, length);
    texts_[n] = nullptr;
}

TextList::~TextList() {
    if (texts_ == nullptr) return;
    for (char** text = texts_; *text != nullptr; text++) free(*text);
    free(texts_);
}

ArgvTable::ArgvTable(const char* first, size_t length, int rows, bool wanted) {
    if (!wanted || rows <= 0 || first == &mpi_fortran_argvs_null_ || first == &mpi_fortran_argv_null_) return;
    rows_ = rows;
    lists_ = static_cast<char***>(malloc(static_cast<size_t>(rows) * sizeof(char**)));
    for (int i = 0; i < rows; i++) {
        const char* const row = first + static_cast<size_t>(i) * length;
        size_t n = 0;
        const size_t stride = length * static_cast<size_t>(rows);
        while (!is_blank(row + n * stride, length)) n++;
        lists_[i] = static_cast<char**>(malloc((n + 1) * sizeof(char*)));
        for (size_t k = 0; k < n; k++) lists_[i][k] = trimmed_copy(row + k * stride, length);
        lists_[i][n] = nullptr;
    }
}

ArgvTable::~ArgvTable() {
    for (int i = 0; i < rows_; i++) {
        for (char** text = lists_[i]; *text != nullptr; text++) free(*text);
        free(lists_[i]);
    }
    free(lists_);
}

} // namespace zipmpi::fortran

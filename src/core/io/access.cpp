// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/access.hpp"

#include "core/datatype/contiguous.hpp"
#include "core/io/agree.hpp"
#include "core/unlocked.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>

namespace zipmpi::core::io {
namespace {

constexpr size_t stretches_at_once = 4096;

Err check_mode(const File& file, const Access& a) {
    if (a.writes && (file.amode & mode_rdonly) != 0)
        return fail(Err::read_only, "open the file with MPI_MODE_RDWR or MPI_MODE_WRONLY",
                    "%s was opened with MPI_MODE_RDONLY", file.name.c_str());
    if (!a.writes && (file.amode & mode_wronly) != 0)
        return fail(Err::access, "open the file with MPI_MODE_RDWR or MPI_MODE_RDONLY",
                    "%s was opened with MPI_MODE_WRONLY", file.name.c_str());
    const bool shared = a.where == Where::shared_pointer || a.where == Where::ordered;
    if (!shared && (file.amode & mode_sequential) != 0)
        return fail(Err::unsupported_operation,
                    "use the shared file pointer, or open without MPI_MODE_SEQUENTIAL",
                    "%s was opened with MPI_MODE_SEQUENTIAL", file.name.c_str());
    return Err::success;
}

Err check(const File& file, const Access& a) {
    if (const Err e = check_mode(file, a); e != Err::success) return e;
    if (a.count < 0)
        return fail(Err::count, "pass 0 or more", "the count is %lld", static_cast<long long>(a.count));
    if (a.type->size < 0)
        return fail(Err::type, "use a type that the compilers of this platform have",
                    "%s does not exist here", a.type->name);
    if (a.where == Where::at_offset && a.offset < 0)
        return fail(Err::arg, "pass an offset of 0 or more", "offset is %lld",
                    static_cast<long long>(a.offset));
    return Err::success;
}

Err in_etypes(const View& view, int64_t bytes, int64_t& etypes) {
    etypes = bytes / view.etype_bytes;
    if (bytes % view.etype_bytes == 0) return Err::success;
    return fail(Err::io, "access whole etypes of the view",
                "%lld bytes are no whole number of etypes of %lld bytes", static_cast<long long>(bytes),
                static_cast<long long>(view.etype_bytes));
}

// The data of an access as they are in the file: in the program's own memory if they are the same there.
class Data {
  public:
    Data(const Access& a, const View& view)
        : access_(a)
        , view_(view) {}

    // Bytes in the file, of one element and of all.
    Err measure() {
        if (const Err e = bytes_in_file(*view_.representation, *access_.type, each_); e != Err::success)
            return e;
        if (__builtin_mul_overflow(each_, access_.count, &bytes_))
            return fail(Err::count, "access less at a time", "the data would exceed 63 bits");
        return Err::success;
    }
    [[nodiscard]] int64_t bytes() const { return bytes_; }

    Err open() {
        const Access& a = access_;
        in_memory_ = view_.representation->plain() && is_contiguous(a.count, *a.type);
        if (in_memory_) {
            data_ = static_cast<std::byte*>(contiguous_start(a.buffer, *a.type));
            return Err::success;
        }
        copy_ = make_bytes(static_cast<uint64_t>(bytes_));
        data_ = static_cast<std::byte*>(copy_.get());
        if (data_ == nullptr) return no_bytes(static_cast<uint64_t>(bytes_));
        return a.writes ? to_file(*view_.representation, a.buffer, a.count, *a.type, data_) : Err::success;
    }
    [[nodiscard]] std::byte* data() const { return data_; }

    // So many bytes were moved. Gives how many bytes of memory they are.
    Err close(uint64_t moved, int64_t& bytes) {
        const Access& a = access_;
        bytes = static_cast<int64_t>(moved);
        const int64_t whole = each_ > 0 ? static_cast<int64_t>(moved) / each_ : 0;
        if (!view_.representation->plain()) bytes = whole * a.type->size;
        if (a.writes || in_memory_) return Err::success;
        if (!view_.representation->plain())
            return from_file(*view_.representation, a.buffer, whole, *a.type, data_);
        unpack_first(a.buffer, a.count, *a.type, data_, moved);
        return Err::success;
    }

  private:
    const Access& access_;
    const View& view_;
    int64_t each_ = 0;
    int64_t bytes_ = 0;
    std::byte* data_ = nullptr;
    bool in_memory_ = false;
    Bytes copy_;
};

// Places of the processes one after the other, in the order of ranks.
Err ordered_offset(File& file, int64_t etypes, int64_t& offset) {
    proto::Team& team = file.team();
    std::vector<int64_t> all(static_cast<size_t>(team.size));
    all[static_cast<size_t>(team.rank)] = etypes;
    if (const Err e = proto::coll::allgather(team, all.data(), sizeof(int64_t)); e != Err::success) return e;
    int64_t total = 0;
    for (int r = 0; r < team.size; ++r) {
        if (r == team.rank) offset = total;
        total += all[static_cast<size_t>(r)];
    }
    struct {
        Err error;
        int64_t start;
    } first{Err::success, 0};
    if (team.rank == 0) first.error = file.shared.add(total, first.start);
    if (const Err e = proto::coll::broadcast(team, &first, sizeof first, 0); e != Err::success) return e;
    offset += first.start;
    return first.error;
}

// Where the access begins. Pointers have moved on when this returns: another thread may use them next.
Err find_offset(File& file, const Access& a, int64_t etypes, int64_t& offset) {
    switch (a.where) {
    case Where::at_offset:
        offset = a.offset;
        break;
    case Where::own_pointer:
        offset = file.position;
        file.position += etypes;
        break;
    case Where::shared_pointer:
        return file.shared.add(etypes, offset);
    case Where::ordered:
        return ordered_offset(file, etypes, offset);
    }
    return Err::success;
}

Err move_batch(File& file, const std::vector<Piece>& pieces, bool writes, int64_t& end) {
    const Unlocked unlocked;
    RangeLock lock;
    std::unique_lock<std::mutex> here(file.atomic_accesses, std::defer_lock);
    if (file.atomic) {
        here.lock();
        const int64_t from = pieces.front().at;
        const int64_t to = pieces.back().at + static_cast<int64_t>(pieces.back().bytes);
        if (const Err e = lock.take(file.fd.get(), from, to - from, writes); e != Err::success) return e;
    }
    if (!writes) return read_pieces(file.fd.get(), pieces, end);
    return write_pieces(file.fd.get(), pieces, Gaps::keep);
}

} // namespace

Err move_alone(File& file, const View& view, const Row& row, bool writes, uint64_t& moved) {
    std::vector<Stretch> stretches;
    std::vector<Piece> pieces;
    // an atomic access is one, however many stretches it has
    const size_t room = file.atomic ? ~size_t{0} : stretches_at_once;
    moved = 0;
    while (moved < row.bytes) {
        stretches.clear();
        pieces.clear();
        const uint64_t covered = view.list(row.from + moved, row.bytes - moved, stretches, room);
        if (covered == 0) break;
        std::byte* data = row.data + moved;
        for (const Stretch& s : stretches) {
            pieces.push_back({s.at, data, s.bytes});
            data += s.bytes;
        }
        int64_t end = not_reached;
        if (const Err e = move_batch(file, pieces, writes, end); e != Err::success) return e;
        if (end != not_reached) {
            moved = view.bytes_before(end, row.from + moved, row.from + moved + covered) - row.from;
            break;
        }
        moved += covered;
    }
    return Err::success;
}

Err perform(File& file, const Access& a, Status& status) {
    const ViewPtr view = file.view;
    const bool together = a.together && file.team().size > 1;
    Data data(a, *view);
    int64_t etypes = 0;
    int64_t offset = 0;
    Err e = check(file, a);
    if (e == Err::success) e = data.measure();
    if (e == Err::success) e = in_etypes(*view, data.bytes(), etypes);
    if (e != Err::success && !together) return e;
    const Err found = find_offset(file, a, etypes, offset); // together: all of them, also who has an error
    if (e == Err::success) e = found;
    if (e == Err::success) e = data.open();
    if (e != Err::success && !together) return e;
    Row row{static_cast<uint64_t>(offset * view->etype_bytes), static_cast<uint64_t>(data.bytes()),
            data.data()};
    if (e != Err::success) row = {};
    uint64_t moved = 0;
    e = together ? move_together(file, *view, row, a.writes, e, moved)
                 : move_alone(file, *view, row, a.writes, moved);
    if (e != Err::success) return e;
    status = Status();
    if (a.where == Where::own_pointer)
        file.position -= etypes - static_cast<int64_t>(moved) / view->etype_bytes;
    return data.close(moved, status.bytes);
}

} // namespace zipmpi::core::io

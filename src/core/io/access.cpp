// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/access.hpp"

#include "core/datatype/contiguous.hpp"
#include "core/io/collective_status.hpp"
#include "core/runtime_unlock_guard.hpp"
#include "proto/coll/coll.hpp"

#include <algorithm>

namespace zipmpi::core::io {
namespace {

constexpr size_t ranges_per_batch = 4096;

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
        return fail(Err::type, "use a type that this platform supports",
                    "%s is not supported on this platform", a.type->name);
    if (a.where == Where::at_offset && a.offset < 0)
        return fail(Err::arg, "pass an offset of 0 or more", "offset is %lld",
                    static_cast<long long>(a.offset));
    return Err::success;
}

Err to_etypes(const View& view, int64_t bytes, int64_t& etypes) {
    etypes = bytes / view.etype_bytes;
    if (bytes % view.etype_bytes == 0) return Err::success;
    return fail(Err::io, "access whole etypes of the view",
                "%lld bytes are not a multiple of the etype size, %lld bytes", static_cast<long long>(bytes),
                static_cast<long long>(view.etype_bytes));
}

// The data of an access in file representation; the user buffer itself if the representations are equal.
class FileData {
  public:
    FileData(const Access& a, const View& view)
        : access_(a)
        , view_(view) {}

    // Bytes in the file, per element and in total.
    Err measure() {
        if (const Err e = bytes_in_file(*view_.representation, *access_.type, element_bytes_);
            e != Err::success)
            return e;
        if (__builtin_mul_overflow(element_bytes_, access_.count, &bytes_))
            return fail(Err::count, "access less data per call", "the data size exceeds 2^63 - 1 bytes");
        return Err::success;
    }
    [[nodiscard]] int64_t bytes() const { return bytes_; }

    Err open() {
        const Access& a = access_;
        in_memory_ = view_.representation->is_native() && is_contiguous(a.count, *a.type);
        if (in_memory_) {
            data_ = static_cast<std::byte*>(contiguous_start(a.buffer, *a.type));
            return Err::success;
        }
        copy_ = allocate_bytes(static_cast<uint64_t>(bytes_));
        data_ = static_cast<std::byte*>(copy_.get());
        if (data_ == nullptr) return buffer_alloc_error(static_cast<uint64_t>(bytes_));
        return a.writes ? to_file(*view_.representation, a.buffer, a.count, *a.type, data_) : Err::success;
    }
    [[nodiscard]] std::byte* data() const { return data_; }

    // Ends a transfer of `moved` bytes. Sets `bytes` to their size in memory.
    Err close(uint64_t moved, int64_t& bytes) {
        const Access& a = access_;
        bytes = static_cast<int64_t>(moved);
        const int64_t whole = element_bytes_ > 0 ? static_cast<int64_t>(moved) / element_bytes_ : 0;
        if (!view_.representation->is_native()) bytes = whole * a.type->size;
        if (a.writes || in_memory_) return Err::success;
        if (!view_.representation->is_native())
            return from_file(*view_.representation, a.buffer, whole, *a.type, data_);
        unpack_first(a.buffer, a.count, *a.type, data_, moved);
        return Err::success;
    }

  private:
    const Access& access_;
    const View& view_;
    int64_t element_bytes_ = 0;
    int64_t bytes_ = 0;
    std::byte* data_ = nullptr;
    bool in_memory_ = false;
    HeapBytes copy_;
};

// Offsets of the processes in rank order.
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

// Start of the access. Pointers are advanced before this returns, because another thread may use them next.
Err find_offset(File& file, const Access& a, int64_t etypes, int64_t& offset) {
    switch (a.where) {
    case Where::at_offset:
        offset = a.offset;
        break;
    case Where::individual_pointer:
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

Err transfer_batch(File& file, const std::vector<FileSegment>& segments, bool writes, int64_t& end) {
    const RuntimeUnlockGuard unlocked;
    RangeLock lock;
    std::unique_lock<std::mutex> here(file.atomic_mutex, std::defer_lock);
    if (file.atomic) {
        here.lock();
        const int64_t from = segments.front().at;
        const int64_t to = segments.back().at + static_cast<int64_t>(segments.back().bytes);
        if (const Err e = lock.acquire(file.fd.get(), from, to - from, writes); e != Err::success) return e;
    }
    if (!writes) return read_segments(file.fd.get(), segments, end);
    return write_segments(file.fd.get(), segments, Holes::keep);
}

} // namespace

Err independent_access(File& file, const View& view, const ViewRange& range, bool writes, uint64_t& moved) {
    std::vector<FileRange> ranges;
    std::vector<FileSegment> segments;
    // an atomic access is a single one, whatever its number of ranges
    const size_t max_ranges = file.atomic ? ~size_t{0} : ranges_per_batch;
    moved = 0;
    while (moved < range.bytes) {
        ranges.clear();
        segments.clear();
        const uint64_t covered =
            view.list_ranges(range.from + moved, range.bytes - moved, ranges, max_ranges);
        if (covered == 0) break;
        std::byte* data = range.data + moved;
        for (const FileRange& s : ranges) {
            segments.push_back({s.at, data, s.bytes});
            data += s.bytes;
        }
        int64_t end = eof_not_reached;
        if (const Err e = transfer_batch(file, segments, writes, end); e != Err::success) return e;
        if (end != eof_not_reached) {
            moved = view.bytes_before(end, range.from + moved, range.from + moved + covered) - range.from;
            break;
        }
        moved += covered;
    }
    return Err::success;
}

Err perform(File& file, const Access& a, Status& status) {
    const ViewPtr view = file.view;
    const bool collective = a.collective && file.team().size > 1;
    FileData data(a, *view);
    int64_t etypes = 0;
    int64_t offset = 0;
    Err e = check(file, a);
    if (e == Err::success) e = data.measure();
    if (e == Err::success) e = to_etypes(*view, data.bytes(), etypes);
    if (e != Err::success && !collective) return e;
    const Err found =
        find_offset(file, a, etypes, offset); // collective: also called by processes with an error
    if (e == Err::success) e = found;
    if (e == Err::success) e = data.open();
    if (e != Err::success && !collective) return e;
    ViewRange range{static_cast<uint64_t>(offset * view->etype_bytes), static_cast<uint64_t>(data.bytes()),
                    data.data()};
    if (e != Err::success) range = {};
    uint64_t moved = 0;
    e = collective ? collective_access(file, *view, range, a.writes, e, moved)
                   : independent_access(file, *view, range, a.writes, moved);
    if (e != Err::success) return e;
    status = Status();
    if (a.where == Where::individual_pointer)
        file.position -= etypes - static_cast<int64_t>(moved) / view->etype_bytes;
    return data.close(moved, status.bytes);
}

} // namespace zipmpi::core::io

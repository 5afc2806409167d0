// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies of device buffers in host memory, on which a call works instead. A copy has the layout of its
// buffer; only the data bytes of the datatypes are copied back, so that other calls can use the gaps at the
// same time.
//
// Threads: one at a time.
#pragma once

#include "core/datatype/contiguous.hpp"
#include "core/device/driver.hpp"

#include <vector>

namespace zipmpi::core::device {

// Elements of a buffer, at a distance in bytes from its address.
struct BufferPart {
    int64_t offset;
    int64_t count;
    Datatype* type;
};
using BufferParts = std::vector<BufferPart>;

// Bytes between the first and the last data byte, relative to the address of the buffer.
MemoryExtent memory_extent_of(const BufferParts& parts);

// What a call does with a buffer.
enum class Use { read, write };

class HostCopy {
  public:
    HostCopy(Driver& driver, const void* buffer, BufferParts parts);
    // Allocates the memory of the copy.
    Err allocate();
    // Shares the types, which the application may free before the call is complete. Under the lock of the
    // progress engine, as the destructor then.
    void keep_types();
    // The address that replaces that of the buffer.
    [[nodiscard]] void* address() const;

    Err load();  // from the device
    Err store(); // to the device, what was not stored since the last load
    Err load_part(int index);
    Err store_part(int index);

  private:
    enum class Direction { load, store };
    Err copy(Direction direction, const BufferPart& part);
    Err copy_segments(Direction direction, const BufferPart& part);
    Err copy_bytes(Direction direction, void* device_address, uint64_t bytes);

    Driver* driver_;
    uintptr_t buffer_;
    BufferParts parts_;
    std::vector<TypeShare> types_;
    std::vector<bool> stored_; // by part
    HeapBytes memory_;
    uintptr_t to_host_ = 0; // distance from a device address to that of its copy
};

// The copies of one call; those of a nonblocking or persistent call belong to its request.
class HostCopies {
  public:
    void add(HostCopy copy, Use use);
    void keep_types();

    Err load();
    Err store();
    // Of partitioned communication, which has one buffer.
    Err load_partition(int index) { return only().load_part(index); }
    Err store_partition(int index) { return only().store_part(index); }

  private:
    [[nodiscard]] HostCopy& only() { return read_.empty() ? written_.front() : read_.front(); }

    std::vector<HostCopy> read_;    // buffers that the call only reads
    std::vector<HostCopy> written_; // others
};

} // namespace zipmpi::core::device

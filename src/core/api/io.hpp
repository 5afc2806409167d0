// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on files (MPI chapter 14).
#pragma once

#include "core/api/common.hpp"

#include <string>

namespace zipmpi::core {

Err file_open(Comm& comm, const char* name, int amode, Info* info, File*& file);
Err file_close(File*& file);
Err file_delete(const char* name, Info* info);
Err file_get_amode(File& file, int& amode);
Err file_get_group(File& file, Group*& group);
Err file_get_info(File& file, Info*& info);
Err file_set_info(File& file, Info* info);
Err file_get_size(File& file, int64_t& size);
Err file_set_size(File& file, int64_t size);
Err file_preallocate(File& file, int64_t size);
Err file_set_atomicity(File& file, bool atomic);
Err file_get_atomicity(File& file, bool& atomic);
Err file_sync(File& file);
Err file_set_view(File& file, int64_t displacement, Datatype& etype, Datatype& filetype,
                  const char* representation, Info* info);
Err file_get_view(File& file, int64_t& displacement, Datatype*& etype, Datatype*& filetype,
                  std::string& representation);
Err file_get_type_extent(File& file, Datatype& type, int64_t& extent);
Err file_seek(File& file, int64_t offset, Seek whence);
Err file_get_position(File& file, int64_t& offset);
Err file_get_byte_offset(File& file, int64_t offset, int64_t& displacement);
Err file_seek_shared(File& file, int64_t offset, Seek whence);
Err file_get_position_shared(File& file, int64_t& offset);
Err file_read_at(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iread_at(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_read_at_all(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iread_at_all(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type,
                      Request*& request);
Err file_read_at_all_begin(File& file, int64_t offset, void* buffer, int64_t count, Datatype& type);
Err file_read_at_all_end(File& file, void* buffer, Status* status);
Err file_read(File& file, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iread(File& file, void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_read_all(File& file, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iread_all(File& file, void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_read_all_begin(File& file, void* buffer, int64_t count, Datatype& type);
Err file_read_all_end(File& file, void* buffer, Status* status);
Err file_read_shared(File& file, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iread_shared(File& file, void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_read_ordered(File& file, void* buffer, int64_t count, Datatype& type, Status* status);
Err file_read_ordered_begin(File& file, void* buffer, int64_t count, Datatype& type);
Err file_read_ordered_end(File& file, void* buffer, Status* status);
Err file_write_at(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                  Status* status);
Err file_iwrite_at(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                   Request*& request);
Err file_write_at_all(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                      Status* status);
Err file_iwrite_at_all(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type,
                       Request*& request);
Err file_write_at_all_begin(File& file, int64_t offset, const void* buffer, int64_t count, Datatype& type);
Err file_write_at_all_end(File& file, const void* buffer, Status* status);
Err file_write(File& file, const void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iwrite(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_write_all(File& file, const void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iwrite_all(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_write_all_begin(File& file, const void* buffer, int64_t count, Datatype& type);
Err file_write_all_end(File& file, const void* buffer, Status* status);
Err file_write_shared(File& file, const void* buffer, int64_t count, Datatype& type, Status* status);
Err file_iwrite_shared(File& file, const void* buffer, int64_t count, Datatype& type, Request*& request);
Err file_write_ordered(File& file, const void* buffer, int64_t count, Datatype& type, Status* status);
Err file_write_ordered_begin(File& file, const void* buffer, int64_t count, Datatype& type);
Err file_write_ordered_end(File& file, const void* buffer, Status* status);

} // namespace zipmpi::core

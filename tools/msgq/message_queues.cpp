// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi_msgq.so: the functions of interface.h, which a debugger finds by the path in MPIR_dll_name.
#include "process_queues.hpp"

#include <memory>

using zipmpi::msgq::ProcessQueues;

struct mqs_image_info_ {
    const mqs_image_callbacks* callbacks;
    mqs_taddr_t layout; // 0: not found
};

struct mqs_process_info_ {
    const mqs_process_callbacks* callbacks;
    std::unique_ptr<ProcessQueues> queues;
    size_t comm = 0;
    std::vector<mqs_pending_operation> operations;
    size_t next = 0;
};

namespace {

constexpr int no_callbacks = mqs_first_user_code;
constexpr int no_symbol = no_callbacks + 1;
constexpr int not_initialized = no_callbacks + 2;
constexpr int not_readable = no_callbacks + 3;

const mqs_basic_callbacks* basic = nullptr;

char* text(const char* constant) { return const_cast<char*>(constant); } // the interface has no const

mqs_process_info* info_of(mqs_process* process) { return basic->mqs_get_process_info_fp(process); }

} // namespace

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) { basic = callbacks; }
char* mqs_version_string() { return text("ZipMPI message queues 1"); }
int mqs_version_compatibility() { return MQS_INTERFACE_COMPATIBILITY; }
int mqs_dll_taddr_width() { return sizeof(mqs_taddr_t); }

char* mqs_dll_error_string(int error) {
    switch (error) {
    case mqs_ok:
        return text("no error");
    case mqs_no_information:
        return text("no information");
    case mqs_end_of_list:
        return text("end of the list");
    case no_callbacks:
        return text("the debugger has not set up the image or the process");
    case no_symbol:
        return text("the program does not use ZipMPI");
    case not_initialized:
        return text("MPI is not initialized, or the library is of another version");
    case not_readable:
        return text("the memory of the process could not be read");
    default:
        return text("unknown error");
    }
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
    basic->mqs_put_image_info_fp(image, new mqs_image_info{callbacks, 0});
    return mqs_ok;
}

int mqs_image_has_queues(mqs_image* image, char** message) {
    mqs_image_info* const info = basic->mqs_get_image_info_fp(image);
    *message = nullptr;
    if (info == nullptr) return no_callbacks;
    const int found =
        info->callbacks->mqs_find_symbol_fp(image, text("zipmpi_message_queues"), &info->layout);
    return found == mqs_ok ? mqs_ok : no_symbol;
}

void mqs_destroy_image_info(mqs_image_info* info) { delete info; }

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
    basic->mqs_put_process_info_fp(process, new mqs_process_info{callbacks, nullptr, 0, {}, 0});
    return mqs_ok;
}

int mqs_process_has_queues(mqs_process* process, char** message) {
    mqs_process_info* const info = info_of(process);
    *message = nullptr;
    if (info == nullptr) return no_callbacks;
    const mqs_image_info* const image =
        basic->mqs_get_image_info_fp(info->callbacks->mqs_get_image_fp(process));
    if (image == nullptr || image->layout == 0) return no_symbol;
    const auto fetch = [process, info](uint64_t address, size_t bytes, void* to) {
        return info->callbacks->mqs_fetch_data_fp(process, address, static_cast<int>(bytes), to) == mqs_ok;
    };
    info->queues = std::make_unique<ProcessQueues>(fetch, image->layout);
    return info->queues->read_layout() && info->queues->is_initialized() ? mqs_ok : not_initialized;
}

void mqs_destroy_process_info(mqs_process_info* info) { delete info; }

int mqs_update_communicator_list(mqs_process* process) {
    mqs_process_info* const info = info_of(process);
    if (info == nullptr || info->queues == nullptr) return no_callbacks;
    if (!info->queues->read_layout()) return not_initialized;
    info->queues->read_communicators();
    return mqs_ok;
}

int mqs_setup_communicator_iterator(mqs_process* process) {
    mqs_process_info* const info = info_of(process);
    if (info == nullptr || info->queues == nullptr) return no_callbacks;
    info->comm = 0;
    info->operations.clear();
    return info->queues->communicators() == 0 ? mqs_end_of_list : mqs_ok;
}

int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator) {
    const mqs_process_info* const info = info_of(process);
    if (info->comm >= info->queues->communicators()) return mqs_end_of_list;
    *communicator = info->queues->communicator(info->comm);
    return mqs_ok;
}

int mqs_get_comm_group(mqs_process* process, int* world_ranks) {
    const mqs_process_info* const info = info_of(process);
    if (info->comm >= info->queues->communicators()) return mqs_end_of_list;
    return info->queues->read_group(info->comm, world_ranks) ? mqs_ok : not_readable;
}

int mqs_next_communicator(mqs_process* process) {
    mqs_process_info* const info = info_of(process);
    return ++info->comm < info->queues->communicators() ? mqs_ok : mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process* process, int op_class) {
    mqs_process_info* const info = info_of(process);
    if (op_class < mqs_pending_sends || op_class > mqs_unexpected_messages) return mqs_no_information;
    if (info->comm >= info->queues->communicators()) return mqs_no_information;
    info->operations = info->queues->operations(info->comm, static_cast<mqs_op_class>(op_class));
    info->next = 0;
    return info->operations.empty() ? mqs_end_of_list : mqs_ok;
}

int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation) {
    mqs_process_info* const info = info_of(process);
    if (info->next >= info->operations.size()) return mqs_end_of_list;
    *operation = info->operations[info->next++];
    return mqs_ok;
}

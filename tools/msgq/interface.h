/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The message queue interface between a debugger and the library that an MPI names in MPIR_dll_name, version 2,
 * as published by the MPI Forum ("The MPI Message Queue Dumping Interface"). The debugger provides the callbacks. */
#ifndef ZIPMPI_MSGQ_INTERFACE_H
#define ZIPMPI_MSGQ_INTERFACE_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MQS_INTERFACE_COMPATIBILITY = 2, MQS_INVALID_PROCESS = -1 };

typedef unsigned long mqs_taddr_t; /* an address or a long of the process */
typedef long mqs_tword_t;

enum { mqs_ok = 0, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };
typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;
typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;
enum { mqs_st_pending, mqs_st_matched, mqs_st_complete };

/* Of the debugger. */
typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;
/* Of the library; the debugger keeps them. */
typedef struct mqs_image_info_ mqs_image_info;
typedef struct mqs_process_info_ mqs_process_info;

typedef struct {
    int short_size, int_size, long_size, long_long_size, pointer_size, bool_size, size_t_size;
} mqs_target_type_sizes;

typedef struct {
    mqs_taddr_t unique_id;
    mqs_tword_t local_rank;
    mqs_tword_t size;
    char name[64];
} mqs_communicator;

typedef struct {
    int status;
    mqs_tword_t desired_local_rank; /* -1: any source; in the communicator */
    mqs_tword_t desired_global_rank;
    int tag_wild;
    mqs_tword_t desired_tag;
    mqs_tword_t desired_length;
    int system_buffer; /* the buffer belongs to the MPI library */
    mqs_taddr_t buffer;
    /* of a matched or complete operation: */
    mqs_tword_t actual_local_rank;
    mqs_tword_t actual_global_rank;
    mqs_tword_t actual_tag;
    mqs_tword_t actual_length;
    char extra_text[5][64]; /* lines for the user; the first empty one ends them */
} mqs_pending_operation;

typedef struct {
    void* (*mqs_malloc_fp)(unsigned long bytes);
    void (*mqs_free_fp)(void* memory);
    void (*mqs_dprints_fp)(const char* text);
    char* (*mqs_errorstring_fp)(int error);
    void (*mqs_put_image_info_fp)(mqs_image* image, mqs_image_info* info);
    mqs_image_info* (*mqs_get_image_info_fp)(mqs_image* image);
    void (*mqs_put_process_info_fp)(mqs_process* process, mqs_process_info* info);
    mqs_process_info* (*mqs_get_process_info_fp)(mqs_process* process);
} mqs_basic_callbacks;

typedef struct {
    void (*mqs_get_type_sizes_fp)(mqs_process* process, mqs_target_type_sizes* sizes);
    int (*mqs_find_function_fp)(mqs_image* image, char* name, mqs_lang_code language, mqs_taddr_t* address);
    int (*mqs_find_symbol_fp)(mqs_image* image, char* name, mqs_taddr_t* address);
    mqs_type* (*mqs_find_type_fp)(mqs_image* image, char* name, mqs_lang_code language);
    int (*mqs_field_offset_fp)(mqs_type* type, char* field);
    int (*mqs_sizeof_fp)(mqs_type* type);
} mqs_image_callbacks;

typedef struct {
    int (*mqs_get_global_rank_fp)(mqs_process* process);
    mqs_image* (*mqs_get_image_fp)(mqs_process* process);
    int (*mqs_fetch_data_fp)(mqs_process* process, mqs_taddr_t address, int bytes, void* to);
    void (*mqs_target_to_host_fp)(mqs_process* process, const void* from, void* to, int bytes);
} mqs_process_callbacks;

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks);
char* mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void);
char* mqs_dll_error_string(int error);

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks);
int mqs_image_has_queues(mqs_image* image, char** message);
void mqs_destroy_image_info(mqs_image_info* info);

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks);
int mqs_process_has_queues(mqs_process* process, char** message);
void mqs_destroy_process_info(mqs_process_info* info);

int mqs_update_communicator_list(mqs_process* process);
int mqs_setup_communicator_iterator(mqs_process* process);
int mqs_get_communicator(mqs_process* process, mqs_communicator* communicator);
int mqs_get_comm_group(mqs_process* process, int* world_ranks);
int mqs_next_communicator(mqs_process* process);

int mqs_setup_operation_iterator(mqs_process* process, int op_class);
int mqs_next_operation(mqs_process* process, mqs_pending_operation* operation);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

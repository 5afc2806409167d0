/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Stub of the driver of a GPU. The memory of its 'device' is mapped without access: a program that reads
 * or writes it with the CPU crashes, and system calls on it fail. Only the copy functions reach it, through a
 * second mapping. The functions are those that the library looks up in libcuda.so.1, libamdhip64.so and
 * libze_loader.so.1; a copy of this library stands for each. */
#define _GNU_SOURCE
#include "stub_driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE_BYTES ((size_t)64 << 20)

static char* device;  /* no access */
static char* backing; /* the same pages */
static size_t used;
static long copies;
static __thread void* context; /* current one of the thread */
static int last_error;
static char context_of_device;

static void map_memory(void) {
    const int fd = memfd_create("device", 0);
    if (fd < 0 || ftruncate(fd, DEVICE_BYTES) != 0) abort();
    device = mmap(NULL, DEVICE_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
    backing = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (device == MAP_FAILED || backing == MAP_FAILED) abort();
    close(fd);
}

static int owns(const void* address) {
    return device != NULL && (const char*)address >= device && (const char*)address < device + DEVICE_BYTES;
}

static void* reach(const void* address) {
    return owns(address) ? backing + ((const char*)address - device) : (void*)address;
}

static void* allocate(size_t bytes) {
    if (device == NULL) map_memory();
    if (used + bytes > DEVICE_BYTES) abort();
    void* const at = device + used;
    used += (bytes + 255) / 256 * 256;
    return at;
}

static void free_all(void) { used = 0; }
static void copy(void* to, const void* from, size_t bytes) { memmove(reach(to), reach(from), bytes); }
static long count_copies(void) { return copies; }

static int driver_copy(void* to, const void* from, size_t bytes) {
    ++copies;
    copy(to, from, bytes);
    return 0;
}

const struct StubDriver* zipmpi_stub_driver(void) {
    static const struct StubDriver functions = {allocate, free_all, copy, count_copies};
    return &functions;
}

/* CUDA */

int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
    if (!owns((void*)address)) return 1;
    if (attribute == 1)
        *(void**)value = &context_of_device;
    else if (attribute == 2)
        *(unsigned*)value = 2;
    else if (attribute == 8)
        *(unsigned*)value = 0;
    else
        return 1;
    return 0;
}

int cuCtxPushCurrent_v2(void* pushed) {
    context = pushed;
    return 0;
}

int cuCtxPopCurrent_v2(void** popped) {
    *popped = context;
    context = NULL;
    return 0;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    return context == &context_of_device ? driver_copy((void*)to, (void*)from, bytes) : 201;
}

/* HIP, version 6 */

struct Attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct Attributes* attributes, const void* address) {
    memset(attributes, 0, sizeof *attributes);
    if (!owns(address)) return last_error = 1;
    attributes->type = 2;
    return 0;
}

int hipGetLastError(void) {
    const int error = last_error;
    last_error = 0;
    return error;
}

int hipRuntimeGetVersion(int* version) {
    *version = 60000000;
    return 0;
}

int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
    return kind == 4 ? driver_copy(to, from, bytes) : 1;
}

/* Level Zero: the handles are the addresses of these variables */

static char ze_driver, ze_device, ze_context, ze_list;

int zeDriverGet(uint32_t* count, void** drivers) {
    *count = 1;
    *drivers = &ze_driver;
    return 0;
}

int zeDeviceGet(void* driver, uint32_t* count, void** devices) {
    *count = 1;
    *devices = &ze_device;
    return driver != &ze_driver;
}

int zeContextCreate(void* driver, const int* description, void** made) {
    *made = &ze_context;
    return driver != &ze_driver || *description != 0xd;
}

int zeCommandListCreateImmediate(void* in, void* on, const int* description, void** made) {
    *made = &ze_list;
    return in != &ze_context || on != &ze_device || *description != 0xe;
}

struct Properties {
    int structure;
    void* next;
    int type;
    uint64_t id, page_size;
};

int zeMemGetAllocProperties(void* in, const void* address, struct Properties* properties, void** on) {
    (void)on;
    properties->type = owns(address) ? 2 : 0;
    return in != &ze_context || properties->structure != 0x17;
}

int zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, size_t bytes, void* event,
                                  uint32_t waits, void** wait_events) {
    (void)event, (void)waits, (void)wait_events;
    return list == &ze_list ? driver_copy(to, from, bytes) : 1;
}

/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of the stub driver for the tests, besides those of real drivers. */
#ifndef ZIPMPI_STUB_DRIVER_H
#define ZIPMPI_STUB_DRIVER_H

#include <stddef.h>

struct StubDriver {
    void* (*allocate)(size_t bytes);
    void (*free_all)(void);
    void (*copy)(void* to, const void* from, size_t bytes); /* between host and device, or within one */
    long (*copies)(void);                                   /* copies by functions of the driver so far */
};

/* Name of the function that returns them. */
#define STUB_DRIVER_SYMBOL "zipmpi_stub_driver"
typedef const struct StubDriver* StubDriverFunction(void);

#endif

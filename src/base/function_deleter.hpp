// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// FunctionDeleter: a deleter of std::unique_ptr that calls the function by which a C library frees an object.
#pragma once

namespace zipmpi {

template <auto free_function>
struct FunctionDeleter {
    template <class T>
    void operator()(T* object) const {
        free_function(object);
    }
};

} // namespace zipmpi

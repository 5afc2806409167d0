// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/api/datatype.hpp"
#include "core/api/p2p.hpp"
#include "core/comm/comm.hpp"
#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"
#include "core/runtime.hpp"
#include "core/slab.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace zipmpi::core {
namespace {

template <class T>
T apply(OpId op, TypeId type, T in, T inout) {
    const Kernel k = kernel_of(op, type);
    EXPECT_NE(k, nullptr);
    if (k != nullptr) k(&in, &inout, 1);
    return inout;
}

TEST(Kernels, Arithmetic) {
    EXPECT_EQ(apply<int>(OpId::SUM, TypeId::INT, 3, 4), 7);
    EXPECT_EQ(apply<double>(OpId::PROD, TypeId::DOUBLE, 3, 0.5), 1.5);
    EXPECT_EQ(apply<float>(OpId::MAX, TypeId::FLOAT, -3, -4), -3);
    EXPECT_EQ(apply<short>(OpId::MIN, TypeId::SHORT, 3, -4), -4);
    EXPECT_EQ(apply<std::complex<double>>(OpId::PROD, TypeId::C_DOUBLE_COMPLEX, {0, 1}, {0, 1}),
              std::complex<double>(-1, 0));
    EXPECT_EQ(apply<uint8_t>(OpId::SUM, TypeId::UINT8_T, 200, 100), 44);
    EXPECT_EQ(apply<signed char>(OpId::SUM, TypeId::SIGNED_CHAR, 100, 27), 127);
}

TEST(Kernels, OverflowWraps) {
    EXPECT_EQ(apply<int>(OpId::SUM, TypeId::INT, std::numeric_limits<int>::max(), 1),
              std::numeric_limits<int>::min());
    EXPECT_EQ(apply<unsigned short>(OpId::PROD, TypeId::UNSIGNED_SHORT, 65535, 65535), 1);
}

TEST(Kernels, LogicAndBits) {
    EXPECT_EQ(apply<int>(OpId::LAND, TypeId::INT, 5, 2), 1);
    EXPECT_EQ(apply<int>(OpId::LXOR, TypeId::INT, 5, 2), 0);
    EXPECT_EQ(apply<unsigned>(OpId::BXOR, TypeId::UNSIGNED, 6, 3), 5U);
    EXPECT_EQ(apply<std::byte>(OpId::BOR, TypeId::BYTE, std::byte{1}, std::byte{2}), std::byte{3});
    EXPECT_EQ(apply<bool>(OpId::LOR, TypeId::C_BOOL, false, true), true);
}

TEST(Kernels, LocationsPreferTheLowerIndex) {
    using P = Pair<double, int>;
    P r = apply<P>(OpId::MAXLOC, TypeId::DOUBLE_INT, {2.0, 5}, {2.0, 3});
    EXPECT_EQ(r.index, 3);
    r = apply<P>(OpId::MINLOC, TypeId::DOUBLE_INT, {1.0, 9}, {2.0, 3});
    EXPECT_EQ(r.value, 1.0);
    EXPECT_EQ(r.index, 9);
}

TEST(Kernels, RejectsUndefinedCombinations) {
    EXPECT_EQ(kernel_of(OpId::BAND, TypeId::DOUBLE), nullptr);
    EXPECT_EQ(kernel_of(OpId::MAX, TypeId::C_FLOAT_COMPLEX), nullptr);
    EXPECT_NE(kernel_of(OpId::SUM, TypeId::CHAR), nullptr); // extension, as in other MPI libraries
    EXPECT_EQ(kernel_of(OpId::SUM, TypeId::CHARACTER), nullptr);
    EXPECT_EQ(kernel_of(OpId::SUM, TypeId::BYTE), nullptr);
    EXPECT_EQ(kernel_of(OpId::MAXLOC, TypeId::INT), nullptr);
    EXPECT_EQ(kernel_of(OpId::REPLACE, TypeId::INT), nullptr);
    EXPECT_FALSE(op_supports(builtin_op(OpId::SUM), builtin_type(TypeId::PACKED)));
}

TEST(Datatype, SizesAndExtents) {
    int64_t size = 0;
    int64_t lower = 0;
    int64_t extent = 0;
    EXPECT_EQ(type_size(builtin_type(TypeId::SHORT_INT), size), Err::success);
    EXPECT_EQ(size, 6);
    EXPECT_EQ(type_get_extent(builtin_type(TypeId::SHORT_INT), lower, extent), Err::success);
    EXPECT_EQ(extent, 8);
    EXPECT_EQ(type_size(builtin_type(TypeId::REAL16), size), Err::success);
    EXPECT_EQ(size, 16);
    EXPECT_EQ(type_size(builtin_type(TypeId::INTEGER16), size), Err::success);
    EXPECT_EQ(size, undefined);
}

TEST(Datatype, CountOfPartialElementsIsUndefined) {
    Status s;
    int64_t count = 0;
    s.bytes = 12;
    EXPECT_EQ(get_count(s, builtin_type(TypeId::INT), count), Err::success);
    EXPECT_EQ(count, 3);
    s.bytes = 13;
    EXPECT_EQ(get_count(s, builtin_type(TypeId::INT), count), Err::success);
    EXPECT_EQ(count, undefined);
}

TEST(Builtin, NamesRoundTrip) {
    EXPECT_EQ(builtin_name(builtin_type(TypeId::DOUBLE)).id, static_cast<int>(TypeId::DOUBLE));
    EXPECT_EQ(builtin_name(builtin_op(OpId::MAXLOC)).id, static_cast<int>(OpId::MAXLOC));
    EXPECT_EQ(builtin_name(errors_return()).kind, BuiltinName::errors_return);
}

struct Thing : Object {
    static constexpr ObjectKind class_id = ObjectKind::info;
    explicit Thing(int64_t v)
        : value(v) {}
    int64_t value;
};

TEST(Slab, DetectsFreedObjects) {
    Slab<Thing> slab;
    std::vector<Thing*> things;
    for (int i = 0; i < 200; ++i) things.push_back(slab.make(i));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(slab.find(things[static_cast<size_t>(i)]->index)->value, i);
    const uint32_t index = things[77]->index;
    slab.destroy(*things[77]);
    EXPECT_EQ(things[77]->cls, ObjectKind::none);
    EXPECT_EQ(slab.find(index), nullptr);
    EXPECT_EQ(slab.make(5)->index, index) << "indices are reused";
    EXPECT_EQ(slab.find(100000), nullptr);
}

} // namespace
} // namespace zipmpi::core

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "json.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace zipmpi::tool {
namespace {

const char* const text =
    R"({"z":18446744073709551615,"a":-3,"real":0.5,"yes":true,"none":null,"list":[1,"two",{}]})";

TEST(Json, DumpReproducesText) { EXPECT_EQ(Json::parse(text).dump(), text); }

TEST(Json, BuiltFromPairsIsAnObject) {
    const Json list = Json::array({1, "two", Json::object()});
    const Json value{{"z", UINT64_MAX}, {"a", -3},        {"real", 0.5},
                     {"yes", true},     {"none", Json()}, {"list", list}};
    EXPECT_EQ(value.dump(), text);
    EXPECT_EQ(value.at("z").get<uint64_t>(), UINT64_MAX);
    EXPECT_EQ(value.at("a").get<int>(), -3);
    EXPECT_EQ(value.at("a").get<double>(), -3.0);
    EXPECT_EQ(value.size(), 6U);
}

TEST(Json, MembersAreCreatedOnFirstUse) {
    Json value;
    value["list"] = {std::string("one element")};
    value["inner"]["n"] = 1;
    value["inner"]["n"] = 2;
    EXPECT_EQ(value.dump(), R"({"list":["one element"],"inner":{"n":2}})");
    EXPECT_EQ(value.value("absent", "otherwise"), "otherwise");
    EXPECT_FALSE(value.contains("absent"));
}

TEST(Json, MisuseThrowsAndInvalidTextIsNull) {
    const Json value = Json::parse(text);
    EXPECT_THROW(static_cast<void>(value.at("absent")), JsonError);
    EXPECT_THROW(static_cast<void>(value.at("a").get<std::string>()), JsonError);
    EXPECT_THROW(static_cast<void>(value.at("yes").get<int>()), JsonError);
    EXPECT_EQ(Json::parse(R"({"cut":)").type(), Json::Type::null);
    EXPECT_FALSE(Json::parse("[1,").is_object());
}

} // namespace
} // namespace zipmpi::tool

// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace zipmpi::tool {
namespace {

using Library = nlohmann::ordered_json;

Library to_library(const Json& value) {
    switch (value.type()) {
    case Json::Type::null:
        return nullptr;
    case Json::Type::boolean:
        return value.get<bool>();
    case Json::Type::negative:
        return value.get<int64_t>();
    case Json::Type::natural:
        return value.get<uint64_t>();
    case Json::Type::real:
        return value.get<double>();
    case Json::Type::text:
        return value.get<std::string>();
    case Json::Type::array:
        break;
    case Json::Type::object: {
        Library object = Library::object();
        for (const auto& [key, member] : value.items()) object[key] = to_library(member);
        return object;
    }
    }
    Library array = Library::array();
    for (const Json& element : value) array.push_back(to_library(element));
    return array;
}

Json from_library(const Library& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned()) return value.get<uint64_t>();
    if (value.is_number_integer()) return value.get<int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    Json made;
    if (value.is_array()) {
        made = Json::array();
        for (const Library& element : value) made.push_back(from_library(element));
    } else if (value.is_object()) {
        made = Json::object();
        for (const auto& [key, member] : value.items()) made[key] = from_library(member);
    }
    return made;
}

} // namespace

Json::Json(bool value)
    : type_(Type::boolean)
    , boolean_(value) {}
Json::Json(int value)
    : Json(long{value}) {}
Json::Json(long value)
    : type_(value < 0 ? Type::negative : Type::natural)
    , negative_(value) {}
Json::Json(unsigned value)
    : Json(static_cast<unsigned long>(value)) {}
Json::Json(unsigned long value)
    : type_(Type::natural)
    , natural_(value) {}
Json::Json(double value)
    : type_(Type::real)
    , real_(value) {}
Json::Json(const char* value)
    : Json(std::string(value)) {}
Json::Json(std::string_view value)
    : Json(std::string(value)) {}
Json::Json(std::string value)
    : type_(Type::text)
    , text_(std::move(value)) {}
Json::Json(const std::vector<int>& values)
    : type_(Type::array)
    , elements_(values.begin(), values.end()) {}
Json::Json(const std::vector<std::string>& values)
    : type_(Type::array)
    , elements_(values.begin(), values.end()) {}

Json::Json(std::initializer_list<Json> values) {
    const bool members = std::all_of(values.begin(), values.end(), [](const Json& v) {
        return v.type_ == Type::array && v.size() == 2 && v.elements_[0].type_ == Type::text;
    });
    type_ = members ? Type::object : Type::array;
    if (!members) elements_ = values;
    for (const Json& v : values)
        if (members) members_.push_back({v.elements_[0].text_, v.elements_[1]});
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> values) {
    Json made;
    made.type_ = Type::array;
    made.elements_ = values;
    return made;
}

Json Json::object() {
    Json made;
    made.type_ = Type::object;
    return made;
}

Json Json::parse(const std::string& text) { return from_library(Library::parse(text, nullptr, false)); }

std::string Json::dump(int indent) const { return to_library(*this).dump(indent); }

void Json::require(Type type) const {
    if (type_ != type) throw JsonError("a JSON value does not have the requested type");
}

size_t Json::size() const { return type_ == Type::object ? members_.size() : elements_.size(); }

double Json::number() const {
    if (type_ == Type::negative) return static_cast<double>(negative_);
    if (type_ == Type::natural) return static_cast<double>(natural_);
    require(Type::real);
    return real_;
}

template <>
std::string Json::get<std::string>() const {
    require(Type::text);
    return text_;
}
template <>
bool Json::get<bool>() const {
    require(Type::boolean);
    return boolean_;
}
template <>
int64_t Json::get<int64_t>() const {
    return type_ == Type::negative || type_ == Type::natural ? negative_ : static_cast<int64_t>(number());
}
template <>
uint64_t Json::get<uint64_t>() const {
    return type_ == Type::natural ? natural_ : static_cast<uint64_t>(number());
}
template <>
int Json::get<int>() const {
    return static_cast<int>(get<int64_t>());
}
template <>
double Json::get<double>() const {
    return number();
}

void Json::push_back(Json value) {
    require(Type::array);
    elements_.push_back(std::move(value));
}

Json& Json::at(size_t index) {
    require(Type::array);
    if (index >= elements_.size()) throw JsonError("a JSON array is shorter than expected");
    return elements_[index];
}

const Json* Json::begin() const { return elements_.data(); }
const Json* Json::end() const { return elements_.data() + elements_.size(); }

const Json* Json::find(std::string_view key) const {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.key == key; });
    return found == members_.end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
    const Json* const found = find(key);
    if (found == nullptr) throw JsonError("a JSON object has no member '" + std::string(key) + "'");
    return *found;
}

Json& Json::operator[](std::string_view key) {
    if (type_ == Type::null) type_ = Type::object;
    require(Type::object);
    for (Member& m : members_)
        if (m.key == key) return m.value;
    return members_.emplace_back(Member{std::string(key), {}}).value;
}

std::string Json::value(std::string_view key, const char* otherwise) const {
    const Json* const found = find(key);
    return found == nullptr ? otherwise : found->get<std::string>();
}

} // namespace zipmpi::tool

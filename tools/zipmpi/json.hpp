// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A JSON value, for the output of `--json` and for files of the tool. A plain class over standard types; only
// json.cpp, which parses and prints the text, includes a JSON library. The keys of an object keep their
// order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::tool {

// Missing key, or value of another type.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Json {
  public:
    enum class Type : uint8_t { null, boolean, negative, natural, real, text, array, object };
    struct Member;

    Json() = default;
    Json(bool value);
    Json(int value);
    Json(long value);
    Json(unsigned value);
    Json(unsigned long value);
    Json(double value);
    Json(const char* value);
    Json(std::string_view value);
    Json(std::string value);
    Json(const std::vector<int>& values);
    Json(const std::vector<std::string>& values);
    // Pairs of a string and a value become the members of an object; anything else becomes an array.
    Json(std::initializer_list<Json> values);
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(const Json& other);
    Json& operator=(Json&& other) noexcept;
    ~Json();

    [[nodiscard]] static Json array(std::initializer_list<Json> values = {});
    [[nodiscard]] static Json object();
    // Returns null if the text is not JSON.
    [[nodiscard]] static Json parse(const std::string& text);
    [[nodiscard]] std::string dump(int indent = -1) const; // -1: on one line

    [[nodiscard]] Type type() const { return type_; }
    [[nodiscard]] bool is_object() const { return type_ == Type::object; }
    [[nodiscard]] size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    // std::string, bool, int, uint64_t, int64_t, double
    template <class T>
    [[nodiscard]] T get() const;
    [[nodiscard]] bool operator==(const char* other) const { return type_ == Type::text && text_ == other; }

    // Arrays
    void push_back(Json value);
    [[nodiscard]] Json& at(size_t index);
    [[nodiscard]] Json& operator[](size_t index) { return at(index); }
    [[nodiscard]] Json& back() { return at(size() - 1); }
    [[nodiscard]] const Json* begin() const;
    [[nodiscard]] const Json* end() const;

    // Objects
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const Json& at(std::string_view key) const;
    [[nodiscard]] Json& operator[](std::string_view key); // created if it does not exist
    [[nodiscard]] Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
    [[nodiscard]] std::string value(std::string_view key, const char* otherwise) const;
    [[nodiscard]] const std::vector<Member>& items() const { return members_; }

  private:
    [[nodiscard]] const Json* find(std::string_view key) const;
    [[nodiscard]] double number() const;
    void require(Type type) const;

    Type type_ = Type::null;
    union {
        bool boolean_;
        int64_t negative_;
        uint64_t natural_ = 0;
        double real_;
    };
    std::string text_;
    std::vector<Json> elements_;
    std::vector<Member> members_;
};

struct Json::Member {
    std::string key;
    Json value;
};

template <>
std::string Json::get<std::string>() const;
template <>
bool Json::get<bool>() const;
template <>
int Json::get<int>() const;
template <>
uint64_t Json::get<uint64_t>() const;
template <>
int64_t Json::get<int64_t>() const;
template <>
double Json::get<double>() const;

} // namespace zipmpi::tool

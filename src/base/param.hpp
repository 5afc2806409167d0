// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Knobs. A knob is declared beside its user as a namespace-scope object; declaring it is all there is to do:
//
//     Param<int64_t> cell_size{"shm.cell_size", 16 * KiB, {1 * KiB, 1 * MiB}, Unit::bytes, Level::tuner,
//                              Scope::all_equal, "size of one cell of the send buffer pool"};
//
// Its value comes, first match wins, from the environment (ZIPMPI_SHM_CELL_SIZE), from the file that
// ZIPMPI_CONFIG names (lines of name = value), or from the default. `zipmpi info`, the guide and MPI_T read
// the same list.
//
// Threads: values are read by load_params() during MPI_Init and are constant afterwards, but for those that
// are declared to change, which a tool may set through MPI_T.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi {

enum class Unit { none, bytes, microseconds, seconds, boolean, word };
enum class Level { user, tuner, developer };
enum class Scope { all_equal, local }; // must every rank have the same value?
enum class Origin { built_in, file, environment, tool };
enum class Changes { never, any_time }; // after it has been read; only words can

struct Range {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
};

class ParamBase {
  public:
    ParamBase(const char* name, Unit unit, Level level, Scope scope, const char* help,
              Changes changes = Changes::never);
    ParamBase(const ParamBase&) = delete;
    ParamBase& operator=(const ParamBase&) = delete;
    virtual ~ParamBase() = default;

    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] const char* help() const { return help_; }
    [[nodiscard]] Unit unit() const { return unit_; }
    [[nodiscard]] Level level() const { return level_; }
    [[nodiscard]] Scope scope() const { return scope_; }
    [[nodiscard]] Origin origin() const { return origin_; }
    [[nodiscard]] bool changeable() const { return changes_ == Changes::any_time; }
    [[nodiscard]] std::string env_name() const; // "shm.cell_size" -> "ZIPMPI_SHM_CELL_SIZE"

    [[nodiscard]] virtual std::string value_text() const = 0;
    [[nodiscard]] virtual std::string default_text() const = 0;
    // Empty if taken, otherwise why not.
    virtual std::string parse(std::string_view text) = 0;

    std::string set(std::string_view text, Origin origin) {
        std::string why = parse(text);
        if (why.empty()) origin_ = origin;
        return why;
    }

  private:
    const char* name_;
    const char* help_;
    Unit unit_;
    Level level_;
    Scope scope_;
    Origin origin_ = Origin::built_in;
    Changes changes_;
};

template <class T>
class Param; // int64_t, bool, std::string

template <>
class Param<int64_t> final : public ParamBase {
  public:
    Param(const char* name, int64_t value, Range range, Unit unit, Level level, Scope scope, const char* help)
        : ParamBase(name, unit, level, scope, help)
        , value_(value)
        , default_(value)
        , range_(range) {}
    operator int64_t() const { return value_; } // NOLINT(google-explicit-constructor): reads like its value
    [[nodiscard]] int64_t get() const { return value_; }
    [[nodiscard]] std::string value_text() const override;
    [[nodiscard]] std::string default_text() const override;
    std::string parse(std::string_view text) override;

  private:
    int64_t value_, default_;
    Range range_;
};

template <>
class Param<bool> final : public ParamBase {
  public:
    Param(const char* name, bool value, Level level, Scope scope, const char* help)
        : ParamBase(name, Unit::boolean, level, scope, help)
        , value_(value)
        , default_(value) {}
    operator bool() const { return value_; } // NOLINT(google-explicit-constructor)
    [[nodiscard]] std::string value_text() const override { return value_ ? "yes" : "no"; }
    [[nodiscard]] std::string default_text() const override { return default_ ? "yes" : "no"; }
    std::string parse(std::string_view text) override;

  private:
    bool value_, default_;
};

template <>
class Param<std::string> final : public ParamBase {
  public:
    // choices: the words allowed, separated by '|', or nullptr for any text
    Param(const char* name, const char* value, const char* choices, Level level, Scope scope,
          const char* help, Changes changes = Changes::never)
        : ParamBase(name, Unit::word, level, scope, help, changes)
        , value_(value)
        , default_(value)
        , choices_(choices) {}
    [[nodiscard]] const std::string& get() const { return value_; }
    [[nodiscard]] std::string value_text() const override { return value_; }
    [[nodiscard]] std::string default_text() const override { return default_; }
    std::string parse(std::string_view text) override;

  private:
    std::string value_, default_;
    const char* choices_;
};

inline constexpr int64_t KiB = 1024;
inline constexpr int64_t MiB = 1024 * KiB;
inline constexpr int64_t GiB = 1024 * MiB;

// All knobs linked into this program, sorted by name.
std::vector<ParamBase*> all_params();

// One thing that is wrong with the settings; a program reports it as a Problem.
struct ParamFault {
    std::string origin; // "environment variable ZIPMPI_SHM_CELL_SISE"
    std::string why;    // "no knob has this name"
    std::string todo;   // "did you mean ZIPMPI_SHM_CELL_SIZE? `zipmpi info --knobs` lists all"
};

// Reads file and environment. environ_like: null-terminated "NAME=value" strings.
std::vector<ParamFault> load_params(const char* const* environ_like);

// Variables ZIPMPI_* that the launcher passes to ranks, or that tools read, and that are not knobs.
void declare_plain_variable(const char* name);

} // namespace zipmpi

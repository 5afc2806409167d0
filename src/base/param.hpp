// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters: values set by the user. A parameter is declared next to its use as a namespace-scope object;
// the declaration registers it:
//
//     Param<int64_t> cell_size{"shm.cell_size", 16 * KiB, {1 * KiB, 1 * MiB}, Unit::bytes, Level::tuner,
//                              Scope::job_wide, "cell size including header"};
//
// The value comes from the environment (ZIPMPI_SHM_CELL_SIZE), else from the file named by ZIPMPI_CONFIG
// (lines name = value), else from the default. `zipmpi info`, the guide and MPI_T use this registry.
//
// Threads: load_params() reads the values during MPI_Init. Afterwards they are constant, except those with
// Mutability::runtime, which a tool may set through MPI_T.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi {

enum class Unit { none, bytes, microseconds, seconds, boolean, word };
enum class Level { user, tuner, developer };
enum class Scope { job_wide, local }; // job_wide: all ranks must have the same value
enum class Origin { built_in, file, environment, tool };
enum class Mutability { at_init, runtime }; // runtime: can change after MPI_Init; words only

struct Range {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
};

class ParamBase {
  public:
    ParamBase(const char* name, Unit unit, Level level, Scope scope, const char* help,
              Mutability changes = Mutability::at_init);
    ParamBase(const ParamBase&) = delete;
    ParamBase& operator=(const ParamBase&) = delete;
    virtual ~ParamBase() = default;

    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] const char* help() const { return help_; }
    [[nodiscard]] Unit unit() const { return unit_; }
    [[nodiscard]] Level level() const { return level_; }
    [[nodiscard]] Scope scope() const { return scope_; }
    [[nodiscard]] Origin origin() const { return origin_; }
    [[nodiscard]] bool is_mutable() const { return mutability_ == Mutability::runtime; }
    [[nodiscard]] std::string env_name() const; // "shm.cell_size" -> "ZIPMPI_SHM_CELL_SIZE"

    [[nodiscard]] virtual std::string value_text() const = 0;
    [[nodiscard]] virtual std::string default_text() const = 0;
    // Returns an empty string if the value was accepted, else the reason.
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
    Mutability mutability_;
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
    // choices: allowed words, separated by '|'; nullptr: any text
    Param(const char* name, const char* value, const char* choices, Level level, Scope scope,
          const char* help, Mutability changes = Mutability::at_init)
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

// All parameters linked into this program, sorted by name.
std::vector<ParamBase*> all_params();

// One error in the settings; programs report it as a Diagnostic.
struct ParamError {
    std::string origin; // "environment variable ZIPMPI_SHM_CELL_SISE"
    std::string why;    // "no parameter has this name"
    std::string fix;    // "did you mean ZIPMPI_SHM_CELL_SIZE? `zipmpi info --params` lists all"
};

// Reads file and environment. environ_like: null-terminated "NAME=value" strings.
std::vector<ParamError> load_params(const char* const* environ_like);

// Declares a variable ZIPMPI_* that is not a parameter: passed by the launcher to ranks, or read by tools.
void declare_internal_variable(const char* name);

} // namespace zipmpi

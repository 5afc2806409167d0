// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/signature.hpp"

#include "core/datatype/datatype.hpp"
#include "core/engine.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zipmpi::core {
namespace {

struct Members {
    TypeId value;
    TypeId index;
};

// The members of a pair; count_ if it is none.
Members members_of(TypeId id) {
    switch (id) {
    case TypeId::FLOAT_INT:
        return {TypeId::FLOAT, TypeId::INT};
    case TypeId::DOUBLE_INT:
        return {TypeId::DOUBLE, TypeId::INT};
    case TypeId::LONG_INT:
        return {TypeId::LONG, TypeId::INT};
    case TypeId::N2INT:
        return {TypeId::INT, TypeId::INT};
    case TypeId::SHORT_INT:
        return {TypeId::SHORT, TypeId::INT};
    case TypeId::LONG_DOUBLE_INT:
        return {TypeId::LONG_DOUBLE, TypeId::INT};
    case TypeId::N2REAL:
        return {TypeId::REAL, TypeId::REAL};
    case TypeId::N2DOUBLE_PRECISION:
        return {TypeId::DOUBLE_PRECISION, TypeId::DOUBLE_PRECISION};
    case TypeId::N2INTEGER:
        return {TypeId::INTEGER, TypeId::INTEGER};
    default:
        return {TypeId::count_, TypeId::count_};
    }
}

// Types may be made whose size no integer holds; they cannot be used, but must be described.
int64_t times(int64_t a, int64_t b) {
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max() : r;
}

int64_t plus(int64_t a, int64_t b) {
    int64_t r = 0;
    return __builtin_add_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max() : r;
}

SignaturePtr make(std::vector<Term> terms) {
    auto s = std::make_shared<Signature>();
    for (const Term& t : terms) {
        s->bytes = plus(s->bytes, times(t.count, bytes_of(t)));
        s->elements = plus(s->elements, times(t.count, elements_of(t)));
    }
    s->terms = std::move(terms);
    return s;
}

SignaturePtr of_predefined(TypeId id) {
    const Members pair = members_of(id);
    if (pair.value == TypeId::count_) return make({{nullptr, id, 1}});
    if (pair.value == pair.index) return make({{nullptr, pair.value, 2}});
    return make({{nullptr, pair.value, 1}, {nullptr, pair.index, 1}});
}

struct Predefined {
    std::array<SignaturePtr, static_cast<size_t>(TypeId::count_)> signatures;
    Predefined() {
        for (size_t i = 0; i < signatures.size(); ++i) signatures[i] = of_predefined(static_cast<TypeId>(i));
    }
};

void append(std::vector<Term>& terms, const Term& t) {
    if (!terms.empty() && terms.back().what == t.what && terms.back().basic == t.basic)
        terms.back().count = plus(terms.back().count, t.count);
    else
        terms.push_back(t);
}

} // namespace

int64_t bytes_of(const Term& term) {
    return term.what != nullptr ? term.what->bytes : builtin_type(term.basic).size;
}

int64_t elements_of(const Term& term) { return term.what != nullptr ? term.what->elements : 1; }

const SignaturePtr& signature_of(TypeId id) {
    static const auto* predefined = new Predefined; // kept to the end: derived types refer to it
    return predefined->signatures[static_cast<size_t>(id)];
}

bool is_pair(TypeId id, TypeId value, TypeId index) {
    const Members members = members_of(id);
    return value != TypeId::count_ && members.value == value && members.index == index;
}

SignaturePtr repeated(const SignaturePtr& what, int64_t count) {
    if (count == 1) return what;
    if (count == 0 || what->terms.empty()) return make({});
    if (what->terms.size() > 1) return make({{what, {}, count}});
    Term t = what->terms[0];
    t.count = times(t.count, count);
    return make({t});
}

SignaturePtr joined(const std::vector<SignaturePtr>& parts) {
    std::vector<Term> terms;
    for (const SignaturePtr& s : parts) {
        if (s->terms.size() > 1)
            append(terms, {s, {}, 1});
        else if (!s->terms.empty())
            append(terms, s->terms[0]);
    }
    if (terms.size() == 1 && terms[0].count == 1 && terms[0].what != nullptr) return terms[0].what;
    return make(std::move(terms));
}

bool elements_in(const Signature& signature, int64_t bytes, int64_t& elements) {
    elements = signature.bytes > 0 ? bytes / signature.bytes * signature.elements : 0;
    int64_t rest = signature.bytes > 0 ? bytes % signature.bytes : bytes;
    for (const Term& t : signature.terms) {
        const int64_t each = bytes_of(t);
        if (rest == 0 || each <= 0) break;
        const int64_t whole = std::min(t.count, rest / each);
        elements += whole * elements_of(t);
        rest -= whole * each;
        if (whole == t.count) continue;
        if (t.what == nullptr) break;
        int64_t inside = 0;
        const bool complete = elements_in(*t.what, rest, inside);
        elements += inside;
        return complete;
    }
    return rest == 0;
}

int64_t bytes_in(const Signature& signature, int64_t elements) {
    if (signature.elements == 0) return 0;
    int64_t bytes = elements / signature.elements * signature.bytes;
    int64_t rest = elements % signature.elements;
    for (const Term& t : signature.terms) {
        if (rest == 0) break;
        const int64_t each = elements_of(t);
        if (each == 0) continue;
        const int64_t whole = std::min(t.count, rest / each);
        bytes += whole * bytes_of(t);
        rest -= whole * each;
        if (whole < t.count) return rest == 0 ? bytes : bytes + bytes_in(*t.what, rest);
    }
    return bytes;
}

} // namespace zipmpi::core

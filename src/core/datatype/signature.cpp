// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/datatype/signature.hpp"

#include "core/datatype/datatype.hpp"
#include "core/runtime.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace zipmpi::core {
namespace {

struct PairMembers {
    TypeId value;
    TypeId index;
};

// The members of a pair; count_ for other types.
PairMembers members_of_pair(TypeId id) {
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

// Saturates: types whose size overflows cannot be used, but must be describable.
int64_t times(int64_t a, int64_t b) {
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max() : r;
}

int64_t plus(int64_t a, int64_t b) {
    int64_t r = 0;
    return __builtin_add_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max() : r;
}

SignaturePtr make(std::vector<SignatureTerm> terms) {
    auto s = std::make_shared<Signature>();
    for (const SignatureTerm& t : terms) {
        s->bytes = plus(s->bytes, times(t.count, bytes_of(t)));
        s->elements = plus(s->elements, times(t.count, elements_of(t)));
    }
    s->terms = std::move(terms);
    return s;
}

SignaturePtr make_predefined(TypeId id) {
    if (id == TypeId::LB || id == TypeId::UB) return make({});
    const PairMembers pair = members_of_pair(id);
    if (pair.value == TypeId::count_) return make({{nullptr, id, 1}});
    if (pair.value == pair.index) return make({{nullptr, pair.value, 2}});
    return make({{nullptr, pair.value, 1}, {nullptr, pair.index, 1}});
}

struct Predefined {
    std::array<SignaturePtr, static_cast<size_t>(TypeId::count_)> signatures;
    Predefined() {
        for (size_t i = 0; i < signatures.size(); ++i)
            signatures[i] = make_predefined(static_cast<TypeId>(i));
    }
};

void append(std::vector<SignatureTerm>& terms, const SignatureTerm& t) {
    if (!terms.empty() && terms.back().signature == t.signature && terms.back().basic == t.basic)
        terms.back().count = plus(terms.back().count, t.count);
    else
        terms.push_back(t);
}

} // namespace

int64_t bytes_of(const SignatureTerm& term) {
    return term.signature != nullptr ? term.signature->bytes : builtin_type(term.basic).size;
}

int64_t elements_of(const SignatureTerm& term) {
    return term.signature != nullptr ? term.signature->elements : 1;
}

const SignaturePtr& signature_of(TypeId id) {
    static const auto* predefined = new Predefined; // never destroyed: derived types refer to it
    return predefined->signatures[static_cast<size_t>(id)];
}

bool is_pair(TypeId id, TypeId value, TypeId index) {
    const PairMembers members = members_of_pair(id);
    return value != TypeId::count_ && members.value == value && members.index == index;
}

SignaturePtr repeated(const SignaturePtr& what, int64_t count) {
    if (count == 1) return what;
    if (count == 0 || what->terms.empty()) return make({});
    if (what->terms.size() > 1) return make({{what, {}, count}});
    SignatureTerm t = what->terms[0];
    t.count = times(t.count, count);
    return make({t});
}

SignaturePtr joined(const std::vector<SignaturePtr>& signatures) {
    std::vector<SignatureTerm> terms;
    for (const SignaturePtr& s : signatures) {
        if (s->terms.size() > 1)
            append(terms, {s, {}, 1});
        else if (!s->terms.empty())
            append(terms, s->terms[0]);
    }
    if (terms.size() == 1 && terms[0].count == 1 && terms[0].signature != nullptr) return terms[0].signature;
    return make(std::move(terms));
}

bool elements_in(const Signature& signature, int64_t bytes, int64_t& elements) {
    elements = signature.bytes > 0 ? bytes / signature.bytes * signature.elements : 0;
    int64_t rest = signature.bytes > 0 ? bytes % signature.bytes : bytes;
    for (const SignatureTerm& t : signature.terms) {
        const int64_t each = bytes_of(t);
        if (rest == 0 || each <= 0) break;
        const int64_t whole = std::min(t.count, rest / each);
        elements += whole * elements_of(t);
        rest -= whole * each;
        if (whole == t.count) continue;
        if (t.signature == nullptr) break;
        int64_t inside = 0;
        const bool complete = elements_in(*t.signature, rest, inside);
        elements += inside;
        return complete;
    }
    return rest == 0;
}

int64_t bytes_in(const Signature& signature, int64_t elements) {
    if (signature.elements == 0) return 0;
    int64_t bytes = elements / signature.elements * signature.bytes;
    int64_t rest = elements % signature.elements;
    for (const SignatureTerm& t : signature.terms) {
        if (rest == 0) break;
        const int64_t each = elements_of(t);
        if (each == 0) continue;
        const int64_t whole = std::min(t.count, rest / each);
        bytes += whole * bytes_of(t);
        rest -= whole * each;
        if (whole < t.count) return rest == 0 ? bytes : bytes + bytes_in(*t.signature, rest);
    }
    return bytes;
}

} // namespace zipmpi::core

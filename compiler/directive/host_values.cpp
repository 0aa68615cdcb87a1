// SPDX-License-Identifier: Apache-2.0
#include "host_values.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MathExtras.h>

#include <cctype>

namespace directive {

std::optional<long> literal(const std::string& text) {
    long value = 0;
    const auto digits = llvm::StringRef(text);
    return !digits.ends_with("l") || digits.drop_back().getAsInteger(10, value) ? std::nullopt : std::optional(value);
}

std::string host_values::named(const std::string& text) {
    const auto [found, is_new] = m_names.try_emplace(text, m_prefix + std::to_string(m_texts.size()));
    if (is_new) m_texts.push_back(text);
    return found->second;
}

std::string host_values::sum(const std::string& one, const std::string& other) {
    const auto left = literal(one), right = literal(other);
    long sum = 0;
    if (left && right && !llvm::AddOverflow(*left, *right, sum)) return std::to_string(sum) + "l";
    return left == 0 ? other : right == 0 ? one : call("causeway_acc_sum", one + ", " + other);
}

std::string host_values::difference(const std::string& one, const std::string& other) {
    const auto right = literal(other);
    if (right && *right > -INT64_MAX) return sum(one, std::to_string(-*right) + "l");
    return call("causeway_acc_difference", one + ", " + other);
}

std::string host_values::product(const std::string& one, const std::string& other) {
    const auto left = literal(one), right = literal(other);
    long product = 0;
    if (left && right && !llvm::MulOverflow(*left, *right, product)) return std::to_string(product) + "l";
    return left == 1 ? other : right == 1 ? one : call("causeway_acc_product", one + ", " + other);
}

std::string host_values::least(const std::string& one, const std::string& other) {
    return one == other ? one : call("causeway_acc_least", one + ", " + other);
}

std::string host_values::most(const std::string& one, const std::string& other) {
    return one == other ? one : call("causeway_acc_most", one + ", " + other);
}

std::string host_values::of_all(const std::set<std::string>& texts, bool greatest) {
    std::string all = *texts.begin();
    for (const auto& each : texts) all = greatest ? most(each, all) : least(each, all);
    return all;
}

std::optional<std::size_t> host_values::next(const std::string& text, std::size_t& from, std::size_t& begin) const {
    begin = text.find(m_prefix, from);
    if (begin == std::string::npos) return std::nullopt;
    from = begin + m_prefix.size();
    std::size_t number = 0;
    for (; from < text.size() && std::isdigit(static_cast<unsigned char>(text[from])); ++from)
        number = number * 10 + static_cast<std::size_t>(text[from] - '0');
    return number;
}

std::string host_values::definitions(const std::vector<std::string>& texts) const {
    std::vector<bool> used(m_texts.size());
    const auto note = [&](const std::string& text) {
        std::size_t begin = 0;
        for (std::size_t from = 0; const auto number = next(text, from, begin);) used[*number] = true;
    };
    for (const auto& each : texts) note(each);
    for (auto each = m_texts.size(); each-- > 0;)
        if (used[each]) note(m_texts[each]);
    std::string all;
    for (std::size_t each = 0; each < m_texts.size(); ++each)
        if (used[each]) all += "const long " + m_prefix + std::to_string(each) + " = " + m_texts[each] + ";\n";
    return all;
}

std::optional<std::string> host_values::expanded(const std::string& text, std::size_t most) const {
    auto all = text;
    std::size_t begin = 0;
    for (std::size_t from = 0; const auto number = next(all, from, begin);) {
        const auto& meant = m_texts[*number];
        const bool plain = meant.find(" ? ") == std::string::npos;
        all.replace(begin, from - begin, plain ? meant : "(" + meant + ")");
        if (all.size() > most) return std::nullopt;
        from = begin;
    }
    return all;
}

} // namespace directive

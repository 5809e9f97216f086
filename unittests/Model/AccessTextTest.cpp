//===- AccessTextTest.cpp - Tiles as text ---------------------------------===//

#include "tally/Model/AccessText.h"

#include <fmt/format.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace tally;

namespace {

std::string canonical(std::string_view text) {
  std::string error;
  std::optional<ParsedAccess> access = parseAccess(text, error);
  EXPECT_EQ(access.has_value(), error.empty());
  return access ? toString(*access) : error;
}

} // namespace

TEST(AccessTextTest, parts) {
  std::string error;
  std::optional<ParsedAccess> access = parseAccess("X[A mod 2, 4:128:2]", error);
  ASSERT_TRUE(access) << error;
  EXPECT_EQ(access->buffer, "X");
  EXPECT_FALSE(access->anywhere);
  ASSERT_EQ(access->dims.size(), 2u);
  const TileExpr &mod = access->exprs[access->dims[0].first];
  EXPECT_EQ(mod.kind, TileExpr::Kind::Mod);
  EXPECT_EQ(mod.value, 2);
  EXPECT_EQ(access->exprs[mod.a].kind, TileExpr::Kind::Loop);
  EXPECT_EQ(access->names[access->exprs[mod.a].name], "A");
  EXPECT_FALSE(access->dims[0].size.valid());
  EXPECT_EQ(access->exprs[access->dims[1].first].value, 4);
  EXPECT_EQ(access->exprs[access->dims[1].size].value, 128);
  EXPECT_EQ(access->dims[1].stride, 2);
}

TEST(AccessTextTest, canonicalText) {
  EXPECT_EQ(canonical("X"), "X");
  EXPECT_EQ(canonical(" X [ @ ] "), "X[@]");
  EXPECT_EQ(canonical("X[A  mod 2,0:128]"), "X[A mod 2, 0:128]");
  EXPECT_EQ(canonical("X[2*A]"), "X[A * 2]");
  EXPECT_EQ(canonical("X[2*(A+B)]"), "X[(A + B) * 2]");
  EXPECT_EQ(canonical("X[2*3*A*4]"), "X[A * 24]");
  EXPECT_EQ(canonical("X[-A]"), "X[A * -1]");
  EXPECT_EQ(canonical("X[-5 + A]"), "X[-5 + A]");
  EXPECT_EQ(canonical("X[A - (B - 1)]"), "X[A - (B - 1)]");
  EXPECT_EQ(canonical("X[(A - B) - 1]"), "X[A - B - 1]");
  EXPECT_EQ(canonical("X[A + (-1)]"), "X[A + -1]");
  EXPECT_EQ(canonical("X[2 * -A]"), "X[A * -2]");
  EXPECT_EQ(canonical("X[(A mod 3) floordiv 2]"), "X[(A mod 3) floordiv 2]");
  EXPECT_EQ(canonical("X[2*A mod 3]"), "X[(A * 2) mod 3]");
  EXPECT_EQ(canonical("X[total( A )mod 2, $n:$m:1]"), "X[total(A) mod 2, $n:$m]");
  EXPECT_EQ(canonical("c.else[c.else]"), "c.else[c.else]");
}

TEST(AccessTextTest, guards) {
  EXPECT_EQ(canonical("X if A==0"), "X if A == 0");
  EXPECT_EQ(canonical("X[@] if A != trips( A )-1"), "X[@] if A != trips(A) - 1");
  EXPECT_EQ(canonical("X[A] if A<2 and B<=$n and 1>A and total(A)>=3"),
            "X[A] if A < 2 and B <= $n and 1 > A and total(A) >= 3");
  EXPECT_EQ(canonical(R"("if"["trips"] if "and" == 0)"), R"("if"["trips"] if "and" == 0)");
  EXPECT_EQ(canonical("X if A"),
            "column 7: expected a comparison: '==', '!=', '<', '<=', '>' or '>='");
  EXPECT_EQ(canonical("X if A = 0"),
            "column 8: expected a comparison: '==', '!=', '<', '<=', '>' or '>='");
  EXPECT_EQ(canonical("X if A == 0 and"),
            "column 16: expected an integer, a loop, '$', 'total', 'trips' or '('");
}

TEST(AccessTextTest, guardsHold) {
  using Relation = TileGuard::Relation;
  for (int64_t left : {-1, 0, 1}) {
    EXPECT_EQ((TileGuard{Relation::Equal, {}, {}}.holds(left, 0)), left == 0);
    EXPECT_EQ((TileGuard{Relation::NotEqual, {}, {}}.holds(left, 0)), left != 0);
    EXPECT_EQ((TileGuard{Relation::Less, {}, {}}.holds(left, 0)), left < 0);
    EXPECT_EQ((TileGuard{Relation::LessEqual, {}, {}}.holds(left, 0)), left <= 0);
    EXPECT_EQ((TileGuard{Relation::Greater, {}, {}}.holds(left, 0)), left > 0);
    EXPECT_EQ((TileGuard{Relation::GreaterEqual, {}, {}}.holds(left, 0)), left >= 0);
  }
}

TEST(AccessTextTest, quotedNames) {
  EXPECT_EQ(canonical(R"("X"["A"])"), "X[A]");
  EXPECT_EQ(canonical(R"("my buf"["outer loop" + $"a b", total("mod")])"),
            R"("my buf"["outer loop" + $"a b", total("mod")])");
  EXPECT_EQ(canonical(R"("a\"b\\c")"), R"("a\"b\\c")");
}

TEST(AccessTextTest, namesBeyondAscii) {
  EXPECT_EQ(canonical("Größe[äußere mod 2, $längs]"), "Größe[äußere mod 2, $längs]");
  EXPECT_EQ(canonical(R"("行列"["列"])"), "行列[列]");
}

TEST(AccessTextTest, errorsNameTheColumn) {
  EXPECT_EQ(canonical(""), "column 1: expected the name of a buffer");
  EXPECT_EQ(canonical("X["), "column 3: expected an integer, a loop, '$', 'total', 'trips' or '('");
  EXPECT_EQ(canonical("X[]"),
            "column 3: expected an integer, a loop, '$', 'total', 'trips' or '('");
  EXPECT_EQ(canonical("X[A"), "column 4: expected ',', ':' or ']'");
  EXPECT_EQ(canonical("X[A] Y"), "column 6: expected the end of the tile");
  EXPECT_EQ(canonical("X[@, 1]"), "column 4: expected ']'");
  EXPECT_EQ(canonical("X[A * B]"), "column 7: expected an integer: one of the two "
                                   "factors of '*' must be a number");
  EXPECT_EQ(canonical("X[A / 2]"), "column 5: there is no '/'; division is written "
                                   "'floordiv', and rounds down");
  EXPECT_EQ(canonical("X[A % 2]"), "column 5: there is no '%'; the remainder is written 'mod'");
  EXPECT_EQ(canonical("X[A mod 0]"), "column 9: a modulus must be at least 1");
  EXPECT_EQ(canonical("X[A mod B]"), "column 9: expected an integer");
  EXPECT_EQ(canonical("X[A floordiv 0]"), "column 14: a divisor must be at least 1");
  EXPECT_EQ(canonical("X[0:0]"), "column 5: the size of a tile must be at least 1");
  EXPECT_EQ(canonical("X[0:1:0]"), "column 7: a stride must be at least 1");
  EXPECT_EQ(canonical("X[mod]"), "column 3: 'mod' is a reserved word; as a name it must be quoted");
  EXPECT_EQ(canonical("X[9223372036854775808]"), "column 21: the integer does not fit in 64 bits");
  EXPECT_EQ(canonical("X[4611686018427387904 * 2 * A]"),
            "column 26: the product does not fit in 64 bits");
  EXPECT_EQ(canonical("X[A * -(-4611686018427387904 * 2)]"),
            "column 34: the product does not fit in 64 bits");
  EXPECT_EQ(canonical("X[total A]"), "column 9: expected '('");
  EXPECT_EQ(canonical("X[(A]"), "column 5: expected ')'");
  EXPECT_EQ(canonical("\"X"), "column 3: expected '\"' at the end of the name");
  EXPECT_EQ(canonical("\"\""), "column 3: expected a name between the quotes");
  EXPECT_EQ(canonical(std::string_view("X\0", 2)), "column 2: expected the end of the tile");
}

/// Neither parentheses nor long sums can exhaust the stack.
TEST(AccessTextTest, sizeIsBounded) {
  std::string deep = "X[" + std::string(100000, '(');
  EXPECT_EQ(canonical(deep), "column 104: more than 100 parentheses inside one another");
  std::string many = "X[(A)";
  for (int i = 0; i < 150; ++i) {
    many += "+(A)";
  }
  EXPECT_EQ(canonical(many + "]").find("column"), std::string::npos);
  std::string wide = "X[A";
  for (int i = 0; i < 100000; ++i) {
    wide += "+A";
  }
  EXPECT_NE(canonical(wide + "]").find("the tile has more than 1000 terms"), std::string::npos);
}

namespace {

/// A random expression in any legal spelling, or nearly: products may exceed the grammar.
std::string randomExpr(int depth) {
  int kind = *rc::gen::inRange(0, depth > 0 ? 10 : 4);
  auto inner = [&] { return randomExpr(depth - 1); };
  auto integer = [] { return std::to_string(*rc::gen::inRange(1, 9)); };
  switch (kind) {
  case 0:
    return integer();
  case 1:
    return *rc::gen::element<std::string>("A", "B", "c.else", "\"x y\"");
  case 2:
    return "$n";
  case 3:
    return "total(A)";
  case 4:
    return inner() + "+" + inner();
  case 5:
    return inner() + " - (" + inner() + ")";
  case 6:
    return "(" + inner() + ")*-" + integer();
  case 7:
    return integer() + " * (" + inner() + ")";
  case 8:
    return "(" + inner() + ") mod " + integer();
  default:
    return "-(" + inner() + ") floordiv " + integer();
  }
}

/// Value of an expression where each leaf has some fixed value.
int64_t valueOf(const ParsedAccess &access, TileExprId id) {
  const TileExpr &e = access.exprs[id];
  auto floorDiv = [](int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  switch (e.kind) {
  case TileExpr::Kind::Constant:
    return e.value;
  case TileExpr::Kind::Loop:
    return 17 + static_cast<int64_t>(access.names[e.name].size());
  case TileExpr::Kind::Total:
  case TileExpr::Kind::Trips:
    return 101;
  case TileExpr::Kind::Symbol:
    return 1009;
  case TileExpr::Kind::Add:
    return valueOf(access, e.a) + valueOf(access, e.b);
  case TileExpr::Kind::Sub:
    return valueOf(access, e.a) - valueOf(access, e.b);
  case TileExpr::Kind::Scale:
    return valueOf(access, e.a) * e.value;
  case TileExpr::Kind::Mod:
    return valueOf(access, e.a) - e.value * floorDiv(valueOf(access, e.a), e.value);
  case TileExpr::Kind::FloorDiv:
    return floorDiv(valueOf(access, e.a), e.value);
  }
  return 0;
}

} // namespace

/// Printing what was parsed gives a text that parses to the same value and prints the same.
RC_GTEST_PROP(AccessTextTest, printedTextIsStable, ()) {
  std::string text = "X[" + randomExpr(4) + ", " + randomExpr(2) + ":4:3]";
  std::string error;
  std::optional<ParsedAccess> first = parseAccess(text, error);
  RC_LOG() << text << "\n";
  RC_ASSERT(first.has_value());
  std::string printed = toString(*first);
  std::optional<ParsedAccess> second = parseAccess(printed, error);
  RC_LOG() << printed << "\n";
  RC_ASSERT(second.has_value());
  RC_ASSERT(toString(*second) == printed);
  for (size_t i = 0; i < first->dims.size(); ++i) {
    RC_ASSERT(valueOf(*first, first->dims[i].first) == valueOf(*second, second->dims[i].first));
  }
}

/// No text whatever crashes the parser, and what is refused has a reason.
RC_GTEST_PROP(AccessTextTest, anyTextIsReadOrRefused, ()) {
  std::string text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("XA[],:@$()+-*19 \"\\modtalf.")));
  std::string error;
  std::optional<ParsedAccess> access = parseAccess(text, error);
  RC_ASSERT(access.has_value() == error.empty());
  if (access) {
    RC_ASSERT(canonical(toString(*access)) == toString(*access));
  }
}

namespace {

std::string canonicalCondition(std::string_view text) {
  std::string error;
  std::optional<ParsedAccess> condition = parseCondition(text, error);
  EXPECT_EQ(condition.has_value(), error.empty());
  return condition ? conditionText(*condition) : error;
}

/// A condition about numbers, and what it is worth.
struct Condition {
  std::string text;
  bool holds = false;
};

Condition randomComparison() {
  auto left = *rc::gen::inRange(0, 3);
  auto right = *rc::gen::inRange(0, 3);
  constexpr std::string_view signs[] = {"==", "!=", "<", "<=", ">", ">="};
  const bool truths[] = {left == right, left != right, left<right, left <= right, left> right,
                         left >= right};
  auto which = *rc::gen::inRange<size_t>(0, std::size(signs));
  const bool isWrapped = *rc::gen::arbitrary<bool>();
  return {fmt::format("{}{}{} {} {}", isWrapped ? "(" : "", left, isWrapped ? " + 0)" : "",
                      signs[which], right),
          truths[which]};
}

/// Joined by `and` or `or`, and each part by either.
Condition randomCondition(int depth) {
  if (depth == 0) {
    return randomComparison();
  }
  const bool isOr = *rc::gen::arbitrary<bool>();
  Condition all{"", !isOr};
  auto numParts = *rc::gen::inRange(1, 4);
  for (int i = 0; i < numParts; ++i) {
    const bool isNegated = *rc::gen::arbitrary<bool>();
    const bool isAlone = *rc::gen::arbitrary<bool>();
    Condition part = isAlone ? randomComparison() : randomCondition(depth - 1);
    part.text =
        fmt::format(fmt::runtime(isAlone ? "{}{}" : "{}({})"), isNegated ? "not " : "", part.text);
    part.holds = part.holds != isNegated;
    all.text += (i == 0 ? "" : isOr ? " or " : " and ") + part.text;
    all.holds = isOr ? all.holds || part.holds : all.holds && part.holds;
  }
  return all;
}

} // namespace

TEST(AccessTextTest, conditions) {
  EXPECT_EQ(canonicalCondition("not i < 2"), "i >= 2");
  EXPECT_EQ(canonicalCondition("not not (i) < 2"), "i < 2");
  EXPECT_EQ(canonicalCondition("not (i < 2 and (j + 1) * 2 == k)"), "i >= 2 or (j + 1) * 2 != k");
  EXPECT_EQ(canonicalCondition("(i < 2) and ((j > 1))"), "i < 2 and j > 1");
  EXPECT_EQ(canonicalCondition("\"(\" < 2 or (\"<\" >= 1)"), "\"(\" < 2 or \"<\" >= 1");
  EXPECT_EQ(canonicalCondition("\"not\" < 2"), "\"not\" < 2");
  EXPECT_EQ(canonicalCondition("i < 1 and ((j < 1 or (k < 1)))"), "i < 1 and (j < 1 or k < 1)");
  EXPECT_EQ(canonicalCondition("not (i < 1 or j < 1) or k < 1"), "(i >= 1 and j >= 1) or k < 1");
  EXPECT_EQ(canonicalCondition("i < 1 and (j < 1 or (k < 1 and l < 1))"),
            "i < 1 and (j < 1 or k < 1) and (j < 1 or l < 1)");
  EXPECT_EQ(canonicalCondition("i < 1 or (j < 1 and not (k < 1 and (l < 1 or m < 1)))"),
            "i < 1 or (j < 1 and k >= 1) or (j < 1 and l >= 1 and m >= 1)");
  EXPECT_EQ(canonicalCondition("i < 1 and j < 1 or k < 1"),
            "column 17: 'and' and 'or' stand side by side; put one of the two in parentheses");
  EXPECT_EQ(canonicalCondition("not < 2"),
            "column 5: expected an integer, a loop, '$', 'total', 'trips' or '('");
  EXPECT_EQ(canonicalCondition("not (i < 2"), "column 11: expected ')'");
  std::string deep = std::string(200, '(') + "i < 2" + std::string(200, ')');
  EXPECT_EQ(canonicalCondition(deep), "column 102: more than 100 parentheses inside one another");
  std::string wide = "i < 2", deep20 = "i < 2";
  for (int i = 0; i < 20; ++i) {
    wide += " and (i < 2 or j < 2)";
    deep20 += " or ((i < 2 or j < 2) and (k < 2 or l < 2) and (m < 2 or n < 2))";
  }
  EXPECT_EQ(canonicalCondition(wide), wide);
  constexpr std::string_view tooMany =
      "the condition has more than 1000 comparisons once 'and' is in 'or' or 'or' in 'and', and no "
      "deeper; put a part of it into a 'tally.if' of its own";
  EXPECT_TRUE(canonicalCondition(deep20).ends_with("or (j < 2 and l < 2 and n < 2)"));
  EXPECT_TRUE(canonicalCondition("i < 2 and (j < 2 or (" + wide + "))").size() < 1000);
  EXPECT_TRUE(
      canonicalCondition("i < 2 or (j < 2 and (k < 2 or (" + wide + ")))").ends_with(tooMany));
  std::string negated;
  for (int i = 0; i < 100'001; ++i) {
    negated += "not ";
  }
  EXPECT_EQ(canonicalCondition(negated + "i < 2"), "i >= 2");
}

/// What is read holds where the text does.
RC_GTEST_PROP(AccessTextTest, conditionsMeanWhatTheySay, ()) {
  const Condition condition = randomCondition(3);
  std::string error;
  std::optional<ParsedAccess> read = parseCondition(condition.text, error);
  RC_LOG() << condition.text << "\n" << error << "\n";
  RC_ASSERT(read.has_value());
  auto isMet = [](const ParsedAccess &one) {
    return one.isMetBy([&](const TileGuard &guard) {
      return guard.holds(valueOf(one, guard.left), valueOf(one, guard.right));
    });
  };
  RC_ASSERT(isMet(*read) == condition.holds);
  std::optional<ParsedAccess> again = parseCondition(conditionText(*read), error);
  RC_ASSERT(again.has_value());
  RC_ASSERT(conditionText(*again) == conditionText(*read));
  RC_ASSERT(isMet(*again) == condition.holds);
}

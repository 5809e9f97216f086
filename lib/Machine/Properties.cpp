//===- Properties.cpp - What is not a parameter of a machine, by name --------===//

#include "Properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tally::machines {
namespace {

template <auto Field> void store(Machine &machine, std::optional<uint32_t> value) {
  using Type = std::remove_reference_t<decltype(machine.*Field)>;
  if constexpr (std::is_same_v<Type, std::optional<uint32_t>>) {
    machine.*Field = value;
  } else {
    machine.*Field = static_cast<Type>(*value);
  }
}

template <auto Field> constexpr Property limit(std::string_view key, std::string_view unit) {
  return {"limits", key, 1, UINT32_MAX, true, {}, unit, store<Field>};
}

template <auto Field>
constexpr Property number(std::string_view group, std::string_view key, uint32_t least,
                          uint32_t most, std::string_view unit) {
  return {group, key, least, most, false, {}, unit, store<Field>};
}

template <auto Field>
constexpr Property choice(std::string_view group, std::string_view key,
                          std::array<std::string_view, 2> words) {
  return {group, key, 0, 1, false, words, "", store<Field>};
}

constexpr std::array all{
    limit<&Machine::semaphores>("semaphores", "semaphores"),
    limit<&Machine::registersPerEngine>("registers_per_engine", "registers"),
    number<&Machine::counterBits>("limits", "counter_bits", 8, 32, "bits"),
    number<&Machine::instructionBytes>("encoding", "instruction_bytes", 1, 1 << 20, "bytes"),
    choice<&Machine::subtraction>("alu", "subtraction", wordsOf<Subtraction>),
    choice<&Machine::waitCompare>("wait", "compare", wordsOf<WaitCompare>),
    choice<&Machine::queueOverlap>("queue", "overlap", words("false", "true")),
    choice<&Machine::completion>("queue", "completion", wordsOf<Completion>)};

/// None if the text says no value of this property.
std::optional<uint32_t> numberFrom(const Property &property, std::string_view text) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool isGood = error == std::errc() && end == text.data() + text.size() &&
                value >= property.least && value <= property.most;
  return isGood ? std::optional(value) : std::nullopt;
}

std::string allowedText(const Property &property) {
  return !property.isNumber() ? fmt::format("{} or {}", property.words[0], property.words[1])
         : property.mayBeNone
             ? "a number, or none"
             : fmt::format("a number from {} to {}", property.least, property.most);
}

} // namespace

std::string Property::name() const {
  return fmt::format("{}.{}", group, key);
}

std::span<const Property> properties() {
  return all;
}

const Property *findProperty(std::string_view name) {
  auto found = std::ranges::find(all, name, &Property::name);
  return found != all.end() ? &*found : nullptr;
}

std::string setProperty(Machine &machine, const Property &property, std::string_view value) {
  auto word = std::ranges::find(property.words, value);
  bool isWord = !property.isNumber() && word != property.words.end();
  bool isNone = property.mayBeNone && value == "none";
  std::optional<uint32_t> number =
      isWord                ? std::optional(static_cast<uint32_t>(word - property.words.begin()))
      : property.isNumber() ? numberFrom(property, value)
                            : std::nullopt;
  if (!number && !isNone) {
    return fmt::format("'{}' is not a value of '{}', which is {}", value, property.name(),
                       allowedText(property));
  }
  property.store(machine, number);
  return "";
}

} // namespace tally::machines

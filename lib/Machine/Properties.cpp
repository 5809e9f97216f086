//===- Properties.cpp - What is no parameter of a machine, by name --------===//

#include "Properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tally {
namespace {

/// Stores a value; false if it is none of those that `allowed` describes.
struct Property {
  std::string_view name;
  std::string_view allowed;
  bool (*set)(Machine &machine, std::string_view value);
};

template <uint32_t Least, uint32_t Most> bool read(std::string_view text, uint32_t &number) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good =
      error == std::errc() && end == text.data() + text.size() && value >= Least && value <= Most;
  number = good ? value : number;
  return good;
}

bool readLimit(std::string_view text, std::optional<uint32_t> &limit) {
  uint32_t value = 0;
  if (text != "none" && !read<1, UINT32_MAX>(text, value)) {
    return false;
  }
  limit = text == "none" ? std::nullopt : std::optional(value);
  return true;
}

/// One of two words.
template <typename Value>
bool choose(std::string_view text, std::string_view first, std::string_view second, Value &value) {
  if (text != first && text != second) {
    return false;
  }
  value = static_cast<Value>(text == second);
  return true;
}

constexpr std::array properties{
    Property{"limits.semaphores", "a number, or none",
             [](Machine &m, std::string_view v) { return readLimit(v, m.semaphores); }},
    Property{"limits.registers_per_engine", "a number, or none",
             [](Machine &m, std::string_view v) { return readLimit(v, m.registersPerEngine); }},
    Property{"limits.counter_bits", "a number from 8 to 32",
             [](Machine &m, std::string_view v) { return read<8, 32>(v, m.counterBits); }},
    Property{
        "encoding.instruction_bytes", "a number from 1 to 1048576",
        [](Machine &m, std::string_view v) { return read<1, 1 << 20>(v, m.instructionBytes); }},
    Property{"alu.subtraction", "wraps or saturates",
             [](Machine &m, std::string_view v) {
               return choose(v, "wraps", "saturates", m.subtraction);
             }},
    Property{"wait.compare", "unsigned or signed",
             [](Machine &m, std::string_view v) {
               return choose(v, "unsigned", "signed", m.waitCompare);
             }},
    Property{
        "queue.overlap", "true or false",
        [](Machine &m, std::string_view v) { return choose(v, "false", "true", m.queueOverlap); }},
    Property{
        "queue.completion", "whole or split",
        [](Machine &m, std::string_view v) { return choose(v, "whole", "split", m.completion); }},
};

const Property *find(std::string_view name) {
  auto found = std::find_if(properties.begin(), properties.end(),
                            [&](const Property &property) { return property.name == name; });
  return found != properties.end() ? &*found : nullptr;
}

} // namespace

std::vector<std::string_view> propertyNames() {
  std::vector<std::string_view> names;
  for (const Property &property : properties) {
    names.push_back(property.name);
  }
  return names;
}

bool isProperty(std::string_view name) {
  return find(name) != nullptr;
}

std::string setProperty(Machine &machine, std::string_view name, std::string_view value) {
  const Property *property = find(name);
  return property->set(machine, value)
             ? ""
             : fmt::format("'{}' is no value of '{}', which is {}", value, name, property->allowed);
}

} // namespace tally

//===- Format.cpp - The numbers that memory holds -------------------------===//

#include "tally/Data/Format.h"

#include "Arithmetic.h"

#include <algorithm>
#include <array>

namespace tally {

namespace {

/// A row of the table in the header.
struct Named {
  std::string_view name;
  std::string_view npy;
  data::arithmetic::Layout layout;
};

constexpr std::array<Named, numFormats> formats{{
    {"f32", "<f4", data::arithmetic::f32},
    {"f16", "<f2", data::arithmetic::f16},
    {"bf16", "<u2", data::arithmetic::bf16},
    {"fp8", "|u1", data::arithmetic::fp8},
    {"fp8_e5m2", "|u1", data::arithmetic::fp8_e5m2},
    {"fp8_e3m4", "|u1", data::arithmetic::fp8_e3m4},
    {"fp8_e4m3fn", "|u1", data::arithmetic::fp8_e4m3fn},
    {"i8", "|i1", data::arithmetic::i8},
    {"u8", "|u1", data::arithmetic::u8},
    {"i16", "<i2", data::arithmetic::i16},
    {"u16", "<u2", data::arithmetic::u16},
    {"i32", "<i4", data::arithmetic::i32},
    {"u32", "<u4", data::arithmetic::u32},
}};

const Named &named(Format format) {
  return formats[static_cast<size_t>(format)];
}

const data::arithmetic::Layout &layoutOf(Format format) {
  return named(format).layout;
}

} // namespace

std::optional<Format> formatNamed(std::string_view elementType) {
  constexpr std::pair<std::string_view, std::string_view> otherNames[] = {
      {"fp32", "f32"},  {"fp16", "f16"},   {"fp8_e4m3", "fp8"}, {"int8", "i8"},   {"uint8", "u8"},
      {"int16", "i16"}, {"uint16", "u16"}, {"int32", "i32"},    {"uint32", "u32"}};
  for (auto [other, name] : otherNames) {
    elementType = other == elementType ? name : elementType;
  }
  auto found = std::ranges::find(formats, elementType, &Named::name);
  return found != formats.end() ? std::optional(static_cast<Format>(found - formats.begin()))
                                : std::nullopt;
}

std::string_view toString(Format format) {
  return named(format).name;
}

std::string allFormats() {
  std::string names;
  for (const Named &format : formats) {
    names += &format == &formats.front() ? "" : &format == &formats.back() ? " and " : ", ";
    names += format.name;
  }
  return names;
}

std::string_view npyType(Format format) {
  return named(format).npy;
}

uint32_t sizeOf(Format format) {
  return static_cast<uint32_t>(layoutOf(format).bits()) / 8;
}

int64_t decodeWhole(Format format, uint32_t bits) {
  return data::arithmetic::decodeWhole(layoutOf(format), bits);
}

uint32_t encodeWhole(Format format, int64_t value) {
  return data::arithmetic::encodeWhole(layoutOf(format), value);
}

float decode(Format format, uint32_t bits) {
  return data::arithmetic::decode(layoutOf(format), bits);
}

uint32_t encode(Format format, float value) {
  return data::arithmetic::encode(layoutOf(format), value);
}

} // namespace tally

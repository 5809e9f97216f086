//===- StructProperties.h - Plain structs as properties of operations -----===//
//
// The functions that MLIR finds by name for a property: to and from an attribute (the
// generic form), a hash, to and from bytecode. Each is written once, over the
// field list of a struct (Data.h), and once for each type of field.
//
// The generic form leaves out fields with their default value; bytecode holds all, in
// order. Readers take nothing for granted: input may be damaged, so counts are never
// trusted with memory.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_IR_STRUCTPROPERTIES_H
#define TALLY_IR_STRUCTPROPERTIES_H

#include "tally/Written/Data.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Hashing.h"

#include <concepts>
#include <type_traits>

namespace tally::ir {

using namespace written;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The largest value of each enumeration, so that none outside it is ever read.
constexpr uint64_t maxOf(Completion) {
  return uint64_t(Completion::Split);
}

constexpr uint64_t maxOf(Trip::Kind) {
  return uint64_t(Trip::Kind::Guard);
}

constexpr uint64_t maxOf(DepKind) {
  return uint64_t(DepKind::WAW);
}

constexpr uint64_t maxOf(DistanceForm) {
  return uint64_t(DistanceForm::Element);
}

constexpr uint64_t maxOf(AluOp) {
  return uint64_t(AluOp::IsGT);
}

/// Stops at the first field for which `fn` fails.
template <typename S, typename Fn> mlir::LogicalResult tryEachField(Fn &&fn) {
  bool ok = true;
  forEachField<S>([&](const auto &field) { ok = ok && mlir::succeeded(fn(field)); });
  return mlir::success(ok);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename T> mlir::Attribute fieldToAttribute(mlir::MLIRContext *context, const T &value);

template <Struct S> mlir::Attribute convertToAttribute(mlir::MLIRContext *context, const S &value) {
  llvm::SmallVector<mlir::NamedAttribute> entries;
  const S defaults;
  forEachField<S>([&](const auto &field) {
    if (value.*field.member != defaults.*field.member) {
      entries.emplace_back(mlir::StringAttr::get(context, field.name),
                           fieldToAttribute(context, value.*field.member));
    }
  });
  return mlir::DictionaryAttr::get(context, entries);
}

template <typename T> mlir::Attribute fieldToAttribute(mlir::MLIRContext *context, const T &value) {
  if constexpr (Struct<T>) {
    return convertToAttribute(context, value);
  } else if constexpr (isVector<T>) {
    llvm::SmallVector<mlir::Attribute> items;
    for (const auto &item : value) {
      items.push_back(fieldToAttribute(context, item));
    }
    return mlir::ArrayAttr::get(context, items);
  } else if constexpr (isOptional<T>) {
    return fieldToAttribute(context, *value); // without one it is the default, left out
  } else if constexpr (std::is_same_v<T, Ref>) {
    return mlir::StringAttr::get(context, value.name);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return mlir::StringAttr::get(context, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return mlir::BoolAttr::get(context, value);
  } else {
    return mlir::IntegerAttr::get(mlir::IntegerType::get(context, 64), static_cast<int64_t>(value));
  }
}

/// Says that `name` has the wrong form, if anybody listens.
inline mlir::LogicalResult wrongForm(const char *name, const char *expected, EmitError emitError) {
  if (emitError) {
    emitError() << "property '" << name << "' must be " << expected;
  }
  return mlir::failure();
}

template <Struct S>
mlir::LogicalResult convertFromAttribute(S &value, mlir::Attribute attribute, EmitError emitError);

inline mlir::LogicalResult fieldFromAttribute(std::string &value, mlir::Attribute attribute,
                                              const char *name, EmitError emitError) {
  auto text = mlir::dyn_cast<mlir::StringAttr>(attribute);
  if (!text) {
    return wrongForm(name, "a string", emitError);
  }
  value = text.getValue().str();
  return mlir::success();
}

inline mlir::LogicalResult fieldFromAttribute(Ref &value, mlir::Attribute attribute,
                                              const char *name, EmitError emitError) {
  return fieldFromAttribute(value.name, attribute, name, emitError);
}

inline mlir::LogicalResult fieldFromAttribute(bool &value, mlir::Attribute attribute,
                                              const char *name, EmitError emitError) {
  auto flag = mlir::dyn_cast<mlir::BoolAttr>(attribute);
  if (!flag) {
    return wrongForm(name, "true or false", emitError);
  }
  value = flag.getValue();
  return mlir::success();
}

template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
mlir::LogicalResult fieldFromAttribute(T &value, mlir::Attribute attribute, const char *name,
                                       EmitError emitError) {
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
  if (!number || !number.getType().isInteger(64)) {
    return wrongForm(name, "a 64-bit number", emitError);
  }
  if constexpr (std::is_enum_v<T>) {
    if (number.getValue().getZExtValue() > maxOf(T())) {
      return wrongForm(name, "one of its kinds", emitError);
    }
  }
  value = static_cast<T>(number.getValue().getZExtValue());
  return mlir::success();
}

template <Struct S>
mlir::LogicalResult fieldFromAttribute(S &value, mlir::Attribute attribute, const char *,
                                       EmitError emitError) {
  return convertFromAttribute(value, attribute, emitError);
}

template <typename T>
mlir::LogicalResult fieldFromAttribute(std::vector<T> &value, mlir::Attribute attribute,
                                       const char *name, EmitError emitError) {
  auto items = mlir::dyn_cast<mlir::ArrayAttr>(attribute);
  if (!items) {
    return wrongForm(name, "a list", emitError);
  }
  value.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (mlir::failed(fieldFromAttribute(value[i], items[i], name, emitError))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

template <typename T>
mlir::LogicalResult fieldFromAttribute(std::optional<T> &value, mlir::Attribute attribute,
                                       const char *name, EmitError emitError) {
  return fieldFromAttribute(value.emplace(), attribute, name, emitError);
}

template <Struct S>
mlir::LogicalResult convertFromAttribute(S &value, mlir::Attribute attribute, EmitError emitError) {
  auto dictionary = mlir::dyn_cast_or_null<mlir::DictionaryAttr>(attribute);
  if (!dictionary) {
    return wrongForm("data", "a dictionary", emitError);
  }
  value = S();
  size_t used = 0;
  mlir::LogicalResult result = tryEachField<S>([&](auto field) {
    mlir::Attribute entry = dictionary.get(field.name);
    used += entry ? 1 : 0;
    return entry ? fieldFromAttribute(value.*field.member, entry, field.name, emitError)
                 : mlir::success();
  });
  if (mlir::failed(result)) {
    return mlir::failure();
  }
  return used == dictionary.size() ? mlir::success()
                                   : wrongForm("data", "without unknown entries", emitError);
}

//===----------------------------------------------------------------------===//
// Hash
//===----------------------------------------------------------------------===//

template <typename T> llvm::hash_code hashOfField(const T &value);

template <Struct S> llvm::hash_code hash_value(const S &value) {
  llvm::hash_code hash(0);
  forEachField<S>([&](const auto &field) {
    hash = llvm::hash_combine(hash, hashOfField(value.*field.member));
  });
  return hash;
}

template <typename T> llvm::hash_code hashOfField(const T &value) {
  if constexpr (Struct<T>) {
    return hash_value(value);
  } else if constexpr (isVector<T>) {
    llvm::hash_code hash(value.size());
    for (const auto &item : value) {
      hash = llvm::hash_combine(hash, hashOfField(item));
    }
    return hash;
  } else if constexpr (isOptional<T>) {
    return value ? hashOfField(*value) : llvm::hash_code(0);
  } else if constexpr (std::is_same_v<T, Ref>) {
    return llvm::hash_value(value.name);
  } else {
    return llvm::hash_value(value);
  }
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

template <typename T> void writeField(mlir::DialectBytecodeWriter &writer, const T &value);

template <Struct S> void writeToMlirBytecode(mlir::DialectBytecodeWriter &writer, const S &value) {
  forEachField<S>([&](const auto &field) { writeField(writer, value.*field.member); });
}

template <typename T> void writeField(mlir::DialectBytecodeWriter &writer, const T &value) {
  if constexpr (Struct<T>) {
    writeToMlirBytecode(writer, value);
  } else if constexpr (isVector<T>) {
    writer.writeVarInt(value.size());
    for (const auto &item : value) {
      writeField(writer, item);
    }
  } else if constexpr (isOptional<T>) {
    writer.writeVarInt(value.has_value());
    if (value) {
      writeField(writer, *value);
    }
  } else if constexpr (std::is_same_v<T, Ref>) {
    writer.writeOwnedString(value.name);
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.writeOwnedString(value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    writer.writeSignedVarInt(value);
  } else {
    writer.writeVarInt(static_cast<uint64_t>(value));
  }
}

template <Struct S> mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, S &value);

inline mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, std::string &value) {
  llvm::StringRef text;
  if (mlir::failed(reader.readString(text))) {
    return mlir::failure();
  }
  value = text.str();
  return mlir::success();
}

inline mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, Ref &value) {
  return readField(reader, value.name);
}

inline mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, uint64_t &value) {
  return reader.readVarInt(value);
}

inline mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, int64_t &value) {
  return reader.readSignedVarInt(value);
}

/// Reads a number up to `max`.
inline mlir::LogicalResult readUpTo(mlir::DialectBytecodeReader &reader, uint64_t max,
                                    uint64_t &value) {
  if (mlir::failed(reader.readVarInt(value))) {
    return mlir::failure();
  }
  if (value > max) {
    return reader.emitError("damaged property: found ") << value << ", expected at most " << max;
  }
  return mlir::success();
}

template <typename T>
  requires std::is_same_v<T, bool> || std::is_enum_v<T>
mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, T &value) {
  uint64_t max = 1;
  if constexpr (std::is_enum_v<T>) {
    max = maxOf(T());
  }
  uint64_t number = 0;
  if (mlir::failed(readUpTo(reader, max, number))) {
    return mlir::failure();
  }
  value = static_cast<T>(number);
  return mlir::success();
}

template <typename T>
mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, std::optional<T> &value) {
  uint64_t present = 0;
  if (mlir::failed(readUpTo(reader, 1, present))) {
    return mlir::failure();
  }
  return present != 0 ? readField(reader, value.emplace()) : mlir::success();
}

/// Grows item by item: a wrong count ends where the input does.
template <typename T>
mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, std::vector<T> &value) {
  uint64_t size = 0;
  if (mlir::failed(reader.readVarInt(size))) {
    return mlir::failure();
  }
  for (uint64_t i = 0; i < size; ++i) {
    if (mlir::failed(readField(reader, value.emplace_back()))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

template <Struct S> mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, S &value) {
  return tryEachField<S>([&](auto field) { return readField(reader, value.*field.member); });
}

/// The version of the encoding: of what is written for the fields of all structs. Files without one
/// are older.
inline constexpr uint64_t bytecodeVersion = 2;

/// The fields of an operation. Bytes of another version might fit, and mean something else.
template <Struct S>
mlir::LogicalResult readFromMlirBytecode(mlir::DialectBytecodeReader &reader, S &value) {
  if (mlir::failed(reader.getDialectVersion("tally"))) {
    return reader.emitError(
        "bytecode of an earlier version of tally; write it anew from its source");
  }
  return readField(reader, value);
}

} // namespace tally::ir

#endif // TALLY_IR_STRUCTPROPERTIES_H

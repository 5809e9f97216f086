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

#include "tally/Written/Text.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Hashing.h"

namespace tally::ir {

using namespace written;

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The largest value of a flag or an enumeration, so that none outside it is ever read.
template <typename T> constexpr uint64_t maxOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else {
    return wordsOf<T>.size() - 1;
  }
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

/// Says that `name` has the wrong form, if there is a listener.
inline mlir::LogicalResult wrongForm(const char *name, const char *expected, EmitError emitError) {
  if (emitError) {
    emitError() << "property '" << name << "' must be " << expected;
  }
  return mlir::failure();
}

template <Struct S>
mlir::LogicalResult convertFromAttribute(S &value, mlir::Attribute attribute, EmitError emitError);

template <typename T>
mlir::LogicalResult fieldFromAttribute(T &value, mlir::Attribute attribute, const char *name,
                                       EmitError emitError) {
  if constexpr (Struct<T>) {
    return convertFromAttribute(value, attribute, emitError);
  } else if constexpr (isOptional<T>) {
    return fieldFromAttribute(value.emplace(), attribute, name, emitError);
  } else if constexpr (isVector<T>) {
    auto items = mlir::dyn_cast<mlir::ArrayAttr>(attribute);
    value.resize(items ? items.size() : 0);
    bool ok = true;
    for (size_t i = 0; ok && i < value.size(); ++i) {
      ok = mlir::succeeded(fieldFromAttribute(value[i], items[i], name, emitError));
    }
    return items ? mlir::success(ok) : wrongForm(name, "a list", emitError);
  } else if constexpr (std::is_same_v<T, Ref>) {
    return fieldFromAttribute(value.name, attribute, name, emitError);
  } else if constexpr (std::is_same_v<T, std::string>) {
    auto text = mlir::dyn_cast<mlir::StringAttr>(attribute);
    value = text ? text.getValue().str() : "";
    return text ? mlir::success() : wrongForm(name, "a string", emitError);
  } else if constexpr (std::is_same_v<T, bool>) {
    auto flag = mlir::dyn_cast<mlir::BoolAttr>(attribute);
    value = flag && flag.getValue();
    return flag ? mlir::success() : wrongForm(name, "true or false", emitError);
  } else {
    auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
    if (!number || !number.getType().isInteger(64)) {
      return wrongForm(name, "a 64-bit number", emitError);
    }
    uint64_t bits = number.getValue().getZExtValue();
    if constexpr (std::is_enum_v<T>) {
      if (bits > maxOf<T>()) {
        return wrongForm(name, "one of its kinds", emitError);
      }
    }
    value = static_cast<T>(bits);
    return mlir::success();
  }
}

template <Struct S>
mlir::LogicalResult convertFromAttribute(S &value, mlir::Attribute attribute, EmitError emitError) {
  auto dictionary = mlir::dyn_cast_or_null<mlir::DictionaryAttr>(attribute);
  if (!dictionary) {
    return wrongForm("data", "a dictionary", emitError);
  }
  value = S();
  size_t used = 0;
  mlir::LogicalResult result = tryEachField<S>([&](const auto &field) {
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

/// Equal structs have equal texts.
template <Struct S> llvm::hash_code hash_value(const S &value) {
  std::string text;
  appendText(text, value);
  return llvm::hash_value(text);
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

/// Grows lists item by item: a wrong count ends where the input does.
template <typename T> mlir::LogicalResult readField(mlir::DialectBytecodeReader &reader, T &value) {
  if constexpr (Struct<T>) {
    return tryEachField<T>(
        [&](const auto &field) { return readField(reader, value.*field.member); });
  } else if constexpr (isVector<T>) {
    uint64_t size = 0;
    bool ok = mlir::succeeded(reader.readVarInt(size));
    for (uint64_t i = 0; ok && i < size; ++i) {
      ok = mlir::succeeded(readField(reader, value.emplace_back()));
    }
    return mlir::success(ok);
  } else if constexpr (isOptional<T>) {
    bool isThere = false;
    mlir::LogicalResult result = readField(reader, isThere);
    return isThere ? readField(reader, value.emplace()) : result;
  } else if constexpr (std::is_same_v<T, Ref>) {
    return readField(reader, value.name);
  } else if constexpr (std::is_same_v<T, std::string>) {
    llvm::StringRef text;
    mlir::LogicalResult result = reader.readString(text);
    value = text.str();
    return result;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return reader.readSignedVarInt(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return reader.readVarInt(value);
  } else {
    uint64_t number = 0;
    if (mlir::failed(reader.readVarInt(number))) {
      return mlir::failure();
    }
    if (number > maxOf<T>()) {
      return reader.emitError("damaged property: found ")
             << number << ", expected at most " << maxOf<T>();
    }
    value = static_cast<T>(number);
    return mlir::success();
  }
}

/// The version of the encoding: of what is written for the fields of all structs. Files without one
/// are older.
inline constexpr uint64_t bytecodeVersion = 10;

/// The fields of an operation. Bytes of another version might fit, and mean something else.
template <Struct S>
mlir::LogicalResult readFromMlirBytecode(mlir::DialectBytecodeReader &reader, S &value) {
  if (mlir::failed(reader.getDialectVersion("tally"))) {
    return reader.emitError(
        "bytecode of an earlier version of tally; write it again from its source");
  }
  return readField(reader, value);
}

} // namespace tally::ir

#endif // TALLY_IR_STRUCTPROPERTIES_H

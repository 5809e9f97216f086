//===- MembersTest.cpp - Every member of every document, spoilt -----------===//
//
// Of each schema there are documents that hold whatever there is. Each member of them, at any
// depth, is left out, given twice, and gets values that it never has; each object gets a member
// that is not known. All of that is an error which says where, except for members that may be left
// out. Which ones may follows from the lists of fields. Of the compact form the same is said.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Written/Compact.h"

#include "tally/Check/Schedule.h"
#include "tally/Machine/Machine.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/Data.h"
#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>

using namespace tally;

namespace {

using Json = nlohmann::ordered_json;
using Keys = std::set<std::string>;

/// The errors of the reader of a schema; empty if it takes the text.
using Reader = std::string (*)(const std::string &text);

template <auto Read> std::string errorsOf(const std::string &text) {
  Diagnostics diagnostics;
  Read(text, diagnostics);
  return render(diagnostics, {"k.json"});
}

std::string errorsOfKernel(const std::string &text) {
  return errorsOf<[](const std::string &text, Diagnostics &diagnostics) {
    readKernelJson(text, "k.json", diagnostics);
  }>(text);
}

std::string errorsOfCode(const std::string &text) {
  return errorsOf<[](const std::string &text, Diagnostics &diagnostics) {
    readCodeJson(text, "k.json", diagnostics);
  }>(text);
}

std::string errorsOfSchedule(const std::string &text) {
  return errorsOf<[](const std::string &text, Diagnostics &diagnostics) {
    readScheduleFile(text, diagnostics);
  }>(text);
}

std::string errorsOfMachine(const std::string &text) {
  return render(parseMachine(text, "k.json").errors, {"k.json"});
}

//===----------------------------------------------------------------------===//
// What may be left out
//===----------------------------------------------------------------------===//

template <written::Struct S> void addFields(Keys &keys, bool isNeeded) {
  written::forEachField<S>([&]<typename T>(const written::Field<S, T> &field) {
    if constexpr (std::is_same_v<T, written::QueueData>) {
      addFields<T>(keys, isNeeded);
    } else if constexpr (std::is_same_v<T, written::DistanceData>) {
      keys.insert({"distance", "flat", "element"});
    } else if (field.isNeededInJson() == isNeeded) {
      keys.insert(field.jsonKey());
    }
  });
}

template <written::Struct S> Keys optional(Keys more = {}) {
  addFields<S>(more, /*isNeeded=*/false);
  return more;
}

/// An operation of code, by its `op`. That a sum has two operands is no matter of fields.
Keys optionalOfStep(const std::string &op) {
  Keys keys;
  written::forSteps([&]<written::Struct S>(const S &) {
    if (op == S::jsonWord) {
      keys = optional<S>(written::hasBranches<S> ? Keys{"else"} : Keys{});
    }
  });
  keys.erase("b");
  return keys;
}

/// Of an object at `path`, a JSON pointer. What a document has besides lists of fields is named
/// here, as the page does.
Keys optionalIn(const std::string &path, const Json &object) {
  auto isIn = [&](std::string_view list) {
    return path.rfind('/') >= list.size() &&
           path.compare(path.rfind('/') - list.size(), list.size(), list) == 0;
  };
  if (object.contains("schema")) {
    std::string schema = object["schema"];
    return schema == "tally-kernel"
               ? optional<written::KernelData>({"values", "buffers", "dependences", "loc"})
           : schema == "tally-code"    ? Keys{"dependences"}
           : schema == "tally-machine" ? Keys{"description", "queue", "parameters", "facts"}
                                       : optional<ScheduleFile>();
  }
  if (object.contains("confidence")) {
    return {"range", "note"};
  }
  if (path == "/queue") {
    return {"overlap", "completion"}; // one of the two will do
  }
  if (path == "/parameters" || path == "/facts" || path.ends_with("/distance")) {
    Keys all; // the keys are names
    for (const auto &[key, value] : object.items()) {
      all.insert(key);
    }
    return all;
  }
  if (object.contains("op") && object["op"].is_string() && !object.contains("queue")) {
    return optionalOfStep(object["op"]);
  }
  const Keys loc{"loc"};
  return object.contains("instr") && object.contains("queue") ? optional<written::InstrData>(loc)
         : object.contains("loop")                            ? optional<written::LoopData>(loc)
         : object.contains("if")         ? optional<written::IfData>({"loc", "else"})
         : path.ends_with("/trips")      ? Keys{"min", "max"}
         : path.ends_with("/ring")       ? optional<written::SlotsData>()
         : path.ends_with("/partitions") ? optional<written::PartitionsData>()
         : object.contains("code")       ? optional<written::ProgramData>()
         : isIn("/engines")              ? optional<written::EngineData>(loc)
         : isIn("/queues")               ? optional<written::QueueData>()
         : isIn("/values")               ? optional<written::ValueData>(loc)
         : isIn("/buffers")              ? optional<written::BufferData>(loc)
         : isIn("/registers")            ? optional<written::RegisterData>()
         : object.contains("id")         ? Keys{}
         : isIn("/dependences")          ? optional<written::DepData>(loc)
                                         : Keys{};
}

//===----------------------------------------------------------------------===//
// Spoiling
//===----------------------------------------------------------------------===//

/// `body[0].trips` of `/body/0/trips`.
std::string inErrors(const std::string &pointer) {
  std::string path;
  std::istringstream parts(pointer.substr(std::min<size_t>(1, pointer.size())));
  for (std::string part; std::getline(parts, part, '/');) {
    bool isNumber = part.find_first_not_of("0123456789") == std::string::npos;
    path += isNumber ? "[" + part + "]" : (path.empty() ? "" : ".") + part;
  }
  return path;
}

/// Whether some list holds objects and something else, which has no compact form.
bool isMixed(const Json &value) {
  bool isList = value.is_array() && !value.empty() && value[0].is_object();
  bool isHere = isList && !std::ranges::all_of(value, [](const Json &v) { return v.is_object(); });
  return isHere || (value.is_structured() && std::ranges::any_of(value, isMixed));
}

std::string compact(const std::string &text) {
  written::CompactJson json;
  json.add(text);
  return json.finish();
}

/// The messages, without their places, by which they are ordered.
std::multiset<std::string> messagesOf(const std::string &errors) {
  std::istringstream lines(errors);
  std::multiset<std::string> all;
  for (std::string line; std::getline(lines, line);) {
    all.insert(line.substr(std::min(line.find(" error: "), line.size())));
  }
  return all;
}

class Spoiler {
public:
  Spoiler(Json document, Reader errorsOf, bool isAlsoCompact = false)
      : document(std::move(document)), errorsOf(errorsOf), isAlsoCompact(isAlsoCompact) {}

  void run() {
    ASSERT_EQ(errorsOf(document.dump()), "");
    visit("", document);
    EXPECT_GT(spoilt, 0u);
  }

private:
  using Pointer = Json::json_pointer;

  void visit(const std::string &path, const Json &value) {
    if (value.is_object()) {
      visitObject(path, value);
    }
    for (const auto &[key, each] : value.items()) {
      if (value.is_structured()) {
        std::string inside = path + "/" + key;
        changeType(inside, each);
        visit(inside, each);
      }
    }
  }

  void visitObject(const std::string &path, const Json &object) {
    Json more = document;
    more[Pointer(path)]["zz"] = 1;
    expectError(more.dump(), "zz", path + " with 'zz'");
    const Keys mayGo = optionalIn(path, object);
    for (const auto &[key, value] : object.items()) {
      Json less = document;
      less[Pointer(path)].erase(key);
      if (!mayGo.contains(key)) {
        expectError(less.dump(), key, path + " without '" + key + "'");
      } else {
        EXPECT_EQ(errorsOf(less.dump()).find("'" + key + "' is missing"), std::string::npos)
            << path << " without '" << key << "'";
      }
      giveTwice(path, key, value);
    }
  }

  void giveTwice(const std::string &path, const std::string &key, const Json &value) {
    Json twice = document;
    twice[Pointer(path)]["zz"] = value;
    std::string text = twice.dump();
    text.replace(text.find("\"zz\""), 4, "\"" + key + "\"");
    expectError(text, "the key '" + key + "' is given twice", path + " with two '" + key + "'");
  }

  /// No member takes any of these, but a flag `true`, and `null` what is there and may be nothing.
  void changeType(const std::string &path, const Json &value) {
    static const Keys mayBeNull{"counter", "wait", "signal", "code", "strategy", "machine"};
    std::string key = path.substr(path.rfind('/') + 1);
    bool isPart = key.find_first_not_of("0123456789") == std::string::npos; // of an array
    bool isOfMachine = document["schema"] == "tally-machine"; // has fractions, and what is no limit
    std::vector<Json> wrong{Json::parse("[[]]"), Json::parse(R"({"?": ""})"), ""};
    if (!isOfMachine) {
      wrong.emplace_back(-0.5);
    }
    if (!value.is_boolean()) {
      wrong.emplace_back(true);
    }
    bool isNullable = !isPart && (mayBeNull.contains(key) || (isOfMachine && key == "value"));
    if (!isNullable) {
      wrong.emplace_back(nullptr);
    }
    for (const Json &each : wrong) {
      Json changed = document;
      changed[Pointer(path)] = each;
      // A machine's lists are no more than numbers: an error is about all of one.
      std::string named = isOfMachine && isPart ? path.substr(0, path.rfind('/')) : path;
      expectError(changed.dump(), inErrors(named), path + " = " + each.dump());
    }
  }

  /// An error with a place, which names `what`, or what it is in.
  void expectError(const std::string &text, const std::string &what, const std::string &how) {
    ++spoilt;
    std::string errors = errorsOf(text);
    EXPECT_NE(errors, "") << how << " is taken";
    EXPECT_EQ(errors.rfind("k.json:1:", 0), 0u) << how << ": " << errors;
    EXPECT_NE(errors.find(what), std::string::npos) << how << ": " << errors;
    if (isAlsoCompact && !isMixed(Json::parse(text))) {
      std::string inCompact = errorsOf(compact(text));
      EXPECT_EQ(messagesOf(inCompact), messagesOf(errors)) << how;
      EXPECT_EQ(inCompact.rfind("k.json:", 0), 0u) << how << ": " << inCompact;
    }
  }

  const Json document;
  const Reader errorsOf;
  const bool isAlsoCompact;
  size_t spoilt = 0;
};

std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json corpus(const std::string &name) {
  return Json::parse(contents(CORPUS_DIRECTORY "/" + name));
}

} // namespace

TEST(MembersTest, kernels) {
  Spoiler(corpus("everything.json"), errorsOfKernel, /*isAlsoCompact=*/true).run();
}

TEST(MembersTest, code) {
  Spoiler(corpus("barrier.json"), errorsOfCode, /*isAlsoCompact=*/true).run();
  std::string page = contents(DOCS_DIRECTORY "/json/Code.md");
  size_t begin = page.find("{\n  \"schema\": \"tally-code\"");
  std::string example = page.substr(begin, page.find("```", begin) - begin);
  Spoiler(Json::parse(example), errorsOfCode, /*isAlsoCompact=*/true).run();
}

TEST(MembersTest, schedules) {
  Spoiler(corpus("schedule.json"), errorsOfSchedule).run();
}

TEST(MembersTest, machines) {
  Spoiler(corpus("machine.json"), errorsOfMachine).run();
}

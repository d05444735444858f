// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/type_names.hpp"

#include <utility>

#include "programs/evenkeel/types/cxx_names.hpp"

namespace evenkeel::program {
namespace {

/// Returns the words of a path, each with a capital: "SecretRef" has two.
TypePath parts_of(const TypePath& path) {
  TypePath parts;
  for (const std::string& word : path) {
    for (const std::string& part : words_of(word)) parts.push_back(pascal_name(part));
  }
  return parts;
}

/// Returns the words that the ends of all paths have in common, joined.
std::string common_end(const std::vector<TypePath>& paths) {
  std::vector<TypePath> parts;
  for (const TypePath& path : paths) parts.push_back(parts_of(path));
  std::string end;
  for (std::size_t back = 1; back <= parts[0].size(); ++back) {
    const std::string& word = parts[0][parts[0].size() - back];
    for (const TypePath& each : parts) {
      if (back > each.size() || each[each.size() - back] != word) return end;
    }
    end.insert(0, word);
  }
  return end;
}

/// Returns the words joined; "Spec" is left out of the names below it.
std::string joined(const TypePath& path) {
  std::string out;
  for (std::size_t i = path.size() > 1 && path[0] == "Spec" ? 1 : 0; i < path.size(); ++i) out += path[i];
  return out;
}

std::string resolve(std::string type, const std::vector<std::string>& names) {
  const std::size_t start = type.find('\x01');
  if (start == std::string::npos) return type;
  const std::size_t end = type.find('\x02');
  return type.replace(start, end - start + 1, names[std::stoul(type.substr(start + 1, end - start - 1))]);
}

std::string name_of(const TypeDraft& draft, const std::string& kind, std::set<std::string>& taken) {
  if (draft.paths.empty()) return kind;
  if (draft.paths.size() > 1) {
    const std::string shared = common_end(draft.paths);
    if (!shared.empty() && taken.insert(kind + shared).second) return kind + shared;
  }
  return take_name(kind + joined(draft.paths[0]), taken);
}

}  // namespace

std::string draft_mark(std::size_t draft) {
  return "\x01" + std::to_string(draft) + "\x02";
}

std::vector<Declaration> name_types(std::vector<TypeDraft> drafts, const std::string& kind,
                                    std::set<std::string>& taken) {
  std::vector<std::string> names;
  for (const TypeDraft& draft : drafts) names.push_back(name_of(draft, kind, taken));
  std::vector<Declaration> types;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    Declaration& declaration = types.emplace_back(std::move(drafts[i].declaration));
    declaration.name = names[i];
    for (Member& member : declaration.members) member.type = resolve(member.type, names);
  }
  return types;
}

}  // namespace evenkeel::program

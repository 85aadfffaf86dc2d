// Faults that change nothing that anyone could see, declared where they are in the kernel's source:
//
//   // Equivalent if drop_barrier: each thread reads back only what it wrote.
//   // Equivalent if or_equal of lt, always: …
//   // Equivalent if through_f16 of store in mt_sign: its results are exact.
//   // Equivalent if loses_nan of max in row.h: the sum is a NaN then as well.
//
// The comment stands above a statement, or at the end of a line for that line alone. It names faults of `tile mutate`,
// each with the op it is in where the line has several, and with the kernels (a name or pattern) where several share
// the line. With `in FILE` it stands anywhere in a kernel's file and is about all lines of FILE, for the kernels that
// are registered in its own.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "mt/harness/mutate.h"

namespace mt {

struct DeclaredEquivalent {
  std::string file;         // from the root of the sources
  int line = 0;             // of the comment
  int first = 0, last = 0;  // lines that it is about
  std::string fault, op;    // op: empty for any
  std::string in;           // another file, without folders; empty: this one
  std::string kernel;       // pattern of names; empty: any
  std::string reason;
  bool used = false;  // some mutant that survives is this one
};

class Equivalents {
 public:
  /// `root`: the folder that holds `kernels/`.
  explicit Equivalents(std::string root) : root_(std::move(root)) {}
  /// Reads the declarations of the file that a mutant is in. Throws Error where the source can't be read or a
  /// declaration names no fault.
  void look_at(const Mutant& m);
  /// The declaration about a mutant that survived, which counts as used from now on; null where there
  /// is none. Throws as look_at.
  const DeclaredEquivalent* find(const Mutant& m);
  /// What is wrong with declarations in the files looked at that no mutant used, `file:line: …`. It tells something
  /// only where all mutants of these files were run.
  std::vector<std::string> stale() const;

 private:
  std::vector<DeclaredEquivalent>& of_file(const std::string& file);
  std::string root_;
  std::map<std::string, std::vector<DeclaredEquivalent>> files_;
};

/// Declarations in the text of a file. Throws Error, `file:line: …`.
std::vector<DeclaredEquivalent> declared_equivalents(const std::string& file, std::string_view text);

}  // namespace mt

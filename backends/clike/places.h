// Places of the source, carried through printed text between marks.
#pragma once
#include <string>
#include <vector>

#include "mt/ir/kernel.h"

namespace mt::clike {

/// The place at the head of a line, as the address of its file's name and a line number.
std::string mark_place(const Loc& loc);
/// Takes the marks off; `places` receives one place a line.
std::string split_places(const std::string& marked, std::vector<Loc>& places);

}  // namespace mt::clike

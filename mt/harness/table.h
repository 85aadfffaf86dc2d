// Columns of text for people, and how numbers read in them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mt {

/// Whether output to this file descriptor should hold colour and cursor movement: a terminal, NO_COLOR unset or empty.
bool is_terminal(int fd);
bool colour_wanted(int fd);
/// The text between the terminal's codes for a colour ("31" red, "32" green), or as it is.
std::string painted(const std::string& text, const char* code, bool colour);

class Table {
 public:
  enum class Align { Left, Right };
  /// Headings; numbers go to the right.
  explicit Table(std::vector<std::pair<std::string, Align>> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// Lines that end in a newline, columns two blanks apart, no blanks at the ends of lines.
  std::string text() const;
  std::string markdown() const;

 private:
  std::vector<std::pair<std::string, Align>> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `12,345,678`.
std::string grouped(std::int64_t n);
/// `1.23 ms` and its like, three digits.
std::string time_text(double seconds);
/// `512 B`, `4 KiB`, `256 MiB`.
std::string bytes_text(double bytes);

/// A line on stderr that is drawn over itself; silent where stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  void show(const std::string& line);
  void clear();

 private:
  bool on_;
  bool shown_ = false;
};

}  // namespace mt

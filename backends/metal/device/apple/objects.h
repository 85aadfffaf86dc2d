// Strings, errors and lifetimes between C++ and Foundation.
#pragma once
#include <string>

#include <Foundation/Foundation.hpp>

namespace mt::metal {

/// Objects that Metal hands out to be released later are, at the end of this.
class Pool {
 public:
  Pool() : pool_(NS::AutoreleasePool::alloc()->init()) {}
  ~Pool() { pool_->release(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  NS::AutoreleasePool* pool_;
};

inline std::string text_of(const NS::String* s) {
  const char* bytes = s ? s->utf8String() : nullptr;
  return bytes ? bytes : "";
}

/// Lives until the pool ends.
inline NS::String* string_of(const std::string& s) { return NS::String::string(s.c_str(), NS::UTF8StringEncoding); }

inline std::string message_of(const NS::Error* e, const char* otherwise) {
  const std::string text = e ? text_of(e->localizedDescription()) : "";
  return text.empty() ? otherwise : text;
}

}  // namespace mt::metal

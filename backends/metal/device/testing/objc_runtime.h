// A stand-in for Objective-C's runtime: messages reach functions by the class's name and the selector, objects are
// counted. With it the sources that only a Mac compiles for use run here, against a Metal of the tests' own
// (fake_metal.h).
//
// It is stricter than the true one: a message that no class has, one to an object that was freed, an object released
// once too often, and one that was left to a pool where there is none, each fail the test.
#pragma once
#include <string>
#include <utility>

namespace mt::objc {

struct Object {
  explicit Object(std::string name) : class_name(std::move(name)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
  /// The last reference is gone; the memory stays, so that messages which come later are seen.
  virtual void ended() {}
  std::string class_name;
  int references = 1;
};

/// Objects that were made and have not ended.
int live_objects();

Object* retain(Object* object);
void release(Object* object);
Object* autorelease(Object* object);
void noted(Object* object);
/// Counts a new object among the live ones.
template <class T, class... Args>
T* make(Args&&... args) {
  T* object = new T(std::forward<Args>(args)...);
  noted(object);
  return object;
}
using Function = void (*)();
/// The function that a message runs; `class_name` starts with + for messages to the class itself.
void define(const std::string& class_name, const std::string& selector, Function function);
template <class R, class... A>
bool method(const std::string& class_name, const std::string& selector, R (*function)(A...)) {
  define(class_name, selector, reinterpret_cast<Function>(function));
  return true;
}

}  // namespace mt::objc

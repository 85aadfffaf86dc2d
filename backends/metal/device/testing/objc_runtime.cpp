#include "backends/metal/device/testing/objc_runtime.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace mt::objc {
namespace {

struct Runtime {
  std::set<std::string> selectors;
  std::map<std::string, Object*> classes;
  std::map<std::string, std::map<std::string, Function>> methods;
  int live = 0;
};
// Never destroyed: metal-cpp's static objects and those of tests use it at any time.
Runtime& runtime() {
  static Runtime* all = new Runtime;
  return *all;
}

thread_local std::vector<std::vector<Object*>> pools;

struct PoolObject : Object {
  PoolObject() : Object("NSAutoreleasePool") { pools.emplace_back(); }
  void ended() override {
    const std::vector<Object*> left = std::move(pools.back());
    pools.pop_back();
    for (Object* o : left) release(o);
  }
};

Function find(const Object& object, const char* selector) {
  for (const std::string& name : {object.class_name, std::string()}) {
    const auto methods = runtime().methods.find(name);
    if (methods == runtime().methods.end()) continue;
    const auto found = methods->second.find(selector);
    if (found != methods->second.end()) return found->second;
  }
  return nullptr;
}

Object* same(Object* self, const char*) { return self; }
[[maybe_unused]] const bool defined =
    method(
        "", "retain", +[](Object* self, const char*) { return retain(self); }) &&
    method(
        "", "release", +[](Object* self, const char*) { release(self); }) &&
    method(
        "", "autorelease", +[](Object* self, const char*) { return autorelease(self); }) &&
    method("", "init", &same) &&
    method(
        "", "respondsToSelector:",
        +[](Object* self, const char*, const char* other) { return find(*self, other) != nullptr; }) &&
    method(
        "+NSAutoreleasePool", "alloc", +[](Object*, const char*) -> Object* { return make<PoolObject>(); });

long long nothing() { return 0; }

}  // namespace

int live_objects() { return runtime().live; }
void noted(Object*) { ++runtime().live; }

Object* retain(Object* object) {
  if (object) ++object->references;
  return object;
}

void release(Object* object) {
  if (!object) return;
  if (--object->references > 0) return;
  if (object->references < 0) {
    ADD_FAILURE() << object->class_name << " is released once too often";
    return;
  }
  --runtime().live;
  object->ended();
}

Object* autorelease(Object* object) {
  if (pools.empty())
    ADD_FAILURE() << object->class_name << " is left to a pool, and there is none";
  else
    pools.back().push_back(object);
  return object;
}

void define(const std::string& class_name, const std::string& selector, Function function) {
  runtime().methods[class_name][selector] = function;
}

/// What objc_msgSend jumps to.
extern "C" Function mt_objc_lookup(Object* self, const char* selector) {
  const auto none = reinterpret_cast<Function>(&nothing);
  if (!self) return none;  // a message to nil does nothing
  if (self->references <= 0) {
    ADD_FAILURE() << selector << " is sent to a " << self->class_name << " that was freed";
    return none;
  }
  if (const Function f = find(*self, selector)) return f;
  ADD_FAILURE() << self->class_name << " does not understand " << selector;
  return none;
}

}  // namespace mt::objc

extern "C" {
const char* sel_registerName(const char* name) { return mt::objc::runtime().selectors.insert(name).first->c_str(); }
void* objc_lookUpClass(const char* name) {
  auto& made = mt::objc::runtime().classes[name];
  if (!made) made = new mt::objc::Object("+" + std::string(name));
  return made;
}
void* objc_getProtocol(const char*) { return nullptr; }

// Of blocks, which metal-cpp makes in functions that nobody calls here.
void* _NSConcreteStackBlock[32];
void _Block_object_assign(void*, const void*, int) {}
void _Block_object_dispose(const void*, int) {}
}

#if defined(__x86_64__)
// The receiver and the selector are the first two arguments, or the second and third where the first is the place of a
// large result. Every register that may hold an argument is as it was when the method starts.
#define SAVE                                                                                                    \
  "  push %rbp\n  mov %rsp, %rbp\n  sub $192, %rsp\n"                                                           \
  "  mov %rdi, 0(%rsp)\n  mov %rsi, 8(%rsp)\n  mov %rdx, 16(%rsp)\n  mov %rcx, 24(%rsp)\n  mov %r8, 32(%rsp)\n" \
  "  mov %r9, 40(%rsp)\n  mov %rax, 48(%rsp)\n"                                                                 \
  "  movups %xmm0, 64(%rsp)\n  movups %xmm1, 80(%rsp)\n  movups %xmm2, 96(%rsp)\n  movups %xmm3, 112(%rsp)\n"   \
  "  movups %xmm4, 128(%rsp)\n  movups %xmm5, 144(%rsp)\n  movups %xmm6, 160(%rsp)\n  movups %xmm7, 176(%rsp)\n"
#define GO                                                                                                       \
  "  call mt_objc_lookup@PLT\n  mov %rax, %r11\n"                                                                \
  "  mov 0(%rsp), %rdi\n  mov 8(%rsp), %rsi\n  mov 16(%rsp), %rdx\n  mov 24(%rsp), %rcx\n  mov 32(%rsp), %r8\n"  \
  "  mov 40(%rsp), %r9\n  mov 48(%rsp), %rax\n"                                                                  \
  "  movups 64(%rsp), %xmm0\n  movups 80(%rsp), %xmm1\n  movups 96(%rsp), %xmm2\n  movups 112(%rsp), %xmm3\n"    \
  "  movups 128(%rsp), %xmm4\n  movups 144(%rsp), %xmm5\n  movups 160(%rsp), %xmm6\n  movups 176(%rsp), %xmm7\n" \
  "  leave\n  jmp *%r11\n"
asm(".text\n.globl objc_msgSend\n.globl objc_msgSend_fpret\n.globl objc_msgSend_stret\n"
    ".type objc_msgSend, @function\n.type objc_msgSend_fpret, @function\n.type objc_msgSend_stret, @function\n"
    "objc_msgSend:\nobjc_msgSend_fpret:\n" SAVE GO "objc_msgSend_stret:\n" SAVE
    "  mov %rsi, %rdi\n  mov %rdx, %rsi\n" GO ".section .note.GNU-stack,\"\",@progbits\n.text\n");
#endif

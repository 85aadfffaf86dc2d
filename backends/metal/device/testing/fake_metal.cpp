#include "backends/metal/device/testing/fake_metal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "backends/metal/device/testing/objc_runtime.h"
#include "backends/metal/device/testing/text_gpu.h"

namespace mt::objc {

Machine& machine() {
  static Machine* all = new Machine;
  return *all;
}

namespace {

using Sel = const char*;

/// Three numbers side by side, as MTLSize and the version of the system are.
struct Three {
  std::uint64_t x, y, z;
};

struct String : Object {
  explicit String(std::string t) : Object("NSString"), text(std::move(t)) {}
  std::string text;
};
String* string(const std::string& text) { return static_cast<String*>(autorelease(make<String>(text))); }

struct Plain : Object {
  using Object::Object;
};
template <class T>
T* autoreleased(T* object) {
  autorelease(object);
  return object;
}

struct Array : Object {
  Array() : Object("NSArray") {}
  void ended() override {
    for (Object* o : all) release(o);
  }
  std::vector<Object*> all;
};

struct Dictionary : Object {
  Dictionary() : Object("NSDictionary") {}
  void ended() override { release(value); }
  std::string key;
  Object* value = nullptr;
};

struct ErrorObject : Object {
  ErrorObject(long c, std::string d, std::string m)
      : Object("NSError"), code(c), domain(std::move(d)), message(std::move(m)) {}
  void ended() override { release(info); }
  long code;
  std::string domain, message;
  Dictionary* info = nullptr;
};

struct BufferObject : Object {
  explicit BufferObject(std::size_t n)
      : Object("MTLBuffer"),
        bytes(n),
        memory(static_cast<std::byte*>(std::aligned_alloc(16384, (n + 16383) / 16384 * 16384)), &std::free) {
    std::memset(memory.get(), 0xa5, n);
  }
  void ended() override { memory.reset(); }
  std::size_t bytes;
  std::unique_ptr<std::byte, decltype(&std::free)> memory;
};

struct Library : Object {
  Library(std::string t, std::vector<TextKernel> k) : Object("MTLLibrary"), text(std::move(t)), kernels(std::move(k)) {}
  std::string text;
  std::vector<TextKernel> kernels;  // none where nothing reads the text here
};
struct FunctionObject : Object {
  FunctionObject(std::string t, TextKernel k) : Object("MTLFunction"), text(std::move(t)), kernel(std::move(k)) {}
  std::string text;
  TextKernel kernel;
};
struct Pipeline : Object {
  explicit Pipeline(const FunctionObject& f) : Object("MTLComputePipelineState"), text(f.text), kernel(f.kernel) {}
  bool takes(std::uint64_t index) const {
    return std::any_of(kernel.parameters.begin(), kernel.parameters.end(), [&](const TextParameter& p) {
      return p.kind == TextParameter::Kind::Buffer && static_cast<std::uint64_t>(p.index) == index;
    });
  }
  std::string text;
  TextKernel kernel;
};

struct Launch {
  Pipeline* pipeline = nullptr;
  std::map<std::uint64_t, std::pair<BufferObject*, std::uint64_t>> buffers;
  std::map<std::uint64_t, std::vector<std::byte>> bytes;
  Three groups{}, threads{};
};

struct Log : Object {
  explicit Log(std::string t) : Object("MTLFunctionLog"), text(std::move(t)) {}
  std::string text;
};

struct Descriptor : Object {
  Descriptor() : Object("MTLCommandBufferDescriptor") {}
  std::uint64_t error_options = 0;
};

struct CommandBuffer : Object {
  CommandBuffer() : Object("MTLCommandBuffer") {}
  void ended() override {
    for (Launch& l : launches) {
      release(l.pipeline);
      for (auto& [index, b] : l.buffers) release(b.first);
    }
    release(error);
    for (Object* o : logs) release(o);
  }
  std::vector<Launch> launches;
  bool encoding = false, committed = false, done = false;
  std::uint64_t error_options = 0;
  ErrorObject* error = nullptr;
  std::vector<Object*> logs;
  double seconds = 0;
};

struct Encoder : Object {
  explicit Encoder(CommandBuffer* b) : Object("MTLComputeCommandEncoder"), buffer(b) { retain(b); }
  void ended() override {
    EXPECT_FALSE(open) << "an encoder is freed before endEncoding";
    release(buffer);
  }
  CommandBuffer* buffer;
  Launch next;
  bool open = true;
};

void run(CommandBuffer& c) {
  const TextRunner* runner = metal::testing::text_runner();
  for (Launch& l : c.launches) {
    if (!runner) return;
    TextLaunch t;
    t.kernel = l.pipeline->kernel.name;
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t groups[] = {l.groups.x, l.groups.y, l.groups.z};
      const std::uint64_t threads[] = {l.threads.x, l.threads.y, l.threads.z};
      t.threads[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(threads[k]);
      t.grid[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(groups[k] * threads[k]);
    }
    // What an earlier launch of the encoder bound stays bound; a kernel sees its own indices.
    for (auto& [index, b] : l.buffers)
      if (l.pipeline->takes(index))
        t.buffers.push_back(
            {static_cast<int>(index), b.first->memory.get() + b.second, b.first->bytes - b.second, std::nullopt});
    for (auto& [index, b] : l.bytes)
      if (l.pipeline->takes(index)) t.buffers.push_back({static_cast<int>(index), b.data(), b.size(), std::nullopt});
    TextOptions options;
    options.kernels = {t.kernel};
    try {
      c.seconds += runner->run(l.pipeline->text, t.kernel + ".metal", options, t).seconds;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

void fail_next(CommandBuffer& c) {
  Machine& m = machine();
  for (const std::string& l : std::exchange(m.logs, {})) c.logs.push_back(make<Log>(l));
  if (m.error_code == 0) return;
  c.error = make<ErrorObject>(std::exchange(m.error_code, 0), "MTLCommandBufferErrorDomain", m.error_message);
  if (c.error_options == 0) return;
  auto* encoders = make<Array>();
  encoders->all.push_back(make<Plain>("MTLCommandBufferEncoderInfo"));
  c.error->info = make<Dictionary>();
  c.error->info->key = "encoder info";
  c.error->info->value = encoders;
}

void set_error(ErrorObject** into, const std::string& message) {
  if (into) *into = autoreleased(make<ErrorObject>(3, "MTLLibraryErrorDomain", message));
}

bool define_foundation() {
  return method(
             "+NSString", "stringWithCString:encoding:",
             +[](Object*, Sel, const char* text, std::uint64_t encoding) -> Object* {
               EXPECT_EQ(encoding, 4u) << "not UTF-8";
               return string(text);
             }) &&
         method(
             "NSString", "UTF8String", +[](String* s, Sel) { return s->text.c_str(); }) &&
         method(
             "+NSProcessInfo", "processInfo",
             +[](Object*, Sel) -> Object* {
               static Object* one = new Plain("NSProcessInfo");
               return one;
             }) &&
         method(
             "NSProcessInfo", "operatingSystemVersion",
             +[](Object*, Sel) {
               return Three{static_cast<std::uint64_t>(machine().system), 1, 0};
             }) &&
         method(
             "NSProcessInfo", "operatingSystemVersionString",
             +[](Object*, Sel) -> Object* { return string("Version 15.1"); }) &&
         method(
             "NSError", "code", +[](ErrorObject* e, Sel) { return e->code; }) &&
         method(
             "NSError", "domain", +[](ErrorObject* e, Sel) -> Object* { return string(e->domain); }) &&
         method(
             "NSError", "localizedDescription", +[](ErrorObject* e, Sel) -> Object* { return string(e->message); }) &&
         method(
             "NSError", "userInfo", +[](ErrorObject* e, Sel) -> Object* { return e->info; }) &&
         method(
             "NSDictionary", "objectForKey:",
             +[](Dictionary* d, Sel, String* key) { return key->text == d->key ? d->value : nullptr; }) &&
         method(
             "NSArray", "count", +[](Array* a, Sel) -> std::uint64_t { return a->all.size(); }) &&
         method(
             "NSArray", "objectAtIndex:", +[](Array* a, Sel, std::uint64_t n) { return a->all.at(n); });
}

bool define_device() {
  return method(
             "MTLDevice", "name", +[](Object*, Sel) -> Object* { return string("Fake M9"); }) &&
         method(
             "MTLDevice", "architecture",
             +[](Object*, Sel) -> Object* { return autoreleased(make<Plain>("MTLArchitecture")); }) &&
         method(
             "MTLArchitecture", "name", +[](Object*, Sel) -> Object* { return string("applegpu_fake"); }) &&
         method(
             "MTLDevice", "maxThreadsPerThreadgroup",
             +[](Object*, Sel) {
               return Three{1024, 1024, 1024};
             }) &&
         method(
             "MTLDevice", "maxThreadgroupMemoryLength", +[](Object*, Sel) { return std::uint64_t{32768}; }) &&
         method(
             "MTLDevice", "maxBufferLength", +[](Object*, Sel) { return std::uint64_t{1} << 28; }) &&
         method(
             "MTLDevice", "recommendedMaxWorkingSetSize", +[](Object*, Sel) { return std::uint64_t{1} << 21; }) &&
         method(
             "MTLDevice", "hasUnifiedMemory", +[](Object*, Sel) { return true; }) &&
         method(
             "MTLDevice", "supportsFamily:", +[](Object*, Sel, long family) { return family <= 1008; }) &&
         method(
             "MTLDevice", "newCommandQueue", +[](Object*, Sel) -> Object* { return make<Plain>("MTLCommandQueue"); }) &&
         method(
             "MTLDevice", "newBufferWithLength:options:",
             +[](Object*, Sel, std::uint64_t bytes, std::uint64_t options) -> Object* {
               EXPECT_EQ(options, 0u) << "not shared";
               EXPECT_GT(bytes, 0u);
               return machine().buffers_left-- > 0 ? make<BufferObject>(bytes) : nullptr;
             }) &&
         method(
             "MTLBuffer", "contents", +[](BufferObject* b, Sel) { return b->memory.get(); }) &&
         method(
             "MTLDevice", "newLibraryWithSource:options:error:",
             +[](Object*, Sel, String* text, Object*, ErrorObject** error) -> Object* {
               std::vector<TextKernel> kernels;
               if (const TextRunner* runner = metal::testing::text_runner()) {
                 try {
                   kernels = runner->contents(text->text, "program_source", {}).kernels;
                 } catch (const Error& e) {
                   set_error(error, e.what());
                   return nullptr;
                 }
               }
               set_error(error, "a warning beside the library");
               return make<Library>(text->text, kernels);
             }) &&
         method(
             "MTLLibrary", "newFunctionWithName:",
             +[](Library* l, Sel, String* name) -> Object* {
               for (const TextKernel& k : l->kernels)
                 if (k.name == name->text) return make<FunctionObject>(l->text, k);
               if (!l->kernels.empty() || l->text.find("void " + name->text + "(") == std::string::npos) return nullptr;
               return make<FunctionObject>(l->text, TextKernel{name->text, {}, 0, 0});
             }) &&
         method(
             "MTLDevice", "newComputePipelineStateWithFunction:error:",
             +[](Object*, Sel, FunctionObject* f, ErrorObject** error) -> Object* {
               if (!machine().pipeline_fails) return make<Pipeline>(*f);
               set_error(error, "too many registers");
               return nullptr;
             }) &&
         method(
             "MTLComputePipelineState", "maxTotalThreadsPerThreadgroup",
             +[](Object*, Sel) { return machine().max_threads; }) &&
         method(
             "MTLComputePipelineState", "threadExecutionWidth", +[](Object*, Sel) { return machine().simd_width; }) &&
         method(
             "MTLComputePipelineState", "staticThreadgroupMemoryLength",
             +[](Object*, Sel) { return std::uint64_t{16}; });
}

bool define_options() {
  return method(
             "+MTLCompileOptions", "alloc",
             +[](Object*, Sel) -> Object* { return make<Plain>("MTLCompileOptions"); }) &&
         method(
             "+MTLCommandBufferDescriptor", "alloc", +[](Object*, Sel) -> Object* { return make<Descriptor>(); }) &&
         method(
             "MTLCompileOptions", "setLanguageVersion:",
             +[](Object*, Sel, std::uint64_t v) { machine().options.push_back("language " + std::to_string(v)); }) &&
         method(
             "MTLCompileOptions", "setMathMode:",
             +[](Object*, Sel, long v) { machine().options.push_back("maths " + std::to_string(v)); }) &&
         method(
             "MTLCompileOptions", "setMathFloatingPointFunctions:",
             +[](Object*, Sel, long v) { machine().options.push_back("functions " + std::to_string(v)); }) &&
         method(
             "MTLCompileOptions", "setFastMathEnabled:",
             +[](Object*, Sel, bool v) { machine().options.push_back(v ? "fast" : "not fast"); }) &&
         method(
             "MTLCommandBufferDescriptor",
             "setErrorOptions:", +[](Descriptor* d, Sel, std::uint64_t v) { d->error_options = v; });
}

bool define_commands() {
  return method(
             "MTLCommandQueue", "commandBufferWithDescriptor:",
             +[](Object*, Sel, Descriptor* wanted) -> Object* {
               auto* made = autoreleased(make<CommandBuffer>());
               made->error_options = wanted->error_options;
               ++machine().command_buffers;
               return made;
             }) &&
         method(
             "MTLCommandBuffer", "computeCommandEncoderWithDispatchType:",
             +[](CommandBuffer* c, Sel, std::uint64_t type) -> Object* {
               EXPECT_EQ(type, 0u) << "not serial";
               EXPECT_FALSE(c->encoding || c->committed);
               c->encoding = true;
               return autoreleased(make<Encoder>(c));
             }) &&
         method(
             "MTLComputeCommandEncoder",
             "setComputePipelineState:", +[](Encoder* e, Sel, Pipeline* p) { e->next.pipeline = p; }) &&
         method(
             "MTLComputeCommandEncoder", "setBuffer:offset:atIndex:",
             +[](Encoder* e, Sel, BufferObject* b, std::uint64_t offset, std::uint64_t index) {
               ASSERT_TRUE(e->open && b && index < 31);
               EXPECT_LE(offset, b->bytes);
               e->next.bytes.erase(index);
               e->next.buffers[index] = {b, offset};
             }) &&
         method(
             "MTLComputeCommandEncoder", "setBytes:length:atIndex:",
             +[](Encoder* e, Sel, const std::byte* bytes, std::uint64_t n, std::uint64_t index) {
               ASSERT_TRUE(e->open && index < 31);
               e->next.buffers.erase(index);
               e->next.bytes[index].assign(bytes, bytes + n);
             }) &&
         method(
             "MTLComputeCommandEncoder",
             "insertDebugSignpost:", +[](Encoder*, Sel, String* s) { machine().signposts.push_back(s->text); }) &&
         method(
             "MTLComputeCommandEncoder", "dispatchThreadgroups:threadsPerThreadgroup:",
             +[](Encoder* e, Sel, Three groups, Three threads) {
               ASSERT_TRUE(e->open && e->next.pipeline);
               EXPECT_LE(threads.x * threads.y * threads.z, machine().max_threads);
               EXPECT_GT(groups.x * groups.y * groups.z, 0u);
               e->next.groups = groups;
               e->next.threads = threads;
               e->buffer->launches.push_back(e->next);
               retain(e->next.pipeline);
               for (auto& [index, b] : e->next.buffers) retain(b.first);
               ++machine().dispatches;
             }) &&
         method(
             "MTLComputeCommandEncoder", "endEncoding",
             +[](Encoder* e, Sel) {
               EXPECT_TRUE(e->open);
               e->open = e->buffer->encoding = false;
             }) &&
         method(
             "MTLCommandBuffer", "commit",
             +[](CommandBuffer* c, Sel) {
               EXPECT_FALSE(c->encoding) << "committed before endEncoding";
               EXPECT_FALSE(c->committed) << "committed twice";
               c->committed = true;
             }) &&
         method(
             "MTLCommandBuffer", "waitUntilCompleted",
             +[](CommandBuffer* c, Sel) {
               EXPECT_TRUE(c->committed) << "waited for what was not committed";
               if (!std::exchange(c->done, true)) {
                 fail_next(*c);
                 if (!c->error) run(*c);
               }
             }) &&
         method(
             "MTLCommandBuffer", "status", +[](CommandBuffer* c, Sel) { return std::uint64_t{c->error ? 5u : 4u}; }) &&
         method(
             "MTLCommandBuffer", "error", +[](CommandBuffer* c, Sel) -> Object* { return c->error; }) &&
         method(
             "MTLCommandBuffer", "GPUStartTime", +[](CommandBuffer*, Sel) { return 100.0; }) &&
         method(
             "MTLCommandBuffer", "GPUEndTime", +[](CommandBuffer* c, Sel) { return 100.0 + c->seconds; });
}

/// State of an enumeration: a counter, where the items are, something that changes with the collection, and spare
/// words.
struct Enumeration {
  unsigned long state;
  Object** items;
  unsigned long* changes;
  unsigned long spare[5];
};

bool define_reports() {
  return method(
             "MTLCommandBufferEncoderInfo", "errorState", +[](Object*, Sel) { return machine().encoder_state; }) &&
         method(
             "MTLCommandBuffer", "logs",
             +[](CommandBuffer* c, Sel) -> Object* { return c->logs.empty() ? nullptr : c; }) &&
         // One a call, so that the loop of the caller is seen to go on.
         method(
             "MTLCommandBuffer", "countByEnumeratingWithState:objects:count:",
             +[](CommandBuffer* c, Sel, Enumeration* e, Object** room, std::uint64_t n) -> std::uint64_t {
               if (n == 0 || e->state >= c->logs.size()) return 0;
               room[0] = c->logs[e->state++];
               e->items = room;
               return 1;
             }) &&
         method(
             "MTLFunctionLog", "description", +[](Log* l, Sel) -> Object* { return string(l->text); }) &&
         method(
             "MTLFunctionLog", "debugLocation",
             +[](Log* l, Sel) -> Object* {
               return l->text.starts_with("nowhere") ? nullptr
                                                     : autoreleased(make<Plain>("MTLFunctionLogDebugLocation"));
             }) &&
         method(
             "MTLFunctionLogDebugLocation", "functionName", +[](Object*, Sel) -> Object* { return string("count"); }) &&
         method(
             "MTLFunctionLogDebugLocation", "line", +[](Object*, Sel) { return std::uint64_t{12}; });
}

[[maybe_unused]] const bool defined =
    define_foundation() && define_device() && define_options() && define_commands() && define_reports();

}  // namespace
}  // namespace mt::objc

extern "C" {
mt::objc::Object* MTLCreateSystemDefaultDevice() {
  return mt::objc::machine().has_gpu ? mt::objc::make<mt::objc::Plain>("MTLDevice") : nullptr;
}
void* MTLCopyAllDevicesWithObserver(void*, void*) { return nullptr; }
void MTLRemoveDeviceObserver(const void*) {}
// Found by name when metal-cpp starts, which may be before other static objects are made.
__attribute__((visibility("default"))) mt::objc::Object* MTLCommandBufferEncoderInfoErrorKey = nullptr;
__attribute__((constructor(101))) void make_error_key() {
  MTLCommandBufferEncoderInfoErrorKey = new mt::objc::String("encoder info");
}
}

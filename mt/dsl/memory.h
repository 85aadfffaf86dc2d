// Tensors, scalars, threadgroup and thread arrays.
#pragma once
#include <string>
#include <utility>

#include "mt/dsl/value.h"

namespace mt {

/// An element index: any integer value or host number.
class Index {
 public:
  ValueId id;
  Here here;
  template <std::integral H>
  requires(!std::same_as<H, bool>) Index(H number, Here h = Here::current())
      : id(detail::literal_int(DType::U32, static_cast<std::int64_t>(number), h)), here(h) {}
  template <DeviceExpr X>
  requires std::same_as<element_t<X>, u32> || std::same_as<element_t<X>, i32> || std::same_as<element_t<X>, u64> ||
      std::same_as<element_t<X>, i64>
      Index(const X& v, Here h = Here::current()) : id(as_value(v).id()), here(h) {}
};

namespace detail {
ValueId load(MemoryId m, ValueId index, int lanes, DType compute, Here here);
void store(MemoryId m, ValueId index, ValueId value, Here here);
ValueId atomic(Combine c, MemoryId m, ValueId index, ValueId value, Here here);
/// Row-major offset of coordinates in a tensor of the signature, in 64 bits.
ValueId offset(MemoryId m, const std::vector<Index>& coordinates, Here here);
ValueId add_offset(ValueId base, ValueId index, Here here);
ValueId scalar_param(std::string_view name, Here here);
std::int64_t scalar_fact(std::string_view name);
MemoryId array(std::string name, Space space, DType dtype, std::int64_t count, Layout layout, Here here);
int declare_tensor(TensorParam p);
Fill& fill_of(MemoryId tensor);
void declare_scalar(ScalarDecl s);
}  // namespace detail

/// A real parameter of the problem (`Scalar<f32> eps{"eps", 1e-5}`), or a size of it (`Size n{"n"}`).
template <class T>
class Scalar : public Ops<T, Form::One> {
 public:
  explicit Scalar(std::string name, double fallback = 0) : name_(std::move(name)) {
    detail::declare_scalar({name_, dtype_of<T>, fallback});
  }
  Scalar(const Scalar&) = delete;
  ValueId get(Here here) const { return detail::scalar_param(name_, here); }
  const std::string& name() const { return name_; }
  /// Whether the value is known to be a multiple of k in this compilation (only sizes that are strides are tracked, for
  /// k up to 8).
  bool multiple_of(int k) const { return detail::scalar_fact(name_) % k == 0; }

 private:
  std::string name_;
};
using Size = Scalar<u32>;
/// A size that may pass 2^32: element counts of flat tensors.
using LargeSize = Scalar<u64>;

/// One element of an array, read when used and written when assigned.
template <class T>
class Cell : public Ops<T, Form::One> {
 public:
  Cell(MemoryId m, Index i) : memory_(m), index_(i) {}
  ValueId get(Here here) const { return detail::load(memory_, index_.id, 1, dtype_of<T>, here); }
  void operator=(At<T, Form::One> v) const { detail::store(memory_, index_.id, v.id, v.here); }
  void operator=(const Cell& v) const { *this = At<T, Form::One>(v); }
  Cell(const Cell&) = default;

 private:
  MemoryId memory_;
  Index index_;
};

template <class T, Space S>
class Array {
 public:
  Array(std::string name, std::int64_t count, Here here = Here::current())
      : memory_(detail::array(std::move(name), S, dtype_of<T>, count, Layout::Plain, here)) {}
  /// In panels: rows of 64 elements of 16 bits, whose order the target may choose; see Matrix.
  Array(std::string name, std::int64_t count, Layout layout,
        Here here = Here::current()) requires(S == Space::Threadgroup)
      : memory_(detail::array(std::move(name), S, dtype_of<T>, count, layout, here)) {}
  MemoryId memory() const { return memory_; }
  Cell<T> operator[](Index i) const { return {memory_, i}; }
  Value<T> load(Index i) const { return value_from<T, Form::One>(detail::load(memory_, i.id, 1, dtype_of<T>, i.here)); }
  Vec<T> load(Index i, int lanes) const {
    return value_from<T, Form::Many>(detail::load(memory_, i.id, lanes, dtype_of<T>, i.here));
  }
  template <class V>
  void store(Index i, const V& v, Here here = Here::current()) const {
    detail::store(memory_, i.id, At<T, Form::Many>(v, here).id, here);
  }
  /// Combines atomically (relaxed) and gives the old value. Threadgroup arrays only.
  Value<T> atomic(Combine c, Index i, At<T, Form::One> v) const requires(S == Space::Threadgroup) {
    return value_from<T, Form::One>(detail::atomic(c, memory_, i.id, v.id, v.here));
  }

 private:
  MemoryId memory_;
};
/// An array in threadgroup memory; its first contents are undefined. Storage types hold their own dtype.
template <class T>
using Shared = Array<T, Space::Threadgroup>;
/// An array of each thread, for indices that are not known while tracing.
template <class T>
using Local = Array<T, Space::Thread>;

/// A tensor from an element offset on: `x.row(r)` and `x.at(i, j)`; its own indices count from there.
template <class T, bool Reads, bool Writes>
class View {
 public:
  View(MemoryId m, ValueId base, bool based) : memory_(m), base_(base), based_(based) {}
  Value<compute_t<T>> load(Index i) const requires Reads {
    return value_from<compute_t<T>, Form::One>(detail::load(memory_, place(i), 1, dtype_of<compute_t<T>>, i.here));
  }
  /// `lanes` (1, 2, 4 or 8) consecutive elements.
  Vec<compute_t<T>> load(Index i, int lanes) const requires Reads {
    return value_from<compute_t<T>, Form::Many>(detail::load(memory_, place(i), lanes, dtype_of<compute_t<T>>, i.here));
  }
  /// One number, or the lanes of a vector side by side; rounded once to T.
  template <class V>
  requires Writes void store(Index i, const V& v, Here here = Here::current()) const {
    detail::store(memory_, place(i), At<compute_t<T>, Form::Many>(v, here).id, here);
  }
  /// Combines atomically (relaxed) and gives the old value; 32-bit types.
  Value<T> atomic(Combine c, Index i, At<T, Form::One> v) const requires Writes {
    return value_from<T, Form::One>(detail::atomic(c, memory_, place(i), v.id, v.here));
  }
  View from(Index i) const { return {memory_, place(i), true}; }
  MemoryId memory() const { return memory_; }
  /// Index in the tensor of element i.
  ValueId place(Index i) const { return based_ ? detail::add_offset(base_, i.id, i.here) : i.id; }

 protected:
  MemoryId memory_;
  ValueId base_ = ValueId::None;
  bool based_ = false;
};

template <class T, bool Reads, bool Writes>
class Tensor : public View<T, Reads, Writes> {
 public:
  Tensor(std::string name, std::vector<Dim> shape, Fill fill = Fill::normal(), bool temporary = false)
      : View<T, Reads, Writes>(
            static_cast<MemoryId>(detail::declare_tensor({std::move(name), dtype_of<T>,
                                                          Writes ? Reads ? Access::InOut : Access::Out : Access::In,
                                                          std::move(shape), std::move(fill), temporary})),
            ValueId::None, false) {}
  Tensor(const Tensor&) = delete;
  /// Other test data than the declaration says: for instances of one template with domains of their own.
  void fill_with(Fill fill) { detail::fill_of(this->memory_) = std::move(fill); }
  /// The part that starts at these leading coordinates; the rest count as 0. Offsets are 64-bit.
  View<T, Reads, Writes> at(Index i) const { return from_coordinates({i}); }
  View<T, Reads, Writes> at(Index i, Index j) const { return from_coordinates({i, j}); }
  View<T, Reads, Writes> at(Index i, Index j, Index k) const { return from_coordinates({i, j, k}); }
  View<T, Reads, Writes> at(Index i, Index j, Index k, Index l) const { return from_coordinates({i, j, k, l}); }
  View<T, Reads, Writes> row(Index r) const { return from_coordinates({r}); }

 private:
  View<T, Reads, Writes> from_coordinates(const std::vector<Index>& all) const {
    return {this->memory_, detail::offset(this->memory_, all, all[0].here), true};
  }
};

/// Parameters of a kernel struct, bound in the order of declaration: `In<T> x{"x", {"rows", "n"}};`
template <class T>
using In = Tensor<T, true, false>;
template <class T>
using Out = Tensor<T, false, true>;
template <class T>
using InOut = Tensor<T, true, true>;
/// Memory between the stages of one kernel; the runtime makes it, callers never see it.
template <class T>
class Temp : public Tensor<T, true, true> {
 public:
  Temp(std::string name, std::vector<Dim> shape)
      : Tensor<T, true, true>(std::move(name), std::move(shape), Fill::constant(0), true) {}
};

/// A count chosen before tracing: by its default, the kernel's plan, a tuner or `--set name=value`.
class Tunable {
 public:
  Tunable(std::string name, int value, std::vector<int> choices = {});
  Tunable(const Tunable&) = delete;
  operator int() const { return declared().value; }
  /// Ignored where the command line or a tuner has chosen.
  Tunable& operator=(int value);
  Tunable& operator=(const Tunable& value) { return *this = int{value}; }

 private:
  TunableDecl& declared() const { return signature_->tunables[index_]; }
  Signature* signature_;
  std::size_t index_;
};

}  // namespace mt

#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "tr/algo/any_scheduler.h"
#include "tr/algo/init_policy.h"
#include "tr/blueprint/blueprint.h"
#include "tr/data/dataset.h"
#include "tr/plan/static_plan.h"

/// What the types that a user writes must have, one assertion a member: the concepts say the same, but of a type that
/// does not satisfy one the compiler names the concept first and the member, if at all, many lines later.
namespace tr::detail {

/// Names a type for whatever is known to the compiler.
template <auto>
struct Constant {};

/// Of a pointer to a member: whether the type has it, not each object.
template <class Pointer>
inline constexpr bool is_static = !std::is_member_pointer_v<Pointer>;

template <class M>
inline constexpr bool has_blueprint = requires {
  requires is_static<decltype(&M::blueprint)>;
  { M::blueprint.size() } -> std::convertible_to<int>;
  typename Constant<M::blueprint.size()>;
  M::blueprint.layers;
};
/// A blueprint that seq() has already complained of.
template <class M>
inline constexpr bool has_rejected_blueprint = requires {
  requires std::same_as<std::remove_cvref_t<decltype(M::blueprint)>, NoBluePrint>;
};

template <class D>
inline constexpr bool has_name = requires {
  requires is_static<decltype(&D::name)>;
  { D::name } -> std::convertible_to<std::string_view>;
};
template <class D>
inline constexpr bool has_sample = requires {
  requires is_static<decltype(&D::sample)>;
  requires std::same_as<std::remove_cvref_t<decltype(D::sample)>, Shape>;
  typename Constant<(D::sample.h > 0)>;
};
template <class D>
inline constexpr bool has_classes = requires {
  requires is_static<decltype(&D::classes)>;
  { D::classes } -> std::convertible_to<int>;
  typename Constant<(D::classes > 0)>;
};
template <class D>
inline constexpr bool has_normalization = requires {
  requires is_static<decltype(&D::normalization)>;
  requires std::same_as<std::remove_cvref_t<decltype(D::normalization)>, Normalization>;
};
template <class D>
inline constexpr bool has_open = requires(const std::string& directory) {
  { D::open(directory) } -> std::same_as<DataSplits>;
};

template <class R>
inline constexpr bool has_model = requires {
  typename R::model;
};
template <class R>
inline constexpr bool has_data = requires {
  typename R::data;
};
template <class R>
inline constexpr bool has_batch = requires {
  requires is_static<decltype(&R::batch)>;
  { R::batch } -> std::convertible_to<int>;
  typename Constant<(R::batch > 0)>;
};

template <class S>
inline constexpr bool has_prepare = requires(const S& schedule, int number) {
  { schedule.prepare(number, number) } -> std::same_as<S>;
};
template <class S>
inline constexpr bool has_lr = requires(const S& schedule, int number) {
  { schedule.lr(number, number) } -> std::same_as<float>;
};
template <class P>
inline constexpr bool has_config = requires(const P& policy, Region region) {
  { policy.config(region) } -> std::same_as<InitConfig>;
};

template <class M>
constexpr bool is_complete_model() {
  static_assert(has_blueprint<M> || has_rejected_blueprint<M>,
                "a model needs `static constexpr auto blueprint = tr::seq(...);`, its layers in order");
  return has_blueprint<M>;
}

template <class D>
constexpr bool is_complete_data() {
  static_assert(has_name<D>, "a data type needs `static constexpr std::string_view name = \"...\";`, for messages");
  static_assert(has_sample<D>, "a data type needs `static constexpr tr::Shape sample{1, height, width, channels};`");
  static_assert(has_classes<D>, "a data type needs `static constexpr int classes = ...;`, how many there are");
  static_assert(
      has_normalization<D>,
      "a data type needs `static constexpr tr::Normalization normalization{{mean...}, {std...}};`, in units of "
      "pixel/255, one a channel");
  static_assert(
      has_open<D>,
      "a data type needs `static tr::DataSplits open(const std::string& directory);`, which gives the samples");
  return has_name<D> && has_sample<D> && has_classes<D> && has_normalization<D> && has_open<D>;
}

template <class R>
constexpr bool is_complete_run() {
  static_assert(has_model<R>, "a run type needs `using model = ...;`, the type with the blueprint");
  static_assert(has_data<R>, "a run type needs `using data = ...;`, such as tr::Mnist");
  static_assert(has_batch<R>,
                "a run type needs `static constexpr int batch = ...;`, the rows of a batch over all ranks");
  bool complete = has_batch<R>;
  if constexpr (has_model<R>) complete &= is_complete_model<typename R::model>();
  if constexpr (has_data<R>) complete &= is_complete_data<typename R::data>();
  return complete && has_model<R> && has_data<R>;
}

template <class S>
constexpr bool is_schedule() {
  static_assert(
      has_prepare<S>,
      "a schedule needs `Schedule prepare(int total_epochs, int steps_per_epoch) const;`, which gives the one of "
      "its own type for a run of that length");
  static_assert(has_lr<S>, "a schedule needs `float lr(int epoch, int batch) const;`, both counted from 0");
  static_assert(std::copyable<S>, "a schedule must be copyable");
  return std::is_convertible_v<const S&, AnyScheduler>;
}

template <class P>
constexpr bool is_init_policy() {
  static_assert(has_config<P>,
                "an initializer needs `tr::InitConfig config(tr::Region region) const;`, what a region starts with");
  static_assert(std::copyable<P>, "an initializer must be copyable");
  return InitPolicy<P>;
}

}  // namespace tr::detail

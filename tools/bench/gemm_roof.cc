// The GEMM roof: how fast oneDNN multiplies on all cores at once, one single-threaded product a core, the weights
// packed in the layout it likes best. Answers each request with the GFLOP/s of all cores together, for each precision
// the best of a few shapes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "kernels/cpu/threads.h"
#include "tools/bench/requests.h"
#include "tr/base/clock.h"
#include "tr/dist/rank_pool.h"
#include "tr/io/options.h"
#include "tr/io/report.h"

namespace tr::bench {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

/// C [m, n] = A [m, k]·B [k, n].
struct GemmShape {
  dnnl::memory::dim m, n, k;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// The largest layer of the network at its batch, one that fills a core's cache, and one that streams.
constexpr std::array<GemmShape, 3> shapes{{{200, 1024, 784}, {512, 1024, 1024}, {1024, 2048, 1024}}};
constexpr std::array<Type, 2> types{Type::f32, Type::bf16};

/// What one timing aims at: much longer than a time slice's start, short enough that a round stays a moment.
constexpr double target_seconds = 0.08;

/// A product of this thread's own, with A and C plain and B packed once.
class PackedProduct {
 public:
  PackedProduct(const GemmShape& shape, Type type) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const auto plain = [](dnnl::memory::dim rows, dnnl::memory::dim columns, Type t) {
      return dnnl::memory::desc({rows, columns}, t, Tag::ab);
    };
    const dnnl::memory::desc any({shape.k, shape.n}, type, Tag::any);
    const dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(plain(shape.m, shape.k, type), any, plain(shape.m, shape.n, Type::f32)), engine_);
    product_ = dnnl::matmul(description);
    dnnl::memory weights = filled(plain(shape.k, shape.n, type));
    dnnl::memory packed(description.weights_desc(), engine_);
    dnnl::reorder(weights, packed).execute(stream_, weights, packed);
    arguments_ = {{DNNL_ARG_SRC, filled(description.src_desc())},
                  {DNNL_ARG_WEIGHTS, packed},
                  {DNNL_ARG_DST, dnnl::memory(description.dst_desc(), engine_)}};
  }
  void run(int times) {
    for (int i = 0; i < times; ++i) product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  /// One value everywhere, and one that needs no rounding: the bytes 0x3f are 0.747 in both types.
  dnnl::memory filled(const dnnl::memory::desc& description) const {
    dnnl::memory memory(description, engine_);
    auto* bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::fill_n(bytes, description.get_size(), 0x3f);
    return memory;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

/// The products of one rank.
using Products = std::array<std::array<std::unique_ptr<PackedProduct>, shapes.size()>, types.size()>;

class Roof {
 public:
  explicit Roof(int size) : pool_(size, [] { cpu::set_threads(1); }), products_(static_cast<std::size_t>(size)) {
    pool_.run([this](ThreadCommunicator& ranks) {
      Products& mine = products_[static_cast<std::size_t>(ranks.rank())];
      for (std::size_t t = 0; t < types.size(); ++t) {
        for (std::size_t s = 0; s < shapes.size(); ++s)
          mine[t][s] = std::make_unique<PackedProduct>(shapes[s], types[t]);
      }
    });
  }

  /// GFLOP/s of all ranks together.
  double best(std::size_t type) {
    double best = 0.0;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      const double probe = seconds(type, shape, 2) / 2;
      const int times = std::max(2, static_cast<int>(target_seconds / probe));
      const double flops = shapes[shape].flops() * times * pool_.size();
      best = std::max(best, 1e-9 * flops / seconds(type, shape, times));
    }
    return best;
  }

 private:
  /// Of all ranks multiplying side by side: from the moment when all begin to the one when all have ended.
  double seconds(std::size_t type, std::size_t shape, int times) {
    double result = 0.0;
    pool_.run([&](ThreadCommunicator& ranks) {
      PackedProduct& product = *products_[static_cast<std::size_t>(ranks.rank())][type][shape];
      ranks.meet();
      const double start = steady_seconds();
      product.run(times);
      ranks.meet();
      if (ranks.rank() == 0) result = steady_seconds() - start;
    });
    return result;
  }

  RankPool pool_;
  std::vector<Products> products_;
};

void serve(const Options& options) {
  Roof roof(options.threads);
  announce_ready();
  while (next_request()) answer(fmt::format(R"({{"fp32": {}, "bf16": {}}})", roof.best(0), roof.best(1)));
}

}  // namespace
}  // namespace tr::bench

int main(int argc, char** argv) try {
  tr::bench::serve(tr::parse_options(argc, argv));
} catch (const std::exception& error) {
  return tr::report(error);
}

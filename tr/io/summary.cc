#include "tr/io/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tr {
namespace {

/// 1462538 → "1,462,538"; not negative.
std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string human(std::int64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  // What would be printed as 1024.0 is one of the next unit.
  for (; amount >= 1023.95; ++unit) amount /= 1024.0;
  return fmt::format("{:.1f} {}", amount, units[unit]);
}

/// Columns as wide as their widest cell.
class Table {
 public:
  /// One letter a column: l for left-aligned, r for right-aligned.
  explicit Table(std::string_view alignment) : alignment_(alignment), widths_(alignment.size(), 0) {}

  /// One cell a column.
  void row(std::vector<std::string> cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) widths_[c] = std::max(widths_[c], cells[c].size());
    rows_.push_back(std::move(cells));
  }

  std::string text() const {
    std::string all;
    for (const std::vector<std::string>& cells : rows_) {
      std::string line;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::string padding(widths_[c] - cells[c].size(), ' ');
        line += (alignment_[c] == 'l' ? cells[c] + padding : padding + cells[c]) + "  ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      all += line + "\n";
    }
    return all;
  }

 private:
  std::string alignment_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string layer_text(const ArchLayer& layer) {
  TextBuilder text;
  visit(layer.record, [&](const auto& l) { l.describe(text); });
  if (layer.site.activation == Activation::relu) text << " + relu";
  return std::string(text.view());
}

std::string sample_text(const Shape& shape) {
  TextBuilder text;
  append_sample_shape(text, shape);
  return std::string(text.view());
}

std::string layer_table(const ModelSummary& model) {
  Table table("rlrrr");
  table.row({"#", "layer", "output", "parameters", "FLOPs"});
  table.row({"", "input", sample_text(model.spec.sample), "", ""});
  std::int64_t all_parameters = 0;
  std::int64_t all_flops = 0;
  for (const ArchLayer& layer : model.plans.front().arch) {
    const Shape& in = layer.site.in;
    const auto parameters = visit(layer.record, [&](const auto& l) { return l.parameter_count(in); });
    const auto flops = visit(layer.record, [&](const auto& l) { return l.forward_flops(in); });
    table.row({std::to_string(layer.site.layer), layer_text(layer), sample_text(layer.site.out),
               with_commas(parameters), with_commas(flops)});
    all_parameters += parameters;
    all_flops += flops;
  }
  table.row({"", "total", "", with_commas(all_parameters), with_commas(all_flops)});
  return table.text();
}

template <class F>
std::int64_t sum_over(std::span<const Plan> plans, F&& f) {
  std::int64_t sum = 0;
  for (const Plan& plan : plans) sum += f(plan.memory);
  return sum;
}

std::int64_t local_bytes(std::span<const Plan> plans) {
  return sum_over(plans, [](const MemoryPlan& memory) { return memory.local_bytes; });
}
std::int64_t pool_bytes(std::span<const Plan> plans) {
  return sum_over(plans, [](const MemoryPlan& memory) { return memory.transient_bytes; });
}
std::int64_t unshared_pool_bytes(std::span<const Plan> plans) {
  return sum_over(plans, [](const MemoryPlan& memory) { return memory.transient_bytes_unshared; });
}

/// A fixed region; the shared arena exists once and is the same in all plans.
RegionBytes fixed_region(Region region, std::span<const Plan> plans) {
  const int r = static_cast<int>(region);
  const bool shared = arena_of(region) == Arena::shared;
  return {.region = std::string(name_of(region)),
          .tensors = plans.front().memory.region_tensors[r],
          .bytes = sum_over(shared ? plans.first(1) : plans, [&](const MemoryPlan& m) { return m.region_bytes[r]; })};
}

RegionBytes transient_pool(std::span<const Plan> plans) {
  RegionBytes pool{.region = "transient", .tensors = 0, .bytes = pool_bytes(plans)};
  for (int r = 0; r < region_count; ++r) {
    if (is_transient(static_cast<Region>(r))) pool.tensors += plans.front().memory.region_tensors[r];
  }
  return pool;
}

/// The regions of one arena that have any bytes.
std::vector<RegionBytes> regions_of(Arena arena, std::span<const Plan> plans) {
  std::vector<RegionBytes> regions;
  for (int r = 0; r < region_count; ++r) {
    const Region region = static_cast<Region>(r);
    if (arena_of(region) == arena && !is_transient(region)) regions.push_back(fixed_region(region, plans));
  }
  if (arena == Arena::local) regions.push_back(transient_pool(plans));
  std::erase_if(regions, [](const RegionBytes& region) { return region.bytes == 0; });
  return regions;
}

std::string ranks_text(std::size_t ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

void append_arena(Table& table, const std::string& name, std::int64_t bytes, const std::vector<RegionBytes>& regions) {
  int tensors = 0;
  for (const RegionBytes& region : regions) tensors += region.tensors;
  table.row({name, std::to_string(tensors), with_commas(bytes), human(bytes)});
  for (const RegionBytes& region : regions) {
    table.row({"  " + region.region, std::to_string(region.tensors), with_commas(region.bytes), human(region.bytes)});
  }
}

std::string memory_table(const ModelSummary& model) {
  const std::int64_t shared = model.plans.front().memory.shared_bytes;
  const std::int64_t local = local_bytes(model.plans);
  std::int64_t annex = 0;
  for (const std::int64_t bytes : model.annex_bytes) annex += bytes;
  const std::int64_t total = shared + local + annex;
  Table table("lrrr");
  table.row({"memory", "tensors", "bytes", ""});
  append_arena(table, "shared arena", shared, regions_of(Arena::shared, model.plans));
  append_arena(table, "local arenas, " + ranks_text(model.plans.size()), local, regions_of(Arena::local, model.plans));
  table.row({"annex of the libraries", "", with_commas(annex), human(annex)});
  table.row({"total", "", with_commas(total), human(total)});
  return table.text();
}

/// How the sums of the table are spread over the ranks, and what lifetimes are good for.
std::string memory_notes(std::span<const Plan> plans) {
  const auto bytes_less = [](const Plan& a, const Plan& b) { return a.memory.local_bytes < b.memory.local_bytes; };
  const auto [least, most] = std::minmax_element(plans.begin(), plans.end(), bytes_less);
  std::string text;
  if (plans.size() > 1) {
    const std::string low = with_commas(least->memory.local_bytes);
    const std::string high = with_commas(most->memory.local_bytes);
    text += fmt::format("a local arena has {} bytes\n", low == high ? low : low + " to " + high);
  }
  const std::int64_t unshared = unshared_pool_bytes(plans);
  const std::int64_t saved = unshared - pool_bytes(plans);
  const double percent = unshared > 0 ? 100.0 * static_cast<double>(saved) / static_cast<double>(unshared) : 0.0;
  return text + fmt::format("sharing by lifetime saves {} of {} transient bytes ({:.1f} %)\n", with_commas(saved),
                            with_commas(unshared), percent);
}

}  // namespace

std::string summary(const ModelSummary& model) {
  int rows = 0;
  for (const Plan& plan : model.plans) rows += plan.spec.train_rows;
  const std::string title = fmt::format("{:.30} on {:.20}, batch {}, {}, {}\n", model.model, model.data, rows,
                                        name_of(model.plans.front().spec.precision), ranks_text(model.plans.size()));
  return title + "\n" + layer_table(model) + "\n" + memory_table(model) + memory_notes(model.plans);
}

std::vector<RegionBytes> region_bytes(std::span<const Plan> plans) {
  std::vector<RegionBytes> regions = regions_of(Arena::shared, plans);
  for (RegionBytes& region : regions_of(Arena::local, plans)) regions.push_back(std::move(region));
  return regions;
}

}  // namespace tr

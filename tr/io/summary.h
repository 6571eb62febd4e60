#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tr/io/result.h"
#include "tr/plan/plan.h"

namespace tr {

/// What a summary is made of; nothing is copied.
struct ModelSummary {
  std::string_view model;
  std::string_view data;
  ModelSpec spec;
  /// One a rank; they differ in rows alone.
  std::span<const Plan> plans;
  /// Bytes of each rank that only the libraries know of: packed weights and scratch. Empty means none.
  std::span<const std::int64_t> annex_bytes;
};

/// What a person sees before the first step, at most 100 columns wide. The layers, those fused into another on its row:
/// position in the blueprint, output shape of one sample, parameters, and the floating-point operations of one
/// sample's forward pass; what a fused activation adds is not counted. Then the memory plan: tensors and bytes of each
/// region, arena totals, what sharing by lifetime saves, the annex. A tensor counts once, its bytes on every rank that
/// has it.
std::string summary(const ModelSummary& model);

/// The regions that have any bytes, in their order, local ones summed over the ranks. The transient regions share one
/// pool, which is a single last entry, "transient"; so all entries together are the bytes of all arenas.
std::vector<RegionBytes> region_bytes(std::span<const Plan> plans);

}  // namespace tr

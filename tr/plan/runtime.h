#pragma once

#include "tr/plan/plan.h"
#include "tr/plan/static_plan.h"

namespace tr {

/// Plans at run time; throws ShapeError with the reason when the model cannot be built.
Plan make_plan(const ModelSpec& model, const PlanSpec& spec);

/// Throws Error when a plan made at run time is not the compiler's plan with other rows and the optimizer's moments
/// behind it: tensor ids, nodes and parameter offsets must agree. A plan in fp16 is compared with the one in bf16.
void require_same_structure(const PlanView& compiled, const Plan& plan);

}  // namespace tr

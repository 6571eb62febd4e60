#pragma once

/// All that a user includes.

#if __cplusplus < 202002L
#error "Tech-Renaissance is written in C++20: compile with -std=c++20"
#else

#include "tr/algo/any_optimizer.h"
#include "tr/algo/clipping.h"
#include "tr/algo/ema.h"
#include "tr/blueprint/blueprint.h"
#include "tr/data/mnist.h"
#include "tr/io/options.h"
#include "tr/io/report.h"
#include "tr/task/deep_learning_task.h"
#include "tr/task/simple_task.h"

#endif

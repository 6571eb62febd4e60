#include "tr/algo/adamw.h"
#include "tr/algo/cosine_annealing_lr.h"
#include "tr/algo/cosine_annealing_with_warm_restarts_lr.h"
#include "tr/algo/initializer.h"
#include "tr/algo/loss.h"
#include "tr/algo/multi_step_lr.h"
#include "tr/algo/polynomial_lr.h"
#include "tr/algo/sgd.h"
#include "tr/algo/step_lr.h"
#include "tr/algo/wsd_lr.h"

constexpr auto setting = TOKEN;

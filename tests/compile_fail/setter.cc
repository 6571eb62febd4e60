#include "tr/algo/adamw.h"
#include "tr/algo/cosine_annealing_lr.h"
#include "tr/algo/initializer.h"
#include "tr/algo/loss.h"
#include "tr/algo/sgd.h"

constexpr auto setting = TOKEN;

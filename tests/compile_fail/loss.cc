#include "tr/algo/loss.h"

constexpr auto loss = tr::CrossEntropyLoss().label_smoothing(TOKEN);

#include "tr/blueprint/blueprint.h"

constexpr auto blueprint = tr::repeat<TOKEN>(tr::fc(10));

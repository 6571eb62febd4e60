// Made by tests/golden/initializers.py with PyTorch 2.15.0; do not edit.
// clang-format off
#pragma once

namespace tr::golden {

struct InitializerGolden {
  const char* kind;
  bool fan_out;
  double kaiming_a;
  double scale;
  int krsc[4];
  double spread;  ///< The standard deviation of the normal kinds, the bound of the uniform ones.
};

inline constexpr InitializerGolden initializers[] = {
    {"kaiming_normal", false, 0.0, 1.0, {1024, 1, 1, 784}, 0.05050762722761054},
    {"kaiming_normal", false, 0.0, 1.0, {10, 1, 1, 256}, 0.08838834764831845},
    {"kaiming_normal", false, 0.0, 1.0, {64, 7, 7, 3}, 0.11664236870396087},
    {"kaiming_normal", false, 0.0, 1.0, {128, 3, 3, 64}, 0.05892556509887897},
    {"kaiming_normal", false, 0.0, 1.0, {32, 1, 5, 16}, 0.15811388300841897},
    {"kaiming_uniform", false, 0.0, 1.0, {1024, 1, 1, 784}, 0.08748177652797065},
    {"kaiming_uniform", false, 0.0, 1.0, {10, 1, 1, 256}, 0.15309310892394865},
    {"kaiming_uniform", false, 0.0, 1.0, {64, 7, 7, 3}, 0.20203050891044216},
    {"kaiming_uniform", false, 0.0, 1.0, {128, 3, 3, 64}, 0.10206207261596575},
    {"kaiming_uniform", false, 0.0, 1.0, {32, 1, 5, 16}, 0.27386127875258304},
    {"kaiming_normal", true, 0.0, 1.0, {1024, 1, 1, 784}, 0.04419417382415922},
    {"kaiming_normal", true, 0.0, 1.0, {10, 1, 1, 256}, 0.4472135954999579},
    {"kaiming_normal", true, 0.0, 1.0, {64, 7, 7, 3}, 0.02525381361380527},
    {"kaiming_normal", true, 0.0, 1.0, {128, 3, 3, 64}, 0.04166666666666667},
    {"kaiming_normal", true, 0.0, 1.0, {32, 1, 5, 16}, 0.11180339887498948},
    {"kaiming_uniform", true, 0.0, 1.0, {1024, 1, 1, 784}, 0.07654655446197432},
    {"kaiming_uniform", true, 0.0, 1.0, {10, 1, 1, 256}, 0.7745966692414833},
    {"kaiming_uniform", true, 0.0, 1.0, {64, 7, 7, 3}, 0.043740888263985325},
    {"kaiming_uniform", true, 0.0, 1.0, {128, 3, 3, 64}, 0.07216878364870323},
    {"kaiming_uniform", true, 0.0, 1.0, {32, 1, 5, 16}, 0.19364916731037082},
    {"kaiming_normal", false, 0.25, 1.0, {1024, 1, 1, 784}, 0.048999595755002526},
    {"kaiming_normal", false, 0.25, 1.0, {10, 1, 1, 256}, 0.08574929257125442},
    {"kaiming_normal", false, 0.25, 1.0, {64, 7, 7, 3}, 0.11315971919733421},
    {"kaiming_normal", false, 0.25, 1.0, {128, 3, 3, 64}, 0.05716619504750295},
    {"kaiming_normal", false, 0.25, 1.0, {32, 1, 5, 16}, 0.1533929977694741},
    {"kaiming_uniform", false, 0.25, 1.0, {1024, 1, 1, 784}, 0.08486978939800065},
    {"kaiming_uniform", false, 0.25, 1.0, {10, 1, 1, 256}, 0.14852213144650114},
    {"kaiming_uniform", false, 0.25, 1.0, {64, 7, 7, 3}, 0.1959983830200101},
    {"kaiming_uniform", false, 0.25, 1.0, {128, 3, 3, 64}, 0.09901475429766743},
    {"kaiming_uniform", false, 0.25, 1.0, {32, 1, 5, 16}, 0.2656844656620286},
    {"kaiming_normal", true, 0.25, 1.0, {1024, 1, 1, 784}, 0.04287464628562721},
    {"kaiming_normal", true, 0.25, 1.0, {10, 1, 1, 256}, 0.4338609156373123},
    {"kaiming_normal", true, 0.25, 1.0, {64, 7, 7, 3}, 0.024499797877501263},
    {"kaiming_normal", true, 0.25, 1.0, {128, 3, 3, 64}, 0.04042260417272217},
    {"kaiming_normal", true, 0.25, 1.0, {32, 1, 5, 16}, 0.10846522890932808},
    {"kaiming_uniform", true, 0.25, 1.0, {1024, 1, 1, 784}, 0.07426106572325057},
    {"kaiming_uniform", true, 0.25, 1.0, {10, 1, 1, 256}, 0.7514691493021793},
    {"kaiming_uniform", true, 0.25, 1.0, {64, 7, 7, 3}, 0.042434894699000324},
    {"kaiming_uniform", true, 0.25, 1.0, {128, 3, 3, 64}, 0.0700140042014005},
    {"kaiming_uniform", true, 0.25, 1.0, {32, 1, 5, 16}, 0.18786728732554484},
    {"xavier_normal", false, 0.0, 1.0, {1024, 1, 1, 784}, 0.033259505261886965},
    {"xavier_normal", false, 0.0, 1.0, {10, 1, 1, 256}, 0.086710996952412},
    {"xavier_normal", false, 0.0, 1.0, {64, 7, 7, 3}, 0.024681955016610288},
    {"xavier_normal", false, 0.0, 1.0, {128, 3, 3, 64}, 0.034020690871988585},
    {"xavier_normal", false, 0.0, 1.0, {32, 1, 5, 16}, 0.09128709291752768},
    {"xavier_uniform", false, 0.0, 1.0, {1024, 1, 1, 784}, 0.05760715294819264},
    {"xavier_uniform", false, 0.0, 1.0, {10, 1, 1, 256}, 0.15018785229652765},
    {"xavier_uniform", false, 0.0, 1.0, {64, 7, 7, 3}, 0.04275040011889855},
    {"xavier_uniform", false, 0.0, 1.0, {128, 3, 3, 64}, 0.05892556509887896},
    {"xavier_uniform", false, 0.0, 1.0, {32, 1, 5, 16}, 0.15811388300841894},
    {"xavier_normal", false, 0.0, 1.5, {1024, 1, 1, 784}, 0.04988925789283045},
    {"xavier_normal", false, 0.0, 1.5, {10, 1, 1, 256}, 0.13006649542861798},
    {"xavier_normal", false, 0.0, 1.5, {64, 7, 7, 3}, 0.03702293252491543},
    {"xavier_normal", false, 0.0, 1.5, {128, 3, 3, 64}, 0.05103103630798288},
    {"xavier_normal", false, 0.0, 1.5, {32, 1, 5, 16}, 0.13693063937629152},
    {"xavier_uniform", false, 0.0, 1.5, {1024, 1, 1, 784}, 0.08641072942228896},
    {"xavier_uniform", false, 0.0, 1.5, {10, 1, 1, 256}, 0.22528177844479144},
    {"xavier_uniform", false, 0.0, 1.5, {64, 7, 7, 3}, 0.06412560017834783},
    {"xavier_uniform", false, 0.0, 1.5, {128, 3, 3, 64}, 0.08838834764831843},
    {"xavier_uniform", false, 0.0, 1.5, {32, 1, 5, 16}, 0.23717082451262841},
};

}  // namespace tr::golden

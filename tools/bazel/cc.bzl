"""C++ targets with this project's flags."""

# The standard is set here and not in .bazelrc, so that a workspace that depends on this one needs no flag of ours.
_COPTS = [
    # A constant expression and the machine must give the same bits; a fused multiply-add would round once less.
    "-ffp-contract=off",
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wno-sign-conversion",
    "-Wnon-virtual-dtor",
    # g++ 12 warns of members that have a default, too.
    "-Wno-missing-field-initializers",
    "-Werror",
]

def tr_cc_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = _COPTS + copts, **kwargs)

def tr_cc_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = _COPTS + copts, **kwargs)

def tr_cc_test(name, deps = [], copts = [], size = "small", **kwargs):
    """A doctest file; the main function comes with //tests:main."""
    native.cc_test(
        name = name,
        size = size,
        copts = _COPTS + copts,
        deps = deps + [Label("//tests:main"), "@doctest"],
        **kwargs
    )

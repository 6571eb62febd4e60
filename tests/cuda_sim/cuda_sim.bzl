"""Libraries of CUDA code that run on the CPU, against the stand-in instead of the toolkit."""

load("//tools/bazel:cc.bzl", "tr_cc_library")

# What -fsanitize=thread inserts calls our functions: it is a flag for the compiler only, libtsan is not linked. Code
# cannot be instrumented for AddressSanitizer too; there, kernels are watched by that alone.
_INSTRUMENTED = select({
    "//tests/cuda_sim:asan": [],
    "//conditions:default": ["-fsanitize=thread"],
})

# --config=tsan links libtsan, whose functions have the same names, and knows nothing of fibers.
CUDA_SIM_COMPATIBLE_WITH = select({
    "//tests/cuda_sim:tsan": [Label("//tests/cuda_sim:never")],
    "//conditions:default": [],
})

def cuda_sim_library(name, srcs, hdrs = [], deps = [], copts = [], textual_hdrs = [], **kwargs):
    """A testonly library of .cu files (kernels, with the host functions beside them) and .cc files (host code).

    Args:
      name: of the library; name + "_kernels" has the .cu files.
      srcs: .cu, .cc and .h files of this package.
      hdrs: as in cc_library.
      deps: as in cc_library; the stand-in itself is added.
      copts: for both kinds of files.
      textual_hdrs: as in cc_library.
      **kwargs: as in cc_library.
    """
    kernels = [src for src in srcs if src.endswith(".cu")]
    wrappers = []
    for kernel in kernels:
        # Bazel does not compile .cu files; a file that includes one keeps its name in messages.
        wrapper = "%s_%s.cc" % (name, kernel.replace(".", "_"))
        wrappers.append(wrapper)
        native.genrule(
            name = wrapper.replace(".", "_"),
            testonly = True,
            srcs = [kernel],
            outs = [wrapper],
            cmd = "echo '#include \"%s/%s\"' > $@" % (native.package_name(), kernel),
        )
    common = ["//tests/cuda_sim"]
    if kernels:
        tr_cc_library(
            name = name + "_kernels",
            testonly = True,
            srcs = wrappers + [src for src in srcs if src.endswith(".h")],
            hdrs = hdrs,
            textual_hdrs = textual_hdrs + kernels,
            # Without -fno-tree-sra the compiler would split an access to a float4 before it is counted.
            copts = copts + ["-O2", "-fno-tree-sra", "-Wno-unknown-pragmas"] + _INSTRUMENTED,
            deps = deps + common,
            # The two libraries may call each other.
            alwayslink = True,
            target_compatible_with = CUDA_SIM_COMPATIBLE_WITH,
        )
    tr_cc_library(
        name = name,
        testonly = True,
        srcs = [src for src in srcs if not src.endswith(".cu")],
        hdrs = hdrs,
        textual_hdrs = textual_hdrs,
        copts = copts,
        deps = deps + common + ([":" + name + "_kernels"] if kernels else []),
        alwayslink = True,
        target_compatible_with = CUDA_SIM_COMPATIBLE_WITH,
        **kwargs
    )

"""CUDA: the installed toolkit as @local_cuda, and libraries with kernels that nvcc compiles.

Without a toolkit nothing fails: @local_cuda//:toolkit is then a constraint that no platform meets, so its libraries, and
all that depends on them, are incompatible targets, which `bazel build //...` and `bazel test //...` pass over.
"""

load("//tools/bazel:cc.bzl", "tr_cc_library")

_USUAL_PLACES = ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"]

# What g++ needs to read the runtime's, cuBLASLt's and NCCL's interfaces; nvcc finds its own.
_HEADERS = ["include/*.h", "include/*.hpp", "include/crt/**", "include/nccl_device/**", "include/nv/**"]

_BUILD = """
load("{rules}", "cuda_toolkit")

package(default_visibility = ["//visibility:public"])

constraint_setting(
    name = "toolkit_setting",
    default_constraint_value = ":{found}",
)

constraint_value(
    name = "toolkit",
    constraint_setting = ":toolkit_setting",
)

constraint_value(
    name = "no_toolkit",
    constraint_setting = ":toolkit_setting",
)

cuda_toolkit(
    name = "nvcc",
    root = "{root}",
    target_compatible_with = [":toolkit"],
    version = "version.txt",
)

cc_library(
    name = "headers",
    hdrs = glob({headers}, allow_empty = True),
    includes = ["include"],
    target_compatible_with = [":toolkit"],
)
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    linkopts = {linkopts},
    target_compatible_with = [":toolkit"],
    deps = [":headers"],
)
"""

def _find_toolkit(ctx):
    """The toolkit's folder, or None. Who sets CUDA_HOME means that one and no other."""
    home = ctx.os.environ.get("CUDA_HOME", "")
    for place in [home] if home else _USUAL_PLACES:
        if ctx.path(place + "/bin/nvcc").exists:
            return place
    return None

def _version_of(ctx, root):
    result = ctx.execute([root + "/bin/nvcc", "--version"])
    if result.return_code != 0:
        fail("\n\n%s/bin/nvcc does not run: %s\nName another toolkit in CUDA_HOME." % (root, result.stderr))
    return root + "\n" + result.stdout

def _local_cuda_impl(ctx):
    root = _find_toolkit(ctx)
    build = _BUILD.format(
        found = "toolkit" if root else "no_toolkit",
        headers = repr(_HEADERS),
        root = root or "",
        # In its own workspace a label does not name its repository.
        rules = "@%s//tools/bazel:cuda.bzl" % (Label("//:cuda").workspace_name or "tech_renaissance"),
    )
    folder = ""
    if root:
        folder = root + ("/lib64" if ctx.path(root + "/lib64").exists else "/lib")
        for entry in ctx.path(root + "/include").readdir():
            ctx.symlink(entry, "include/" + entry.basename)

        # CUDA 13 may keep it apart, where only nvcc looks.
        nv = root + "/include/cccl/nv"
        if ctx.path(nv).exists and not ctx.path(root + "/include/nv").exists:
            ctx.symlink(nv, "include/nv")

    # The libraries stay where they are: cuBLASLt alone has half a gigabyte, which nobody wants to copy or hash.
    shared = ["-L" + folder, "-Wl,-rpath," + folder]
    for name, linkopts in {
        "cudart": [folder + "/libcudart_static.a", "-ldl", "-lrt", "-lpthread"],
        "cublasLt": shared + ["-lcublasLt"],
        "nccl": shared + ["-lnccl"],
    }.items():
        build += _LIBRARY.format(name = name, linkopts = repr(linkopts))
    ctx.file("BUILD.bazel", build)
    ctx.file("version.txt", _version_of(ctx, root) if root else "no toolkit\n")

local_cuda = repository_rule(
    implementation = _local_cuda_impl,
    local = True,
    environ = ["CUDA_HOME"],
    doc = "The toolkit that CUDA_HOME names, or else the one in a usual place.",
)

CudaToolkit = provider(doc = "nvcc and its libraries.", fields = {
    "root": "the folder",
    "version": "a file that changes with the toolkit, so that what another one compiled is compiled again",
})

def _cuda_toolkit_impl(ctx):
    return CudaToolkit(root = ctx.attr.root, version = ctx.file.version)

cuda_toolkit = rule(
    implementation = _cuda_toolkit_impl,
    attrs = {
        "root": attr.string(mandatory = True),
        "version": attr.label(mandatory = True, allow_single_file = True),
    },
)

CudaArchs = provider(doc = "The GPUs to compile for.", fields = {"archs": "as nvcc's options name them: 90, 100a"})

def _cuda_archs_impl(ctx):
    archs = [arch.strip() for arch in ctx.build_setting_value.split(",")]
    for arch in archs:
        if not arch.rstrip("af").isdigit():
            fail("%s is '%s'; legal is a list such as 80,90,100" % (ctx.label, ctx.build_setting_value))
    return CudaArchs(archs = archs)

cuda_archs = rule(
    implementation = _cuda_archs_impl,
    build_setting = config.string(flag = True),
    doc = "A flag: the compute capabilities to compile for, in ascending order.",
)

def _bool_flag_impl(_ctx):
    return []

bool_flag = rule(
    implementation = _bool_flag_impl,
    build_setting = config.bool(flag = True),
    doc = "A flag that is true or false.",
)

_FLAGS = [
    "-std=c++20",
    "-O3",
    # As everywhere: a product and a sum are fused where fma() says so, so that each processor gives the same bits.
    "-fmad=false",
    # constexpr functions of tr/base run on the device, too.
    "--expt-relaxed-constexpr",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-ffp-contract=off,-Wall,-Wextra,-Werror",
    "-ccbin=g++",
]

def _gencode(archs):
    """Machine code for each, and for what is newer than the last its PTX."""
    options = ["-gencode=arch=compute_%s,code=sm_%s" % (arch, arch) for arch in archs[:-1]]
    return options + ["-gencode=arch=compute_{0},code=[sm_{0},compute_{0}]".format(archs[-1])]

def _cuda_objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    own = [ctx.label.workspace_root or "."]
    quoted = depset(own, transitive = [c.quote_includes for c in contexts] + [c.includes for c in contexts])
    headers = depset(ctx.files.hdrs, transitive = [c.headers for c in contexts])
    toolkit = ctx.attr._nvcc[CudaToolkit]
    objects = []
    for source in ctx.files.srcs:
        object = ctx.actions.declare_file("%s/%s.o" % (ctx.label.name, source.basename))
        args = ctx.actions.args()
        args.add_all(_FLAGS + _gencode(ctx.attr._archs[CudaArchs].archs))
        args.add_all(quoted, format_each = "-I%s")
        args.add("-c", source)
        args.add("-o", object)
        ctx.actions.run(
            executable = toolkit.root + "/bin/nvcc",
            arguments = [args],
            inputs = depset([source, toolkit.version], transitive = [headers]),
            outputs = [object],
            env = {"PATH": "/usr/bin:/bin"},
            mnemonic = "NvccCompile",
            progress_message = "Compiling %s with nvcc" % source.short_path,
        )
        objects.append(object)
    return DefaultInfo(files = depset(objects))

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "_archs": attr.label(default = Label("//:cuda_archs")),
        "_nvcc": attr.label(default = Label("@local_cuda//:nvcc")),
    },
)

def cuda_library(name, srcs = [], hdrs = [], deps = [], **kwargs):
    """A C++ library, some of whose sources are .cu files, which nvcc compiles; the others are g++'s.

    Without a toolkit it is incompatible.

    Args:
      name: its name.
      srcs: .cu and .cc files.
      hdrs: headers for both compilers.
      deps: C++ libraries; the toolkit's runtime is added.
      **kwargs: as for cc_library.
    """
    deps = deps + ["@local_cuda//:cudart"]
    compatible = ["@local_cuda//:toolkit"]
    _cuda_objects(
        name = name + "_objects",
        srcs = [source for source in srcs if source.endswith(".cu")],
        hdrs = hdrs,
        deps = deps,
        target_compatible_with = compatible,
        visibility = ["//visibility:private"],
    )
    tr_cc_library(
        name = name,
        srcs = [source for source in srcs if not source.endswith(".cu")] + [name + "_objects"],
        hdrs = hdrs,
        deps = deps,
        # The runtime is a static library with state: all that uses it has to end in one program.
        linkstatic = True,
        target_compatible_with = compatible,
        **kwargs
    )

"""A repository rule that exposes a library installed by the system's package manager."""

def _system_package_impl(ctx):
    header = ctx.path(ctx.attr.include_dir + "/" + ctx.attr.header)
    if not header.exists:
        fail("\n\n%s is missing: it comes with the Debian package %s.\n" % (header, ctx.attr.debian) +
             "Run ./tools/bazelw instead of bazel: it installs the packages of tools/packages.txt.\n")

    # The header's folder is one of the compiler's built-in include directories, so nothing is copied or globbed.
    ctx.file("BUILD.bazel", """
cc_library(
    name = "{name}",
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
""".format(name = ctx.name, linkopts = repr(ctx.attr.linkopts)))

system_package = repository_rule(
    implementation = _system_package_impl,
    local = True,
    attrs = {
        "header": attr.string(mandatory = True, doc = "a header the package brings, below include_dir"),
        "include_dir": attr.string(default = "/usr/include"),
        "debian": attr.string(mandatory = True, doc = "the Debian package, for the error message"),
        "linkopts": attr.string_list(),
    },
)

"""All that this workspace takes from outside; a workspace that depends on it calls tr_dependencies() too."""

load("//tools/bazel:cuda.bzl", "local_cuda")
load("//tools/bazel:system_package.bzl", "system_package")

_STUBS = ["rules_cc", "rules_java", "remote_coverage_tools"]

# name: (header, Debian package, linker options)
_PACKAGES = {
    "boost_context": ("boost/context/detail/fcontext.hpp", "libboost-context-dev", ["-lboost_context"]),
    "cli11": ("CLI/CLI.hpp", "libcli11-dev", []),
    "dnnl": ("oneapi/dnnl/dnnl.hpp", "libdnnl-dev", ["-ldnnl", "-lgomp"]),
    "doctest": ("doctest/doctest.h", "doctest-dev", []),
    "fmt": ("fmt/format.h", "libfmt-dev", ["-lfmt"]),
    "hwy": ("hwy/highway.h", "libhwy-dev", ["-lhwy"]),
    "nlohmann_json": ("nlohmann/json.hpp", "nlohmann-json3-dev", []),
    "zlib": ("zlib.h", "zlib1g-dev", ["-lz"]),
}

def _stub_impl(ctx):
    # The label, unlike a path, finds this repository also where it is an external one of another workspace.
    workspace = ctx.path(Label("//tools/stubs:%s/WORKSPACE" % ctx.attr.stub))
    for entry in workspace.dirname.readdir():
        if entry.basename != "WORKSPACE":
            ctx.symlink(entry, entry.basename)

_stub = repository_rule(implementation = _stub_impl, local = True, attrs = {"stub": attr.string(mandatory = True)})

def tr_dependencies():
    """Declares the offline stubs and the system packages; what the calling workspace declared before stays."""
    declared = native.existing_rules()
    for name in _STUBS:
        if name not in declared:
            _stub(name = name, stub = name)
    for name, (header, debian, linkopts) in _PACKAGES.items():
        if name not in declared:
            system_package(name = name, header = header, debian = debian, linkopts = linkopts)
    if "local_cuda" not in declared:
        local_cuda(name = "local_cuda")

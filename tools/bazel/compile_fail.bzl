"""Tests of what must not compile."""

_SCRIPT = """#!/usr/bin/env bash
# The wrong program must be refused with its message, and its twin, one token away, must compile.
set -euo pipefail
compile() {{ {compiler} -std="$2" -Wall -Wextra -I. -fsyntax-only -DTOKEN="$1" {src} 2>&1; }}

if ! output=$(compile '{right}' c++20); then
  printf 'the right twin, TOKEN=%s, does not compile:\\n%s\\n' '{right}' "$output"
  exit 1
fi
if output=$(compile '{wrong}' {std}); then
  printf 'the wrong program, TOKEN=%s, compiles\\n' '{wrong}'
  exit 1
fi
if (({errors} > 0)) && (($(grep -c ' error: ' <<<"$output") > {errors})); then
  printf 'more than {errors} errors:\\n%s\\n' "$output"
  exit 1
fi
for message in {messages}; do
  if ! head -n {lines} <<<"$output" | grep -qF -- "$message"; then
    printf 'the first {lines} lines lack "%s":\\n%s\\n' "$message" "$output"
    exit 1
  fi
done
"""

def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _compile_fail_test_impl(ctx):
    headers = depset(transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps])
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, is_executable = True, content = _SCRIPT.format(
        compiler = "g++",
        src = ctx.file.src.path,
        right = ctx.attr.right,
        wrong = ctx.attr.wrong,
        std = ctx.attr.wrong_std,
        errors = ctx.attr.errors,
        messages = " ".join([_quoted(m) for m in ctx.attr.messages]),
        lines = ctx.attr.lines,
    ))
    return DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = [ctx.file.src], transitive_files = headers),
    )

compile_fail_test = rule(
    implementation = _compile_fail_test_impl,
    test = True,
    attrs = {
        "src": attr.label(mandatory = True, allow_single_file = [".cc"], doc = "a program with TOKEN in it"),
        "right": attr.string(mandatory = True, doc = "what TOKEN is in the program that compiles"),
        "wrong": attr.string(mandatory = True, doc = "what TOKEN is in the one that must not"),
        "wrong_std": attr.string(default = "c++20", doc = "the standard that the wrong program is compiled in"),
        "errors": attr.int(default = 0, doc = "how many errors there may be, 0 for any number"),
        "messages": attr.string_list(mandatory = True, doc = "texts the compiler must print"),
        "lines": attr.int(default = 3, doc = "all of them among how many of its first lines"),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)

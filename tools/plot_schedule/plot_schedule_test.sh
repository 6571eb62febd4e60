#!/usr/bin/env bash
# The program as a user meets it: the file it writes, what it prints, what it refuses, and with which exit code.
set -uo pipefail
plot=$PWD/tools/plot_schedule/plot_schedule
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failures=0

# expect CODE TEXT ARGS...: the program ends with CODE and prints TEXT, to stderr where CODE is not 0.
expect() {
  local code=$1 text=$2 status=0 stream=out
  shift 2
  BUILD_WORKING_DIRECTORY=$scratch "$plot" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  ((code == 0)) || stream=err
  if ((status != code)) || ! grep -qF -- "$text" "$scratch/$stream"; then
    echo "FAILED: plot_schedule $*: exit code $status, expected $code and \"$text\""
    cat "$scratch/out" "$scratch/err"
    ((failures += 1))
  fi
}

expect 0 '--milestones' --help
expect 0 '0.08 +' cosine --base-lr 0.1 --epochs 90 --warmup 5
expect 0 "wrote $scratch/lr.svg" cosine --base-lr 0.1 --epochs 90 --warmup 5 --out lr.svg
expect 0 'three.svg' cosine step wsd --by-batch --warmup 5 --out three.svg
expect 2 'name at least one schedule'
expect 2 "'cosin'" cosin
expect 2 'base_lr is -0.1' cosine --base-lr -0.1
expect 2 'warmup is 91 epochs' cosine --warmup 91
expect 2 'milestones has 20 after 30' multi-step --milestones 30,20
expect 2 '--gamma has no effect on cosine' cosine --gamma 0.5
expect 1 'none' cosine --out none/lr.svg

python3 - "$scratch/lr.svg" "$scratch/three.svg" <<'PY' || ((failures += 1))
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
for path, names in zip(sys.argv[1:], (["cosine"], ["cosine", "step", "wsd"])):
    root = ElementTree.parse(path).getroot()
    assert root.tag == SVG + "svg", root.tag
    curves = list(root.iter(SVG + "path"))
    assert [curve.find(SVG + "title").text for curve in curves] == names, path
    assert len({curve.get("stroke-dasharray") for curve in curves}) == len(names), path
    texts = [text.text for text in root.iter(SVG + "text")]
    assert {"epoch", "learning rate", "0.1", "90", *names} <= set(texts), texts
PY

((failures == 0)) || exit 1
echo 'all as expected'

#!/usr/bin/env bash
# The example as a user meets it: what it prints, what it refuses, and with which exit code.
set -uo pipefail
example=$PWD/examples/mlp_mnist
mnist=$PWD/examples/data/mnist
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failures=0

fail() {
  echo "FAILED: $1"
  cat "$scratch/out" "$scratch/err"
  ((failures += 1))
}

# expect CODE TEXT ARGS...: the example ends with CODE and its output holds TEXT.
expect() {
  local code=$1 text=$2 status=0
  shift 2
  "$example" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  if ((status != code)); then
    fail "mlp_mnist $*: exit code $status instead of $code"
  elif ! grep -qF -- "$text" "$scratch/out" "$scratch/err"; then
    fail "mlp_mnist $*: no \"$text\""
  fi
}

# A directory with the four files, to be damaged.
copy_of_mnist() {
  rm -rf "$scratch/mnist"
  cp -rL "$mnist" "$scratch/mnist"
  chmod -R u+w "$scratch/mnist"
}

expect 0 '--precision' --help
expect 2 '--epochs' --epochs 0
expect 2 '--epochs' --epochs many
expect 2 '--threads' --threads -1
expect 2 '--workers' --workers -1
expect 2 '--precision' --precision fp8
expect 2 '--nonsense' --nonsense
expect 1 "$scratch/nowhere" --data "$scratch/nowhere"
expect 1 "$scratch/none" --epochs 1 --json "$scratch/none/result.json"

# A processor without AVX-512, as far as the matrix library may know.
ONEDNN_MAX_CPU_ISA=AVX2 expect 1 '--precision fp32' --precision bf16
ONEDNN_MAX_CPU_ISA=AVX2 expect 0 ', fp32, seed 1, AVX2' --epochs 1 --quiet

copy_of_mnist
rm "$scratch/mnist/t10k-labels-idx1-ubyte.gz"
expect 1 't10k-labels' --data "$scratch/mnist"

copy_of_mnist
head -c 5000000 "$mnist/train-images-idx3-ubyte.gz" >"$scratch/mnist/train-images-idx3-ubyte.gz"
expect 1 'train-images-idx3-ubyte.gz' --data "$scratch/mnist"

copy_of_mnist
cp "$mnist/train-labels-idx1-ubyte.gz" "$scratch/mnist/train-images-idx3-ubyte.gz"
expect 1 'labels' --data "$scratch/mnist"

copy_of_mnist
cp "$mnist/t10k-labels-idx1-ubyte.gz" "$scratch/mnist/train-labels-idx1-ubyte.gz"
expect 1 '60000' --data "$scratch/mnist"

copy_of_mnist
gzip -d "$scratch/mnist/t10k-images-idx3-ubyte.gz"
printf x >>"$scratch/mnist/t10k-images-idx3-ubyte"
expect 1 't10k-images-idx3-ubyte' --data "$scratch/mnist"

# However little memory it may have, down to where no program can be loaded, it says so; the warning comes before.
for limit in $(seq 60000 10000 400000); do
  status=0
  (ulimit -v "$limit" && "$example" --epochs 1 --threads 2 --quiet) >"$scratch/out" 2>"$scratch/err" || status=$?
  ((status != 0)) || break
  ((status == 1)) && grep -qF 'use a smaller batch' "$scratch/err" || fail "$limit KB of memory: exit code $status"
done
((status == 0)) || fail 'no limit was enough'
(ulimit -v 1000000 && "$example" --threads 1000 >"$scratch/out" 2>"$scratch/err") && fail '1000 ranks in 1 GB'
diff <(cut -d: -f1 "$scratch/err") - <<<$'warning\nerror' || fail 'a warning, then an error'

# wait_for TEXT: until what runs in the background has printed it.
wait_for() {
  for _ in $(seq 600); do
    grep -qsF -- "$1" "$scratch/out" "$scratch/err" && return
    sleep 0.1
  done
  fail "no \"$1\""
}

# interrupt_at TEXT ARGS...: sends SIGINT once the output holds TEXT; the example ends behind the step at hand with code 130.
interrupt_at() {
  local text=$1 status=0
  shift
  rm -f "$scratch/out" "$scratch/err"
  # A shell without job control starts its background jobs deaf to SIGINT.
  env --default-signal=INT "$example" --epochs 1000 --json "$scratch/result.json" "$@" >"$scratch/out" 2>"$scratch/err" &
  wait_for "$text"
  kill -INT $!
  wait $! || status=$?
  ((status == 130)) || fail "SIGINT: exit code $status instead of 130"
}

# More ranks than a batch has rows is no error.
interrupt_at 'total' --threads 201
grep -qF 'warning: 201 ranks for batches of 200 rows: 1 of them' "$scratch/err" || fail 'no warning of idle ranks'

# The result so far is written, whole.
interrupt_at ' 1/1000 '
python3 - "$scratch/result.json" <<'EOF' || fail 'the JSON of an interrupted run'
import json, sys
result = json.load(open(sys.argv[1]))
assert 1 <= len(result["epochs"]) < 1000, result
assert result["epochs"][0]["top1"] > 0.9, result
assert result["interrupted"] is True, result
assert len(result["weights_hash"]) == 16, result
assert sum(result["plan"].values()) > 0, result
EOF
[[ $(ls "$scratch" | grep -c 'result.json') == 1 ]] || fail 'something half-written lies beside the JSON'

# Who starts a program deaf to SIGINT, as nohup and a shell's & do, wants it to run on.
status=0
rm -f "$scratch/out" "$scratch/err"
env --ignore-signal=INT "$example" --epochs 2 >"$scratch/out" 2>"$scratch/err" &
wait_for 'total'
while kill -INT $! 2>/dev/null; do sleep 0.2; done
wait $! || status=$?
((status == 0)) && grep -qF '2 epochs in' "$scratch/out" || fail "SIGINT to who ignores it: exit code $status instead of 0"

# Lost output is an error, and costs neither the run nor its file.
lost() {
  local status=$1 reason=$2
  ((status == 1)) && grep -qF "error: some of the output is lost$reason" "$scratch/err" &&
    python3 -m json.tool "$scratch/result.json" >/dev/null || fail "lost output: exit code $status instead of 1"
  rm -f "$scratch/result.json"
}
"$example" --epochs 1 --json "$scratch/result.json" >/dev/full 2>"$scratch/err"
lost $? ': No space left on device'
"$example" --epochs 1 --json "$scratch/result.json" >&- 2>"$scratch/err"
lost $? ': Bad file descriptor'
"$example" --epochs 1 --json "$scratch/result.json" 2>"$scratch/err" | head -1 >/dev/null
lost "${PIPESTATUS[0]}" ': Broken pipe'
"$example" --help >/dev/full 2>"$scratch/err" && fail '--help to a full disk'

python3 "$PWD/tests/examples/on_terminal.py" "$example" >"$scratch/out" 2>"$scratch/err" || fail 'on a terminal'

((failures == 0)) || exit 1
echo 'all as expected'

"""Who is measured: the roof, we, and the peers that are installed."""

import dataclasses
import os
import subprocess

PRECISIONS = ("fp32", "bf16")
HERE = os.path.dirname(os.path.abspath(__file__))

ROOF = "GEMM roof"
NODES = "time by node"
OURS = "Tech-Renaissance"


@dataclasses.dataclass(frozen=True)
class Contestant:
    """Something that can be measured. `system` and `setting` name it in tables; the roof has both precisions in one
    answer and so none of its own. `environment` is set on top of the inherited one."""

    system: str
    setting: str
    precision: str
    command: tuple
    environment: dict = dataclasses.field(default_factory=dict, hash=False)

    @property
    def name(self):
        return ", ".join(part for part in (self.system, self.setting, self.precision) if part)

    @property
    def trains(self):
        """Whether a measurement is an epoch, which others' epochs can be compared with."""
        return self.system not in (ROOF, NODES)


@dataclasses.dataclass(frozen=True)
class Peer:
    """A framework with the ways in which it runs the model, and the interpreter that has it."""

    name: str
    script: str
    modes: dict
    python: str

    def version(self):
        """None where it is not installed."""
        command = [self.python, os.path.join(HERE, self.script), "--version"]
        try:
            shown = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return shown.stdout.strip()


def make_peers(torch_python, tensorflow_python):
    return [
        Peer("PyTorch", "peer_pytorch.py", {"eager": "PyTorch eager", "compile": "PyTorch compiled"}, torch_python),
        Peer("TensorFlow", "peer_tensorflow.py", {"xla": "TensorFlow XLA"}, tensorflow_python),
    ]


def own_contestants(programs, data, epochs, threads):
    """The roof and we. `programs` is the folder of the compiled programs; each runs `epochs` epochs at most."""
    common = ("--threads", str(threads))
    training = (*common, "--data", data, "--epochs", str(epochs))

    def program(name):
        return os.path.join(programs, name)

    found = [Contestant(ROOF, "", "", (program("gemm_roof"), *common))]
    for precision in PRECISIONS:
        options = (*training, "--precision", precision)
        found.append(Contestant(OURS, "", precision, (program("train_epochs"), *options)))
        found.append(Contestant(NODES, "", precision, (program("time_by_node"), *options)))
    return found


def peer_contestants(peer, data, epochs, threads):
    """A peer in each mode, setting and precision."""
    found = []
    for mode, system in peer.modes.items():
        for setting in ("default", "best"):
            environment = {"TF_CPP_MIN_LOG_LEVEL": "2"}
            if setting == "best":
                environment["OMP_WAIT_POLICY"] = "passive"
            for precision in PRECISIONS:
                options = {
                    "data": data,
                    "mode": mode,
                    "setting": setting,
                    "precision": precision,
                    "threads": threads,
                    "epochs": epochs,
                }
                arguments = [text for key, value in options.items() for text in (f"--{key}", str(value))]
                command = (peer.python, os.path.join(HERE, peer.script), *arguments)
                found.append(Contestant(system, setting, precision, command, environment))
    return found

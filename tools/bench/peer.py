"""What the peers share: the run of mlp_run.h in numbers, its data, and the pipe to processes.py.

A peer is a program of its own, run by the interpreter that has its framework; it knows nothing of the benchmark but
this module, and needs NumPy, which every framework brings.
"""

import argparse
import gzip
import json
import math
import os
import sys
import time

import numpy

LAYERS = (784, 1024, 512, 256, 10)
CLASSES = LAYERS[-1]
BATCH = 200
SMOOTHING = 0.1
WEIGHT_DECAY = 1e-4
BASE_RATE = 1e-3
LOWEST_RATE = 1e-6
WARMUP_EPOCHS = 2
MEAN, STD = 0.1307, 0.3081


def parse_arguments(modes):
    """The command line of a peer. `modes` are the ways in which its framework can execute the model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, help="directory of MNIST's IDX files")
    parser.add_argument("--mode", choices=modes, required=True)
    parser.add_argument("--setting", choices=("default", "best"), required=True)
    parser.add_argument("--precision", choices=("fp32", "bf16"), required=True)
    parser.add_argument("--threads", type=int, required=True, help="used in the best setting alone")
    parser.add_argument("--epochs", type=int, required=True, help="of the whole run: the rate depends on it")
    return parser.parse_args()


def read_idx(path):
    """The bytes of a gzipped IDX file as an array of its shape."""
    with gzip.open(path) as file:
        content = file.read()
    dimensions = content[3]
    shape = numpy.frombuffer(content, ">u4", dimensions, 4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def training_set(directory):
    """Normalised images [60000, 784] in fp32 and labels [60000] in int64."""
    images = read_idx(os.path.join(directory, "train-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(directory, "train-labels-idx1-ubyte.gz"))
    normalised = (images.reshape(len(images), -1).astype(numpy.float32) / 255.0 - MEAN) / STD
    return normalised.astype(numpy.float32), labels.astype(numpy.int64)


def rate(step, steps_per_epoch, epochs):
    """The learning rate of a step: a linear warm-up, then half a period of a cosine."""
    warmup = WARMUP_EPOCHS * steps_per_epoch
    if step <= warmup:
        return BASE_RATE * step / warmup
    progress = (step - warmup) / (epochs * steps_per_epoch - warmup)
    return LOWEST_RATE + (BASE_RATE - LOWEST_RATE) * (1.0 + math.cos(math.pi * progress)) / 2.0


def serve(prepare):
    """Answers each line on stdin with the seconds and the mean loss of one more epoch. `prepare` makes the function
    that trains it and returns the loss. Whatever a framework prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(content):
        print(json.dumps(content), file=answers, flush=True)

    train_epoch = prepare()
    answer({})
    for _ in sys.stdin:
        start = time.perf_counter()
        loss = train_epoch()
        answer({"seconds": time.perf_counter() - start, "loss": loss})

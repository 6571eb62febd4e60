#!/usr/bin/env python3
"""TensorFlow with XLA on the run of mlp_run.h; see peer.py for the pipe, README.md for the settings."""

import math
import sys

import keras
import tensorflow as tf

import peer


def make_model():
    hidden = [keras.layers.Dense(width, activation="relu") for width in peer.LAYERS[1:-1]]
    # The loss is taken in fp32 in either precision.
    logits = keras.layers.Dense(peer.CLASSES, dtype="float32")
    return keras.Sequential([keras.Input(peer.LAYERS[:1]), *hidden, logits])


def make_schedule(steps_per_epoch, epochs):
    warmup = peer.WARMUP_EPOCHS * steps_per_epoch
    return keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0,
        warmup_target=peer.BASE_RATE,
        warmup_steps=warmup,
        decay_steps=epochs * steps_per_epoch - warmup,
        alpha=peer.LOWEST_RATE / peer.BASE_RATE,
    )


def make_optimizer(samples, epochs):
    schedule = make_schedule(math.ceil(samples / peer.BATCH), epochs)
    optimizer = keras.optimizers.AdamW(schedule, weight_decay=peer.WEIGHT_DECAY)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


def make_loss():
    return keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=peer.SMOOTHING)


class DefaultTraining:
    """As a tutorial writes it: tf.data and fit()."""

    def __init__(self, arguments):
        images, labels = peer.training_set(arguments.data)
        data = tf.data.Dataset.from_tensor_slices((images, keras.utils.to_categorical(labels, peer.CLASSES)))
        self.data = data.shuffle(len(images)).batch(peer.BATCH)
        self.model = make_model()
        self.model.compile(make_optimizer(len(images), arguments.epochs), make_loss(), jit_compile=True)

    def train_epoch(self):
        return self.model.fit(self.data, epochs=1, verbose=0).history["loss"][0]


class BestTraining:
    """The data as one tensor in the type that is multiplied; one compiled function a step, called from a graph that
    runs a whole epoch."""

    def __init__(self, arguments):
        tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
        images, labels = peer.training_set(arguments.data)
        self.images = tf.cast(images, keras.mixed_precision.dtype_policy().compute_dtype)
        self.labels = tf.one_hot(labels, peer.CLASSES)
        self.model = make_model()
        self.loss = make_loss()
        self.optimizer = make_optimizer(len(images), arguments.epochs)
        self.optimizer.build(self.model.trainable_variables)

    @tf.function(jit_compile=True)
    def step(self, batch):
        with tf.GradientTape() as tape:
            loss = self.loss(tf.gather(self.labels, batch), self.model(tf.gather(self.images, batch), training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    @tf.function
    def epoch(self):
        batches = tf.reshape(tf.random.shuffle(tf.range(len(self.labels))), (-1, peer.BATCH))
        loss_sum = 0.0
        for batch in batches:
            loss_sum += self.step(batch)
        return loss_sum / tf.cast(len(batches), tf.float32)

    def train_epoch(self):
        return float(self.epoch())


def main():
    if sys.argv[1:] == ["--version"]:
        print(tf.__version__)
        return
    arguments = peer.parse_arguments(("xla",))
    keras.mixed_precision.set_global_policy("mixed_bfloat16" if arguments.precision == "bf16" else "float32")
    settings = {"default": DefaultTraining, "best": BestTraining}
    peer.serve(lambda: settings[arguments.setting](arguments).train_epoch)


main()

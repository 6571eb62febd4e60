#!/usr/bin/env python3
"""PyTorch on the run of mlp_run.h, eager or compiled; see peer.py for the pipe, README.md for the settings."""

import sys

import torch
from torch import nn

import peer


def make_model():
    layers = [nn.Flatten()]
    for features, out in zip(peer.LAYERS, peer.LAYERS[1:]):
        layers += [nn.Linear(features, out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class DefaultTraining:
    """As a tutorial writes it: a DataLoader, an optimizer and a scheduler without options."""

    def __init__(self, arguments):
        images, labels = peer.training_set(arguments.data)
        data = torch.utils.data.TensorDataset(torch.from_numpy(images).view(-1, 1, 28, 28), torch.from_numpy(labels))
        self.loader = torch.utils.data.DataLoader(data, batch_size=peer.BATCH, shuffle=True)
        self.bf16 = arguments.precision == "bf16"
        self.model = make_model()
        self.criterion = nn.CrossEntropyLoss(label_smoothing=peer.SMOOTHING)
        # The schedule multiplies this rate by its own.
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1.0, weight_decay=peer.WEIGHT_DECAY)
        steps = len(self.loader)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: peer.rate(step, steps, arguments.epochs)
        )
        self.forward = torch.compile(self.model) if arguments.mode == "compile" else self.model

    def train_epoch(self):
        loss_sum = 0.0
        for images, labels in self.loader:
            self.optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
                loss = self.criterion(self.forward(images), labels)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            loss_sum += loss.item()
        return loss_sum / len(self.loader)


class BestTraining:
    """What PyTorch can do on a CPU: the data as one tensor in the type that is multiplied, loss and model compiled as
    one, the fused optimizer, denormals off as in the libraries that are fast by default."""

    def __init__(self, arguments):
        torch.set_num_threads(arguments.threads)
        torch.set_flush_denormal(True)
        images, labels = peer.training_set(arguments.data)
        self.bf16 = arguments.precision == "bf16"
        self.images = torch.from_numpy(images).to(torch.bfloat16 if self.bf16 else torch.float32)
        self.labels = torch.from_numpy(labels)
        self.model = make_model()
        self.criterion = nn.CrossEntropyLoss(label_smoothing=peer.SMOOTHING)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=peer.BASE_RATE, weight_decay=peer.WEIGHT_DECAY, fused=True
        )
        self.loss_of = torch.compile(self.compute_loss) if arguments.mode == "compile" else self.compute_loss
        self.epochs = arguments.epochs
        self.step = 0

    def compute_loss(self, images, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            return self.criterion(self.model(images), labels)

    def train_epoch(self):
        batches = torch.randperm(len(self.labels)).split(peer.BATCH)
        loss_sum = torch.zeros(())
        for batch in batches:
            self.optimizer.param_groups[0]["lr"] = peer.rate(self.step, len(batches), self.epochs)
            self.optimizer.zero_grad()
            loss = self.loss_of(self.images[batch], self.labels[batch])
            loss.backward()
            self.optimizer.step()
            loss_sum += loss.detach()
            self.step += 1
        return loss_sum.item() / len(batches)


def main():
    if sys.argv[1:] == ["--version"]:
        print(torch.__version__)
        return
    arguments = peer.parse_arguments(("eager", "compile"))
    settings = {"default": DefaultTraining, "best": BestTraining}
    peer.serve(lambda: settings[arguments.setting](arguments).train_epoch)


main()

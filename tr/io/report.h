#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include "tr/io/result.h"

namespace tr {

/// Prints how a run ended: the best top-1 and its epoch, the time, and the weights' hash beside the number of ranks,
/// the precision, the seed and the instructions on which its bits depend. Gives the exit code of the program: 130 if
/// SIGINT ended the run, else 0, but 1 where some of what was printed to `out` is lost, now or before, which it prints
/// to `err`.
int report(const TrainingResult& result, std::FILE* out = stdout, std::FILE* err = stderr);

/// Prints why there is no result: to `err` and gives 1; a UsageError gives its own code, and where help was asked for
/// prints that to `out`.
int report(const std::exception& error, std::FILE* out = stdout, std::FILE* err = stderr);

/// Writes the result as one JSON object: model, threads, precision, seed, instructions, best_top1 (0 to 1), best_epoch,
/// total_seconds, weights_hash (16 hexadecimal digits), plan (region → bytes), epochs (epoch, lr, train_loss,
/// test_loss, top1, seconds, images_per_second) and interrupted (whether SIGINT ended the run). What was not evaluated
/// or is not a finite number is null. Nothing is half-written; throws Error naming the path.
void write_json(const TrainingResult& result, const std::string& path);

}  // namespace tr

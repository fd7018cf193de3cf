// What a sweep would take, and how it goes, in sentences.

import { text } from "../words/quantity";
import type { Estimate, Progress } from "../engine/sweeps";

export function ofEstimate({ trials, points, present, wallS, width, trialS, isLong }: Estimate): string {
  const missing = trials - present;
  const would = missing > 0 ? ` ${missing} would run: ${text(wallS, "s", 2)} with ${width} at once (${text(trialS, "s", 2)} each, measured on a few).` : "";
  const long = isLong ? " That is more than a day: the page does not start it, the command does." : "";
  return `${points} points, ${trials} trials, ${present} already stored.${would}${long}`;
}

/** How a sweep goes, or how it ended. */
export function ofProgress({ isRunning, done = 0, trials = 0, perS = 0, isComplete, ran = 0, wallS = 0 }: Progress): string {
  if (isRunning) {
    if (trials === 0) return "it starts";
    const left = perS > 0 ? `, ${text(perS, "")} a second, ${text((trials - done) / perS, "s", 2)} left` : "";
    return `${done} of ${trials} trials${left}`;
  }
  if (isComplete) return `finished: ${trials} trials, ${ran} ran in ${text(wallS, "s", 2)}${trials > ran ? `, ${trials - ran} were there` : ""}`;
  if (trials === 0) return "stopped before a trial was finished; what was there stays";
  return `stopped: ${done} of ${trials} trials are finished and kept; the same plan under the same name goes on`;
}

// The seam between the page and what runs sweeps: a local server. What is asked for, what it would take, and how far it is.

import type { Setup } from "./engine";

/** An axis in the words of the reader: values as a plan lists them, or a range. */
export type Axis = { key: string; values: string } | { key: string; from: string; to: string; steps: string; scale: string };

/** A sweep as the server is asked for it (python/thalweg/lab/plan.py). */
export interface SweepRequest {
  setup: Omit<Setup, "files">;
  axes: Axis[];
  trials: number;
  name: string;
}

/** What `thalweg sweep --dry-run` would say, and what does the same on the command line. */
export interface Estimate {
  points: number;
  trials: number;
  present: number;
  trialS: number;
  wallS: number;
  width: number;
  /** More than a day: the page does not start it. */
  isLong: boolean;
  plan: string;
  file: string;
  command: string;
}

/** How far the sweep of the server is that runs, or ran last. */
export interface Progress {
  number: number;
  isRunning: boolean;
  name?: string;
  done?: number;
  trials?: number;
  perS?: number;
  isComplete?: boolean;
  ran?: number;
  wallS?: number;
  /** What the first trials said that failed. */
  errors?: string[];
  refused?: string;
}

/** There is no server any more. */
export class NoAnswer extends Error {}

/** Who runs sweeps. Each call throws why it cannot. */
export interface Sweeps {
  estimate(asked: SweepRequest, signal?: AbortSignal): Promise<Estimate>;
  start(asked: SweepRequest): Promise<Progress>;
  state(): Promise<Progress>;
  stop(): Promise<Progress>;
}

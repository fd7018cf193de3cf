// A sweep that the page starts behind `thalweg lab`: what is asked for, what it would take, and how far it is.

import { computed, signal } from "@preact/signals";
import { type Estimate, NoAnswer, type Progress, type SweepRequest, type Sweeps } from "../engine/sweeps";
import { setup } from "../state/lab";
import { listOffered, offered } from "../stored/state";
import { ofEstimate, ofProgress } from "./words";

/** An axis as its form has it: both ways to give values, of which one is chosen. */
export interface Draft {
  key: string;
  isRange: boolean;
  values: string;
  from: string;
  to: string;
  steps: string;
  scale: string;
}

const RANGE = { from: "10 ms", to: "160 ms", steps: "5", scale: "log" };
const FIRST: Draft = { key: "path.rate", isRange: false, values: "5 Mbps, 20 Mbps", ...RANGE };
export const SECOND: Draft = { key: "path.rtt", isRange: true, values: "20 ms, 80 ms", ...RANGE };

/** Set where there is a server. */
export const sweeps = signal<Sweeps | null>(null);
export const drafts = signal<Draft[]>([FIRST]);
export const trials = signal("20");
/** The name that the reader gave. */
const named = signal<string | null>(null);
export const progress = signal<Progress | null>(null);
/** Why the sweep is refused. */
export const refused = signal<string | null>(null);
/** What has happened last, for a screen reader: what it would take, that it has started, how it has ended. */
export const said = signal("");
const estimated = signal<{ asked: string; estimate: Estimate } | null>(null);
/** Ends the estimate that is under way. */
export const estimating = signal<AbortController | null>(null);

export const name = computed(() => named.value ?? free());

/** The first name that nothing in the folder has. */
function free(): string {
  const taken = new Set(offered.value.map(({ path }) => path));
  for (let number = 1; ; number++) if (!taken.has(`sweep-${number}`)) return `sweep-${number}`;
}

export function rename(wanted: string): void {
  named.value = wanted;
}

const asked = computed((): SweepRequest => {
  const { text, origin, sets, controllers } = setup.value;
  const axes = drafts.value.map(({ key, isRange, values, from, to, steps, scale }) => (isRange ? { key, from, to, steps, scale } : { key, values }));
  return { setup: { text, origin, sets, controllers }, axes, trials: /^\d{1,9}$/.test(trials.value) ? Number(trials.value) : 0, name: name.value };
});

/** The estimate of what the form says now. */
export const estimate = computed(() => (estimated.value?.asked === JSON.stringify(asked.value) ? estimated.value.estimate : null));

export function draft(index: number, changed: Partial<Draft>): void {
  drafts.value = drafts.value.map((one, at) => (at === index ? { ...one, ...changed } : one));
}

export function askHowLong(): Promise<void> {
  const wanted = asked.value;
  return attempt(() => find(wanted));
}

async function find(wanted: SweepRequest): Promise<void> {
  const own = new AbortController();
  estimating.value = own;
  try {
    const found = await (sweeps.value as Sweeps).estimate(wanted, own.signal);
    estimated.value = { asked: JSON.stringify(wanted), estimate: found };
    said.value = ofEstimate(found);
  } finally {
    estimating.value = null;
  }
}

/** Starts what the form says, unless it would take more than a day. */
export function start(): Promise<void> {
  const wanted = asked.value;
  rename(wanted.name); // the same plan under the same name goes on
  return attempt(async () => {
    if (!estimate.value) await find(wanted);
    if (estimated.value?.estimate.isLong) return;
    try {
      progress.value = await (sweeps.value as Sweeps).start(wanted);
    } catch (error) {
      void look(); // another page's may run
      throw error;
    }
    said.value = `the sweep ${wanted.name} has started`;
    await follow();
  });
}

export function stop(): Promise<void> {
  estimating.value?.abort(new DOMException("stopped", "AbortError"));
  return attempt(async () => {
    if (progress.value?.isRunning) await (sweeps.value as Sweeps).stop();
  });
}

export function useSweeps(found: Sweeps): Promise<void> {
  sweeps.value = found;
  return look();
}

/** Shows a sweep that runs already, of another page or of this one before it was loaded again. */
export async function look(): Promise<void> {
  try {
    const state = await sweeps.value?.state();
    if (!state?.isRunning) return;
    progress.value = state;
    await follow();
  } catch (error) {
    refused.value = (error as Error).message;
  }
}

const ASKED_EVERY_MS = 250;

let isFollowed = false;

/** Shows how far the sweep is until it has ended. */
async function follow(): Promise<void> {
  if (isFollowed) return;
  isFollowed = true;
  try {
    while (progress.value?.isRunning) {
      await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
      await ask();
    }
  } finally {
    isFollowed = false;
  }
  if (progress.value?.refused === undefined && progress.value) said.value = ofProgress(progress.value);
  await listOffered();
}

/** Why the state was not known when it was asked for last. */
let unanswered: string | null = null;

/** Asks how far the sweep is. An answer that is none, of a server that is busy, changes nothing: the sweep goes on. */
async function ask(): Promise<void> {
  try {
    progress.value = await (sweeps.value as Sweeps).state();
    if (unanswered !== null && refused.value === unanswered) refused.value = null;
    unanswered = null;
  } catch (error) {
    unanswered = (error as Error).message;
    if (error instanceof NoAnswer) {
      progress.value = null; // the server has gone, and the sweep with it
      throw error;
    }
    refused.value = unanswered;
  }
}

async function attempt(work: () => Promise<void>): Promise<void> {
  refused.value = null;
  said.value = "";
  try {
    await work();
  } catch (error) {
    if ((error as Error).name !== "AbortError") refused.value = (error as Error).message;
  }
}

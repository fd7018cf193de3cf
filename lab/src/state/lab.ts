// What the page shows: the scenario and its settings, the trial that runs with them, and the hundred trials beside it.

import { batch, computed, signal } from "@preact/signals";
import { cursor, end, zoom } from "../chart/view";
import type { About, CheckedScenario, Engine, Outcomes, Setup, Trial } from "../engine/engine";
import { Refusal } from "../engine/engine";
import { field } from "../field/field";
import { ownFiles, take } from "../own/collection";
import { find, LIBRARY, type Shipped } from "../scenario/library";
import { type Picture, picture as drawn } from "../trial/panels";
import { fromFragment, type Linked, toFragment } from "./link";

const FIRST = find("c4/simple-20mbps") ?? LIBRARY[0];

export const about = signal<About | null>(null);
export const setup = signal<Setup>({ text: FIRST?.text ?? "", origin: FIRST?.name ?? "scenario", sets: {}, controllers: {} });
export const seed = signal(1n);
/** The scenario as it runs. It stays until another one has been read. */
export const checked = signal<CheckedScenario | null>(null);
/** Why the text, or what the sliders make of it, is refused. */
export const refusal = signal<Refusal | null>(null);
/** What went wrong otherwise. */
export const failure = signal<string | null>(null);
export const running = signal(false);
/** Whether the runs of a lesson are under way. */
export const teaching = signal(false);
/** How many trials of the lesson are finished. */
export const taught = signal(0);
/** Whether all that the present settings ask for is shown: the trial and the hundred beside it. */
export const settled = signal(false);
/** How often the reader has stopped what runs. */
export const stops = signal(0);

/** A trial with what it was made of. */
export interface Run {
  setup: Setup;
  checked: CheckedScenario;
  trial: Trial;
  picture: Picture;
}

export const run = signal<Run | null>(null);
/** The run that the present one is compared with. */
export const kept = signal<Run | null>(null);
/** What a link said that the trial must be. */
export const linked = signal<Linked | null>(null);
/** A link with code of a stranger: it waits until the reader asks for it. */
export const proposed = signal<Linked | null>(null);

export const TRIALS = 100;
export interface Many {
  outcomes: Outcomes;
  checked: CheckedScenario;
}
export const many = signal<Many | null>(null);
/** How many of the trials under way are finished; `null` if none are under way. */
export const finished = signal<number | null>(null);

/** How a run is told from the one that it is compared with. */
export const label = computed(() => (run.value ? named(run.value, kept.value) : ""));

export function named({ setup: own, checked: read, trial }: Run, beside: Run | null): string {
  const flows = trial.outcomes.flows["controller"];
  const controllers = flows && "words" in flows ? [...new Set(flows.words)].join(", ") : "";
  const parts = [controllers];
  if (beside && beside.checked.title !== read.title) parts.push(read.title);
  if (!beside || beside.trial.seed !== trial.seed) parts.push(`seed ${trial.seed}`);
  parts.push(...Object.entries(own.sets).map(([key, value]) => `${key.replace(/^.*\./, "")} ${value.replaceAll('"', "")}`));
  return parts.filter(Boolean).join(", ");
}

let engine: Engine | null = null;
const PAUSE_MS = 250;
let current: { abort: AbortController; begun: number } | null = null;
let again = false;
/** Whether the reader has ended what ran: then nothing else begins by itself. */
let stopped = false;
/** The lesson whose runs are under way. */
let lesson: AbortController | null = null;
/** What a link says that the present run is compared with: it runs with the next trial. */
let awaited: Linked | null = null;
let pause: ReturnType<typeof setTimeout> | undefined;
let strip: AbortController | null = null;
let waiting: (() => void)[] = [];

export function engineOf(): Engine {
  if (!engine) throw new Error("no engine yet");
  return engine;
}

/** Starts the page with an engine: with the trial of the address, else with `own`, the scenario of the folder that a server was given. */
export async function begin(chosen: Engine, own?: Promise<Shipped | undefined>): Promise<void> {
  engine = chosen;
  const shipped = setup.value;
  const opening = openFragment();
  try {
    about.value = await chosen.about();
  } catch (error) {
    failure.value = (error as Error).message;
    return;
  }
  await opening;
  const found = await own;
  // What the reader has opened meanwhile stays.
  if (found && setup.value === shipped) setup.value = { ...shipped, text: found.text, origin: found.name };
  await start();
}

/** Opens the trial of the address, if there is one. */
export async function openFragment(): Promise<boolean> {
  try {
    const found = await fromFragment(location.hash);
    if (!found) return false;
    if (Object.keys(found.setup.files ?? {}).length > 0) {
      proposed.value = found;
      return false;
    }
    show(found);
    return true;
  } catch (error) {
    failure.value = (error as Error).message;
    return false;
  }
}

function show(found: Linked): void {
  batch(() => {
    linked.value = found;
    setup.value = found.setup;
    seed.value = found.seed;
    kept.value = null;
    awaited = found.kept ?? null;
    failure.value = null;
    proposed.value = null;
  });
}

/** Opens the link that waits: its code runs from here on, and is kept beside that of the reader. */
export function accept(): Promise<void> {
  const found = proposed.value;
  if (found) {
    take(found.setup.files ?? {});
    show(found);
  }
  return rerun();
}

/** Opens a trial that ran before; the page then says whether its hash is the same. */
export function openStored(found: Linked): Promise<void> {
  zoom.value = null;
  cursor.value = null;
  show(found);
  return rerun();
}

/** Changes what runs, and runs it. */
export function change(changed: Partial<Setup>, newSeed?: bigint): Promise<void> {
  batch(() => {
    setup.value = { ...setup.value, ...changed, files: ownFiles.value };
    if (newSeed !== undefined) seed.value = newSeed;
    linked.value = null;
    failure.value = null;
  });
  return start();
}

/** Opens another scenario without settings. */
export function open(text: string, origin: string): Promise<void> {
  batch(() => {
    zoom.value = null;
    cursor.value = null;
  });
  return change({ text, origin, sets: {}, controllers: {} });
}

/** Sets keys as `--set` does. A table that is set lets go of the keys in it that were set before. */
export function adjust(sets: Record<string, string>): Promise<void> {
  const kept = Object.entries(setup.value.sets).filter(([key]) => !Object.keys(sets).some((table) => key.startsWith(`${table}.`)));
  return change({ sets: { ...Object.fromEntries(kept), ...sets } });
}

/** Runs the present trial again; resolves when the newest wanted one has been shown or refused. */
export function rerun(): Promise<void> {
  failure.value = null;
  return start();
}

function start(): Promise<void> {
  stopped = false;
  settled.value = false;
  const done = new Promise<void>((resolve) => waiting.push(resolve));
  if (current) {
    again = true;
    const { abort, begun } = current;
    setTimeout(() => abort.abort(new DOMException("a newer trial is wanted", "AbortError")), Math.max(0, begun + engineOf().graceMs - performance.now()));
  } else void loop();
  return done;
}

async function loop(): Promise<void> {
  running.value = true;
  stopMany();
  do {
    again = false;
    current = { abort: new AbortController(), begun: performance.now() };
    await once(current.abort.signal);
  } while (again);
  current = null;
  running.value = false;
  const resolved = waiting;
  waiting = [];
  for (const resolve of resolved) resolve();
  clearTimeout(pause);
  if (stopped) return;
  if (run.value && !refusal.value) pause = setTimeout(() => void runMany(), PAUSE_MS);
  else settled.value = true;
}

async function once(signal: AbortSignal): Promise<void> {
  const [wanted, number] = [setup.value, seed.value];
  try {
    const found = await runOf(wanted, number, signal);
    const beside = awaited;
    const before = beside && (await runOf(beside.setup, beside.seed, signal));
    batch(() => {
      refusal.value = null;
      checked.value = found.checked;
      run.value = found;
      if (before && awaited === beside) {
        kept.value = before;
        awaited = null;
      }
      end.value = latest();
    });
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Refusal) refusal.value = error;
    else failure.value = (error as Error).message;
  }
}

async function runOf(wanted: Setup, number: bigint, signal: AbortSignal): Promise<Run> {
  const read = await engineOf().check(wanted, signal);
  const trial = await engineOf().run(wanted, number, true, signal);
  return { setup: wanted, checked: read, trial, picture: drawn(trial) };
}

/** Ends the present trial, the hundred trials and a lesson at once. */
export function stop(): void {
  stopped = true;
  stops.value++;
  again = false;
  stopLesson();
  current?.abort.abort(new DOMException("stopped", "AbortError"));
  stopMany();
}

function stopMany(): void {
  clearTimeout(pause);
  strip?.abort(new DOMException("stopped", "AbortError"));
  strip = null;
  finished.value = null;
}

/** Seeds of a set as the command line numbers them, from 1 on (`thalweg run -n 100`). */
export const SEEDS = Array.from({ length: TRIALS }, (_, index) => BigInt(index + 1));

async function runMany(): Promise<void> {
  const shown = run.value;
  if (!shown) return;
  stopMany();
  const own = new AbortController();
  strip = own;
  finished.value = 0;
  try {
    const outcomes = await engineOf().trials(
      shown.setup,
      SEEDS,
      (count) => {
        if (strip === own) finished.value = count;
      },
      own.signal,
    );
    batch(() => {
      many.value = { outcomes, checked: shown.checked };
      finished.value = null;
      settled.value = true;
    });
  } catch (error) {
    if (!own.signal.aborted) {
      finished.value = null;
      failure.value = (error as Error).message;
    }
  }
}

/** Keeps the present run, to compare later ones with it; the second call lets it go. */
export function keep(): void {
  kept.value = kept.value || field.value ? null : run.value;
  field.value = null;
  end.value = latest();
}

/** The end of what is drawn, in seconds. */
export function latest(): number {
  return Math.max(...[run.value, kept.value, field.value].map((shown) => shown?.picture.end ?? 0));
}

/** Shows the trials of two setups beside each other, and returns the outcomes of more of them; `null` if it was stopped. */
export async function teach(setups: [Setup, Setup], seeds: bigint[]): Promise<[Outcomes, Outcomes] | null> {
  stopLesson();
  const own = new AbortController();
  lesson = own;
  taught.value = 0;
  teaching.value = true;
  try {
    kept.value = null;
    zoom.value = null;
    cursor.value = null;
    const [first, second] = setups;
    await change(first, 1n);
    own.signal.throwIfAborted();
    keep();
    await change(second, 1n);
    own.signal.throwIfAborted();
    const trials = (setup: Setup, before: number) => engineOf().trials(setup, seeds, (count) => (taught.value = before + count), own.signal);
    return [await trials(first, 0), await trials(second, seeds.length)];
  } catch (error) {
    if (own.signal.aborted) return null;
    throw error;
  } finally {
    if (lesson === own) {
      lesson = null;
      teaching.value = false;
    }
  }
}

/** Ends the runs of a lesson. */
export function stopLesson(): void {
  lesson?.abort(new DOMException("stopped", "AbortError"));
}

/** The address that opens the present trial, with the one that was kept; without the token of a local server, which is for one reader. */
export async function address(): Promise<string> {
  const shown = run.value;
  if (!shown) throw new Error("no trial has run yet");
  const linkOf = ({ setup, trial }: Run): Linked => ({ setup, seed: trial.seed, version: about.value?.version ?? "", hash: trial.hash });
  const fragment = await toFragment({ ...linkOf(shown), ...(kept.value && { kept: linkOf(kept.value) }) });
  return `${location.origin === "null" ? "file://" : location.origin}${location.pathname}${fragment}`;
}

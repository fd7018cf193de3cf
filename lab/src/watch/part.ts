// The packets that the page holds: of the present run, and of the one that it is compared with, a part around the cursor. A trial
// repeats, so it is played again to see another part, and no trial is too long.

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { cursor, end, view } from "../chart/view";
import type { Passages, Table } from "../engine/engine";
import { engineOf, failure, kept, type Run, run, running, setup, stops } from "../state/lab";
import { largest, numbers, words } from "../trial/columns";
import { MOST_FLOWS } from "../trial/panels";
import { FLOW_HUES, type Hue } from "../words/looks";
import { happenings, type Lane, lane } from "./lane";
import { type Samples, samples } from "./moment";

/** The most packets that are held at once: about 7 MB. */
export const MOST = 100_000;

/** The packets of one hop in a stretch of time. */
export interface PacketPart {
  run: Run;
  fromS: number;
  untilS: number;
  /** Names of the links, down and up for each hop, and the one that is watched. */
  links: string[];
  watched: string;
  forward: Lane;
  back: Lane;
  samples: [Samples, Samples];
  limits: Table;
  flows: string[];
  hues: Hue[];
  /** Times at which something happens. */
  times: Float64Array;
  largestPacket: number;
}

/** A run that is watched, and a part of its packets, or still of those of the run before. */
export interface Place {
  run: ReadonlySignal<Run | null>;
  part: Signal<PacketPart | null>;
}

export const present: Place = { run, part: signal(null) };
export const beside: Place = { run: kept, part: signal(null) };
/** In the order of the charts. */
export const places = computed(() => [beside, present].filter((place) => place.run.value !== null));

/** Whether packets are watched, and the link that the reader has chosen. */
export const watching = signal(false);
export const chosen = signal<string | null>(null);
/** Whether another part is under way. */
export const fetching = signal(false);

/** When the last of the runs that are watched is over. */
export function lastEnd(): number {
  return Math.max(0, ...places.value.map((place) => place.run.value?.picture.end ?? 0));
}

/** The moment that is shown: that of the cursor, or the first that is seen. */
export function now(): number {
  return Math.min(cursor.value ?? view.value.from, lastEnd());
}

/** The packets of a moment, if they are held. */
export function partAt({ run, part: found }: Place, time: number): PacketPart | null {
  const part = found.value;
  if (part === null || part.run !== run.value) return null;
  return part.fromS <= time && (time < part.untilS || part.untilS >= part.run.picture.end) ? part : null;
}

/** The link to watch, if there is such a one: that of the reader; a run to compare with follows the present one. */
function wanted(place: Place): string | null {
  return chosen.value ?? (place === beside ? (present.part.value?.watched ?? null) : null);
}

function isMissing(place: Place, time: number): boolean {
  const [part, link] = [partAt(place, time), wanted(place)];
  return part === null || (link !== null && part.watched !== link && part.links.includes(link));
}

/** The link whose queue was the longest: the bottleneck. */
function bottleneck(shown: Run, links: string[]): string {
  const { trace } = shown.trial;
  const backlog = links.map((link) => (trace ? samples(trace, link).longest : 0));
  return links[backlog.indexOf(Math.max(...backlog))] ?? "";
}

/** The packets of a run from a time on. A server reads its files again: they may be another trial's by now. */
async function passagesOf(place: Place, { setup, trial }: Run, from: number, signal: AbortSignal): Promise<Passages> {
  const passages = await engineOf().packets(setup, trial.seed, from, MOST, signal);
  if (passages.hash === undefined || passages.hash === trial.hash) return passages;
  const names = new Set(Object.values(setup.controllers).filter((name) => name.startsWith("./")));
  const file = names.size === 1 ? `the file of ${[...names][0]}` : "a file that was read for it";
  throw new Error(`${file} has changed since ${place === beside ? "the kept" : "this"} run; run it again`);
}

async function fetchPart(place: Place, shown: Run, time: number, signal: AbortSignal): Promise<PacketPart | null> {
  const { trace } = shown.trial;
  if (!trace) return null;
  const [before, link, twin] = [place.part.value, wanted(place), partAt(place === present ? beside : present, time)];
  if (twin?.run === shown && (link === null || twin.watched === link)) return twin; // it was kept just now
  const span = before?.run === shown ? before.untilS - before.fromS : 0;
  // A trial that fits is held from its start; of a long one, a little before the cursor too.
  const from = before?.run === shown ? Math.max(0, time - span / 10) : 0;
  let passages = await passagesOf(place, shown, from, signal);
  if (time >= passages.untilS && passages.untilS < shown.picture.end) {
    passages = await passagesOf(place, shown, time, signal);
  }
  const { links } = passages;
  const watched = link !== null && links.includes(link) ? link : bottleneck(shown, links);
  const opposite = links[links.indexOf(watched) ^ 1] ?? watched;
  const [forward, back] = [lane(passages, watched), lane(passages, opposite)];
  const flows = words(passages.tables.packets, "flow").words;
  const order = words(trace.flows, "flow").words.slice(0, MOST_FLOWS);
  return {
    run: shown,
    fromS: passages.fromS,
    untilS: passages.untilS,
    links,
    watched,
    forward,
    back,
    samples: [samples(trace, watched), samples(trace, opposite)],
    limits: passages.tables.limits,
    flows,
    hues: flows.map((flow) => FLOW_HUES[order.indexOf(flow)] ?? "grey"),
    times: happenings([forward, back], Math.min(passages.untilS, shown.picture.end)),
    largestPacket: Math.max(1, largest(numbers(passages.tables.packets, "size_bytes"))),
  };
}

/** Ends what is being fetched. */
let abort: AbortController | null = null;

/** Gets the packets of the moment that is shown, unless they are held. A trial under way goes first. */
export async function follow(): Promise<void> {
  if (fetching.value || !watching.value || running.value) return;
  fetching.value = true;
  const own = new AbortController();
  abort = own;
  const stopped = stops.value;
  try {
    for (;;) {
      const time = now();
      const known = partAt(present, time)?.links;
      if (known && chosen.value !== null && !known.includes(chosen.value)) chosen.value = null; // another scenario has no such link
      const place = [present, beside].find((place) => place.run.value && isMissing(place, time));
      const shown = place?.run.value;
      if (!watching.value || !place || !shown) return;
      const part = await fetchPart(place, shown, time, own.signal);
      if (!part) return;
      place.part.value = part;
      if (shown === place.run.value && !partAt(place, time)) {
        throw new Error(`more than ${MOST.toLocaleString("en")} packets are on the links at ${time.toFixed(6)} s: they cannot be shown`);
      }
    }
  } catch (error) {
    if (own.signal.aborted) return;
    failure.value = (error as Error).message;
    watching.value = false;
  } finally {
    abort = null;
    fetching.value = false;
    if (own.signal.aborted && stopped === stops.value) queueMicrotask(() => void follow());
  }
}

effect(() => {
  // Nothing that is wanted now waits for packets that were wanted before.
  void [run.value, kept.value, setup.value, watching.value, running.value, stops.value];
  abort?.abort(new DOMException("these packets are wanted no more", "AbortError"));
});

effect(() => {
  // All that `follow` depends on.
  void [run.value, kept.value, cursor.value, view.value, end.value, chosen.value, running.value];
  if (watching.value) queueMicrotask(() => void follow());
});

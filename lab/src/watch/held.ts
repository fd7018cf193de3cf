// The packets that the page holds: a part of the present trial around the cursor. A trial repeats, so another part is had by
// playing it again, and no trial is too long.

import { effect, signal } from "@preact/signals";
import { cursor, end, view } from "../chart/view";
import type { Table } from "../engine/engine";
import { engineOf, failure, type Run, run, running, setup, stops } from "../state/lab";
import type { Hue } from "../trial/panels";
import { HUES, MOST_FLOWS } from "../trial/panels";
import { largest, numbers, words } from "../trial/columns";
import { happenings, type Lane, lane } from "./lane";
import { type Samples, samples } from "./moment";

/** The most packets that are held at once: about 7 MB. */
export const MOST = 100_000;

/** What is held of one hop. */
export interface Held {
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

/** Whether packets are watched, the link that the reader has chosen, and what is held. */
export const watching = signal(false);
export const chosen = signal<string | null>(null);
export const held = signal<Held | null>(null);
/** Whether another part is under way. */
export const fetching = signal(false);

/** The moment that is shown: that of the cursor, or the first that is seen. */
export function now(): number {
  return Math.min(cursor.value ?? view.value.from, run.value?.picture.end ?? 0);
}

/** Whether the packets of a moment are held. */
export function covers(part: Held | null, time: number): boolean {
  return part !== null && part.run === run.value && part.fromS <= time && (time < part.untilS || part.untilS >= part.run.picture.end);
}

/** The link whose queue was the longest: the bottleneck. */
function bottleneck(shown: Run, links: string[]): string {
  const { trace } = shown.trial;
  const backlog = links.map((link) => (trace ? samples(trace, link).longest : 0));
  return links[backlog.indexOf(Math.max(...backlog))] ?? "";
}

async function fetchPart(shown: Run, time: number, signal: AbortSignal): Promise<Held | null> {
  const { trace, seed } = shown.trial;
  if (!trace) return null;
  const span = held.value?.run === shown ? held.value.untilS - held.value.fromS : 0;
  // A trial that fits is held from its start; of a long one, a little before the cursor too.
  const from = held.value?.run === shown ? Math.max(0, time - span / 10) : 0;
  let passages = await engineOf().packets(shown.setup, seed, from, MOST, signal);
  if (time >= passages.untilS && passages.untilS < shown.picture.end) {
    passages = await engineOf().packets(shown.setup, seed, time, MOST, signal);
  }
  const { links } = passages;
  const watched = chosen.value !== null && links.includes(chosen.value) ? chosen.value : bottleneck(shown, links);
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
    hues: flows.map((flow) => HUES[order.indexOf(flow)] ?? "grey"),
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
      const [shown, time, link] = [run.value, now(), chosen.value];
      if (!watching.value || !shown) return;
      if (covers(held.value, time) && (link === null || held.value?.watched === link)) return;
      const part = await fetchPart(shown, time, own.signal);
      if (!part) return;
      if (shown === run.value && !covers(part, time)) {
        throw new Error(`more than ${MOST.toLocaleString("en")} packets are on the links at ${time.toFixed(6)} s: they cannot be shown`);
      }
      held.value = part;
      if (link !== null && part.watched !== link) chosen.value = null; // another scenario has no such link
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
  void [run.value, setup.value, watching.value, running.value, stops.value];
  abort?.abort(new DOMException("these packets are wanted no more", "AbortError"));
});

effect(() => {
  // All that `follow` depends on.
  void [run.value, cursor.value, view.value, end.value, chosen.value, running.value];
  if (watching.value) queueMicrotask(() => void follow());
});

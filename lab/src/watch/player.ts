// Moves the cursor of the page: by itself, slower than the trial was, or from one event to the next.

import { effect, signal } from "@preact/signals";
import { cursor, look, playing, point, view } from "../chart/view";
import { stops } from "../state/lab";
import { after } from "../trial/columns";
import { fetching, type PacketPart, partAt, lastEnd, now, places, watching } from "./part";

/** Seconds of the trial in a second. */
export const SPEEDS: [number, string][] = [
  [1, "real time"],
  [0.1, "10 times slower"],
  [0.01, "100 times slower"],
  [0.001, "1000 times slower"],
  [0.0001, "10 000 times slower"],
];
export const speed = signal(0.01);

/** Whether the reader wants little motion: pictures then follow each other twice a second, and nothing falls. */
const little = matchMedia("(prefers-reduced-motion: reduce)");
export const isCalm = signal(little.matches);
little.addEventListener("change", () => (isCalm.value = little.matches));
const CALM_MS = 500;
/** A frame that comes later than this does not skip ahead: the page was hidden. */
const LONGEST_MS = 100;

let frame = 0;
/** How often the reader had stopped what runs when that was looked at last. */
let seen = 0;

/** Moves on until the end of what is watched, from the start if it is over. */
export function begin(chosen = speed.value): void {
  speed.value = chosen;
  watching.value = true;
  if (playing.value) return;
  if (now() >= lastEnd()) point(0);
  playing.value = true;
  let last = performance.now();
  const tick = (time: number) => {
    if (!playing.value) return;
    frame = requestAnimationFrame(tick);
    const passed = time - last;
    if (isCalm.value && passed < CALM_MS) return;
    last = time;
    advance((Math.min(passed, isCalm.value ? 2 * CALM_MS : LONGEST_MS) / 1000) * speed.value);
  };
  frame = requestAnimationFrame(tick);
}

export function pause(): void {
  cancelAnimationFrame(frame);
  playing.value = false;
}

effect(() => {
  // The reader has stopped it, or nobody sees it any more.
  const [stopped, isSeen] = [stops.value > seen, watching.value];
  if (stopped || !isSeen) pause();
  seen = stops.value;
});

function advance(step: number): void {
  // Packets that are not here yet are waited for.
  if (fetching.value || !isHeld()) return;
  const most = lastEnd();
  const next = Math.max(now() + Math.max(step, 0), 0);
  move(Math.min(next, most));
  if (next >= most) pause();
}

/** Moves the cursor; at its edge the view turns over like a page. */
function move(time: number): void {
  cursor.value = time;
  const { from, until } = view.value;
  if (time > until || time < from) look(time, time + until - from);
}

/** Whether the packets of the moment are held, of all runs that are watched. */
function isHeld(): boolean {
  const time = now();
  return places.value.length > 0 && places.value.every((place) => partAt(place, time));
}

/** Moves to the next event of a packet of a run that is watched, or, with -1, to the one before. */
export function step(direction: 1 | -1): void {
  pause();
  if (!isHeld()) return;
  const time = now();
  const beyond = direction > 0 ? next : previous;
  const found = places.value.flatMap(({ part }) => (part.value && beyond(part.value, time)) ?? []);
  if (found.length > 0) move(direction > 0 ? Math.min(...found) : Math.max(...found));
}

/** The time of the next event, or where the next part begins. */
function next({ times, untilS, run }: PacketPart, time: number): number | null {
  const most = Math.min(untilS, run.picture.end);
  return times[after(times, time)] ?? (most > time ? most : null);
}

function previous({ times, fromS }: PacketPart, time: number): number | null {
  return times[after(times, time - 1e-12) - 1] ?? (fromS > 0 ? fromS * (1 - 1e-9) : null);
}

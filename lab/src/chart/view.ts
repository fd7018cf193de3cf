// The part of a trial that is seen, and the moment that is looked at: shared by all that is drawn over time.

import { computed, signal } from "@preact/signals";
import type { Window } from "./draw";

/** End of the trial, in seconds. */
export const end = signal(1);
/** The part that is seen; `null` for all of it. */
export const zoom = signal<Window | null>(null);
/** The moment under the cursor. */
export const cursor = signal<number | null>(null);
/** Whether the cursor moves by itself: a mouse that passes by then leaves it alone. */
export const playing = signal(false);

export const view = computed<Window>(() => {
  const seen = zoom.value;
  return seen && seen.until > seen.from ? seen : { from: 0, until: Math.max(end.value, 1e-6) };
});

/** The shortest part: a microsecond. */
const LEAST = 1e-6;

export function look(from: number, until: number): void {
  const [least, most] = [0, end.value];
  const length = Math.min(Math.max(until - from, LEAST), most);
  const begin = Math.min(Math.max(from, least), most - length);
  zoom.value = length >= most * 0.9999 ? null : { from: begin, until: begin + length };
}

/** Zooms by a factor about a moment, which stays where it is. */
export function magnify(factor: number, about?: number): void {
  const { from, until } = view.value;
  const centre = about ?? (cursor.value !== null && cursor.value >= from && cursor.value <= until ? cursor.value : (from + until) / 2);
  look(centre - (centre - from) / factor, centre + (until - centre) / factor);
}

export function pan(share: number): void {
  const { from, until } = view.value;
  const step = share * (until - from);
  const length = until - from;
  const begin = Math.min(Math.max(from + step, 0), end.value - length);
  look(begin, begin + length);
}

/** Moves the cursor, and the view with it. */
export function point(time: number): void {
  const moment = Math.min(Math.max(time, 0), end.value);
  cursor.value = moment;
  const { from, until } = view.value;
  if (moment < from || moment > until) {
    const length = until - from;
    look(moment - length / 2, moment + length / 2);
  }
}

/** What a key does here; false if nothing. */
export function onKey(event: KeyboardEvent): boolean {
  const { from, until } = view.value;
  const now = cursor.value ?? from;
  const step = (until - from) / (event.shiftKey ? 20 : 200);
  const acts: Record<string, () => void> = {
    ArrowLeft: () => point(now - step),
    ArrowRight: () => point(now + step),
    Home: () => point(from),
    End: () => point(until),
    PageUp: () => pan(-0.5),
    PageDown: () => pan(0.5),
    "+": () => magnify(2),
    "=": () => magnify(2),
    "-": () => magnify(0.5),
    "0": () => (zoom.value = null),
    Escape: () => (cursor.value = null),
  };
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
  if (!act) return false;
  act();
  event.preventDefault();
  return true;
}

// Draws one panel, or the ribbon of a controller's states, with a pen.

import { ticks } from "d3-array";
import { after, largest } from "../trial/columns";
import type { Line, Panel, Ribbon } from "../trial/panels";
import { scale, type Unit } from "../words/quantity";
import type { Pen } from "./pen";
import type { Theme } from "./theme";
import { ENVELOPE } from "../words/looks";
import { dots, type Frame, level, steps, swing } from "./thin";

/** Room beside a plot for the labels of its axes, in pixels. */
export const LEFT = 60;
export const RIGHT = 12;
const TOP = 6;
const BOTTOM = 6;
export const AXIS = 22;
const CROSS = 3;

export interface Size {
  width: number;
  height: number;
}

export interface Window {
  from: number;
  until: number;
}

/** The largest value that can be seen, rounded up to a tick; at least a sensible unit of its kind. */
export function most(panel: Panel, { from, until }: Window): number {
  let found = panel.span ?? 0;
  for (const line of panel.lines) {
    if (line.spikes && panel.lines.length > 1) continue;
    const begin = Math.max(0, after(line.times, from) - (line.points ? 0 : 1));
    const end = after(line.times, until);
    const seen = line.values.subarray(begin, end);
    found = Math.max(found, largest(seen), panel.signed ? largest(seen.map((value) => -value)) : 0);
  }
  const least = { s: 1e-3, bps: 1e3, bytes: 1e3, packets: 5, share: 0.01, "": 1 }[panel.unit];
  const [factor] = scale(panel.unit, Math.max(found, least));
  const top = (Math.max(found, least) * (panel.lines.some((line) => line.spikes) ? 1.3 : 1)) / factor;
  const steps = ticks(0, top * 1.08, 4);
  const step = (steps[1] ?? top) - (steps[0] ?? 0);
  return Math.ceil((top * 1.02) / step) * step * factor;
}

/** Draws one panel; `beside` is the same one of another run, with which it shares its scale. */
export function drawPanel(pen: Pen, panel: Panel, size: Size, window: Window, theme: Theme, beside?: Panel): void {
  const top = Math.max(most(panel, window), beside ? most(beside, window) : 0);
  const frame: Frame = {
    ...window,
    left: LEFT,
    width: Math.max(1, size.width - LEFT - RIGHT),
    top: TOP,
    height: size.height - TOP - BOTTOM,
    least: panel.signed ? -top : 0,
    most: top,
  };
  values(pen, panel.unit, frame, theme);
  times(pen, frame, theme, false);
  // Of lines that swing, what they swing between is behind all of them.
  const swings = ENVELOPE.panels.includes(panel.id) ? panel.lines.map((line) => swing(line.times, line.values, frame, ENVELOPE.pixels)) : [];
  swings.forEach(({ band }, index) => pen.area(band, theme.hues[(panel.lines[index] as Line).hue], ENVELOPE.opacity));
  panel.lines.forEach((line, index) => {
    const colour = theme.hues[line.hue];
    if (line.points) {
      pen.dots(dots(line.times, line.values, frame), 1.25, colour);
    } else {
      const points = swings[index]?.line ?? steps(line.times, line.values, frame);
      pen.line(points, { colour, width: line.faint ? 1 : 1.5, dash: line.dash });
    }
  });
  for (const moments of panel.moments) {
    const y = frame.top + CROSS + 2 + (moments.row ?? 0) * (2 * CROSS + 2);
    const flat = moments.times.map(() => 0);
    const points = dots(moments.times, flat, { ...frame, least: 0, most: 1 });
    const stroke = { colour: theme.hues[moments.hue], width: 1.5 };
    for (let index = 0; index < points.length; index += 2) {
      const x = points[index] as number;
      const [a, b] = [CROSS, Number.NaN];
      pen.line(Float64Array.of(x - a, y - a, x + a, y + a, x, b, x - a, y + a, x + a, y - a), stroke);
    }
  }
}

function values(pen: Pen, unit: Unit, frame: Frame, theme: Theme): void {
  const [factor, name] = scale(unit, frame.most);
  const wanted = frame.height < 70 ? 2 : 4;
  const found = ticks(frame.least / factor, frame.most / factor, wanted);
  for (const tick of found) {
    const y = level(frame, tick * factor);
    const stroke = { colour: tick === 0 ? theme.axis : theme.grid, width: 1 };
    pen.line(Float64Array.of(frame.left, y, frame.left + frame.width, y), stroke);
    const last = tick === found[found.length - 1];
    const inside = Math.min(Math.max(y, frame.top + 5), frame.top + frame.height - 3);
    pen.text(last && unit !== "packets" ? `${tick} ${name}` : String(tick), frame.left - 6, inside, theme.label, "right");
  }
}

function timeTicks(frame: Frame): number[] {
  return ticks(frame.from, frame.until, Math.max(2, Math.floor(frame.width / 90)));
}

function times(pen: Pen, frame: Frame, theme: Theme, labelled: boolean): void {
  const span = frame.until - frame.from;
  const [factor, name] = span < 0.5 ? [1e-3, "ms"] : [1, "s"];
  for (const tick of timeTicks(frame)) {
    const x = frame.left + ((tick - frame.from) / span) * frame.width;
    if (labelled) {
      const align = x > frame.left + frame.width - 24 ? "right" : "center";
      const digits = Number((tick / factor).toPrecision(9));
      pen.text(`${digits} ${name}`, align === "right" ? frame.left + frame.width : x, frame.top + 10, theme.label, align);
    } else {
      pen.line(Float64Array.of(x, frame.top, x, frame.top + frame.height), { colour: theme.grid, width: 1 });
    }
  }
}

/** The axis of time, below all panels. */
export function drawAxis(pen: Pen, size: Size, window: Window, theme: Theme): void {
  const frame: Frame = { ...window, left: LEFT, width: Math.max(1, size.width - LEFT - RIGHT), top: 0, height: AXIS, least: 0, most: 1 };
  times(pen, frame, theme, true);
}

/** The states of one controller; names stand where there is room. */
export function drawRibbon(pen: Pen, ribbon: Ribbon, size: Size, window: Window, measure: (words: string) => number): void {
  const width = Math.max(1, size.width - LEFT - RIGHT);
  const x = (time: number) => LEFT + ((time - window.from) / (window.until - window.from)) * width;
  for (const span of ribbon.spans) {
    if (span.until < window.from || span.from > window.until) continue;
    const left = x(Math.max(span.from, window.from));
    const right = x(Math.min(span.until, window.until));
    pen.rect(left, 0, Math.max(right - left, 0.5), size.height, span.colour);
    if (right - left > measure(span.state) + 10) {
      pen.text(span.state, (left + right) / 2, size.height / 2, "#1b1e23", "center");
    }
  }
}

/** The value of a line at a time; of points, the nearest before. */
export function valueAt(line: Line, time: number): number {
  const index = after(line.times, time) - 1;
  return index < 0 ? Number.NaN : (line.values[index] as number);
}

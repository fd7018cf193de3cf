// What of a series can be seen: points on the screen, at most four for each pixel. Peaks stay. Of a series that swings from sample to
// sample, the mean of some pixels and what it swings between, as python/thalweg/pages/figures/envelope.py has it.

import { after } from "../trial/columns";

export interface Frame {
  from: number;
  until: number;
  left: number;
  width: number;
  /** Top, height, and the least and the largest value. */
  top: number;
  height: number;
  least: number;
  most: number;
}

/** Where a value is drawn: what is larger than the largest, at the edge. */
export function level({ top, height, least, most }: Frame, value: number): number {
  return top + height - (Math.min(value - least, most - least) / (most - least)) * height;
}

/** A series that keeps each value until the next, as x, y pairs: of each pixel the first, least, largest and last value. */
export function steps(times: Float64Array, values: Float64Array, frame: Frame): Float64Array {
  const { from, until, left, width } = frame;
  const scaleX = width / (until - from);
  const x = (time: number) => left + (time - from) * scaleX;
  const y = (value: number) => level(frame, value);
  const begin = Math.max(0, after(times, from) - 1);
  const end = Math.min(times.length, after(times, until) + 1);
  const points: number[] = [];
  let held = Number.NaN; // the value before
  let pixel = -1;
  let [first, least, largest, last] = [Number.NaN, Infinity, -Infinity, Number.NaN];
  const flush = () => {
    if (pixel < 0) return;
    const at = left + pixel;
    if (!Number.isNaN(held) && !Number.isNaN(first)) points.push(at, y(held));
    if (Number.isNaN(first)) points.push(at, Number.NaN);
    else {
      points.push(at, y(first));
      if (largest > first) points.push(at, y(largest));
      if (least < first) points.push(at, y(least));
      points.push(at, y(last));
    }
    held = last;
  };
  for (let index = begin; index < end; index++) {
    const time = Math.min(Math.max(times[index] as number, from), until);
    const value = values[index] as number;
    const next = Math.round((x(time) - left) * 2) / 2;
    if (next !== pixel) {
      flush();
      pixel = next;
      [first, least, largest, last] = [value, value, value, value];
    } else {
      if (Number.isNaN(first)) first = value;
      if (value < least) least = value;
      if (value > largest) largest = value;
      last = value;
    }
  }
  flush();
  return Float64Array.from(points);
}

/** A line, and around it a closed band; NaN begins a new piece of either. */
export interface Swing {
  line: Float64Array;
  band: Float64Array;
}

/**
 * A series that keeps each value until the next, as its mean over time in intervals of so many pixels, and the band from the least to the
 * greatest. Where a sample has as much room as an interval, the line goes through the samples, and there is no band.
 */
export function swing(times: Float64Array, values: Float64Array, frame: Frame, pixels: number): Swing {
  const { from, until, left, width } = frame;
  const begin = Math.max(0, after(times, from) - 1);
  const end = after(times, until);
  const count = Math.max(1, Math.floor(width / pixels));
  if (end - begin <= count) return { line: steps(times, values, frame), band: new Float64Array() };
  const y = (value: number) => level(frame, value);
  const [line, upper, lower, band]: [number[], number[], number[], number[]] = [[], [], [], []];
  const close = () => {
    if (upper.length > 0) band.push(...upper, ...lower, Number.NaN, Number.NaN);
    upper.length = lower.length = 0;
  };
  let next = begin; // the first sample that is not reached
  let held = Number.NaN;
  for (let index = 0; index < count; index++) {
    const [first, last] = [from + ((until - from) * index) / count, from + ((until - from) * (index + 1)) / count];
    const [x, right] = [left + (width * index) / count, left + (width * (index + 1)) / count];
    let [least, most, area, known] = [Infinity, -Infinity, 0, 0];
    const hold = (value: number, begins: number, ends: number) => {
      if (!Number.isFinite(value) || ends < begins) return;
      [least, most] = [Math.min(least, value), Math.max(most, value)];
      area += value * (ends - begins);
      known += ends - begins;
    };
    while (next < end && (times[next] as number) <= first) held = values[next++] as number;
    let since = first;
    while (next < end && (times[next] as number) < last) {
      hold(held, since, times[next] as number);
      since = times[next] as number;
      held = values[next++] as number;
    }
    if (next < times.length || since > first || index === 0) hold(held, since, last);
    if (known === 0) {
      line.push(x, Number.NaN);
      close();
      continue;
    }
    line.push(x, y(area / known), right, y(area / known));
    upper.push(x, y(most), right, y(most));
    lower.unshift(right, y(least), x, y(least));
  }
  close();
  return { line: Float64Array.from(line), band: Float64Array.from(band) };
}

/** Single points as x, y pairs, one for each pixel. */
export function dots(times: Float64Array, values: Float64Array, frame: Frame): Float64Array {
  const { from, until, left, width } = frame;
  const points: number[] = [];
  const seen = new Set<number>();
  for (let index = after(times, from - 1e-12); index < times.length && (times[index] as number) <= until; index++) {
    const value = values[index] as number;
    if (Number.isNaN(value)) continue;
    const x = Math.round((left + (((times[index] as number) - from) / (until - from)) * width) * 2) / 2;
    const y = Math.round(level(frame, value));
    const pixel = y * 1e5 + 2 * x;
    if (!seen.has(pixel)) {
      seen.add(pixel);
      points.push(x, y);
    }
  }
  return Float64Array.from(points);
}

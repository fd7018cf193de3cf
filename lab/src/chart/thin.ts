// What of a series can be seen: points on the screen, at most four for each pixel. Peaks stay.

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

// One run less another: each series at every time at which one of the two changes.

import type { Line, Panel, Picture } from "./panels";

/** The panels that both have. Points are left out: two packets are not the same one. */
export function difference(one: Picture, other: Picture): Picture {
  const panels = one.panels.flatMap((panel): Panel[] => {
    const beside = other.panels.find(({ id }) => id === panel.id);
    const lines = panel.lines.flatMap((line) => {
      const second = beside?.lines.find(({ name }) => name === line.name);
      return second && !line.points ? [less(line, second)] : [];
    });
    return lines.length > 0 ? [{ ...panel, lines, moments: [], signed: true }] : [];
  });
  return { end: Math.max(one.end, other.end), ribbons: [], panels };
}

function less(one: Line, other: Line): Line {
  const times = union(one.times, other.times);
  const [first, second] = [reader(one), reader(other)];
  return { ...one, times, values: times.map((time) => first(time) - second(time)) };
}

/** Reads a series at times that ascend; not a number outside of it. */
function reader({ times, values }: Line): (time: number) => number {
  const last = times[times.length - 1] ?? -Infinity;
  let index = 0;
  return (time) => {
    while (index < times.length && (times[index] as number) <= time) index++;
    return index === 0 || time > last ? Number.NaN : (values[index - 1] as number);
  };
}

function union(one: Float64Array, other: Float64Array): Float64Array {
  const all = new Float64Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  all.sort();
  return all.filter((time, index) => index === 0 || time !== all[index - 1]);
}


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
    if (!beside || lines.length === 0) return [];
    return [{ ...panel, lines, moments: [], signed: true, span: Math.max(steady(panel), steady(beside)) }];
  });
  return { end: Math.max(one.end, other.end), ribbons: [], panels };
}

/** Where some lines have spikes, the most of the others: the capacity, whose difference is mostly 0 and scales nothing. */
function steady({ lines }: Panel): number {
  if (!lines.some(({ spikes }) => spikes)) return 0;
  return lines.reduce((found, line) => (line.spikes ? found : line.values.reduce((most, value) => Math.max(most, value || 0), found)), 0);
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


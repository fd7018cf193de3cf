// What `thalweg explain` has read from a log or a capture of another program (python/thalweg/experiments/explain/opened.py): the page
// reads no such file by itself, so that every answer about it is that of one reader.

import { line, type Moments, panel, type Ribbon } from "../trial/panels";
import { dropHue, limitColour, type PanelName, seriesOf } from "../words/looks";
import { stateOf } from "../words/states";
import type { Field } from "./field";

/** The series of a file by the columns of traces; null for what is not known. Times are seconds. */
export interface Measured {
  about: string;
  end_s: number;
  time_s: number[];
  series: Record<string, (number | null)[]>;
  lost_s: number[];
  limits: [limit: string, from: number, until: number][];
  states: [state: string, from: number][];
}

const PANELS: PanelName[] = ["window", "rtt", "rate"];
const MOST_SPANS = 10_000;

/** The measurement beside the trial. */
export function drawn(measured: Measured, name: string): Field {
  const { time_s: times, series, end_s: end } = measured;
  const known = (column: string) => (series[column] ?? []).map((value) => value ?? Number.NaN);
  const losses: Moments[] = measured.lost_s.length > 0 ? [{ name: "lost", term: "drop", hue: dropHue("loss"), times: Float64Array.from(measured.lost_s) }] : [];
  const panels = PANELS.map((of) => {
    const columns = seriesOf(of).filter(({ column }) => column in series);
    const lines = columns.map(({ column }) => line(of, column, times, known(column), { faint: column === "latest_rtt_s", spikes: column === "pacing_bps" }));
    return panel(of, lines, of === "window" ? losses : []);
  });
  const limits = measured.limits.slice(0, MOST_SPANS).map(([state, from, until]) => ({ state, from, until, colour: limitColour(state) }));
  const begun = measured.states.slice(0, MOST_SPANS);
  const states = begun.map(([state, from], index) => ({ state, from, until: measured.states[index + 1]?.[1] ?? end, colour: stateOf(state).colour }));
  const ribbons: Ribbon[] = [
    { flow: "the sender", spans: states.filter(({ from, until }) => until > from) },
    { flow: "its limits", title: "What limits the sender", spans: limits },
  ];
  return { name, about: measured.about, picture: { end, ribbons: ribbons.filter(({ spans }) => spans.length > 0), panels: panels.filter(({ lines }) => lines.length > 0) }, facts: {} };
}

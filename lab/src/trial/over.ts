// Two runs over each other: colour is the run, and the dash is the series, as in figures of several trials.

import { DASHES, FLOW_HUES, type Hue } from "../words/looks";
import type { Line, Moments, Panel, Picture } from "./panels";

const [OWN, OTHER] = FLOW_HUES as [Hue, Hue];

export function over(one: Picture, other: Picture, called: [one: string, other: string]): Picture {
  const [own, others] = called;
  const ids = [...new Set([...one.panels, ...other.panels].map(({ id }) => id))];
  const panels = ids.map((id): Panel => {
    const [first, second] = [one, other].map((picture) => picture.panels.find((panel) => panel.id === id));
    const shared = (first ?? second) as Panel;
    const dashes = [...new Set([...(first?.lines ?? []), ...(second?.lines ?? [])].map(({ name }) => name))];
    const lines = (panel: Panel | undefined, run: string, hue: Hue) =>
      (panel?.lines ?? []).map((line): Line => ({ ...line, name: `${line.name}, ${run}`, hue, dash: DASHES[dashes.indexOf(line.name) % DASHES.length] as number[], faint: false }));
    const moments = (panel: Panel | undefined, run: string, hue: Hue, row: number) =>
      (panel?.moments ?? []).map((found): Moments => ({ ...found, name: `${found.name}, ${run}`, hue, row }));
    return {
      ...shared,
      lines: [...lines(second, others, OTHER), ...lines(first, own, OWN)],
      moments: [...moments(second, others, OTHER, 1), ...moments(first, own, OWN, 0)],
    };
  });
  const ribbons = ([[one, own], [other, others]] as const).flatMap(([picture, run]) => picture.ribbons.map((ribbon) => ({ ...ribbon, flow: `${ribbon.flow}, ${run}` })));
  return { end: Math.max(one.end, other.end), ribbons, panels };
}

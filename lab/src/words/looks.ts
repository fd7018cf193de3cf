// How the panels of a trial look: colours, dashes, titles, their order and their series. One list for this page and the figures of the
// command line (python/thalweg/pages/figures/theme.py).

import looks from "@thalweg/pages/figures/looks.json";
import type { Unit } from "./quantity";

export type Hue = keyof typeof looks.hues;
export type PanelName = keyof typeof looks.panels;

export const HUES: Record<Hue, { light: string; dark: string }> = looks.hues;
/** The colours of flows, of queues, and of what links hold back, in their order. */
export const FLOW_HUES = looks.flows as Hue[];
export const LINK_HUES = looks.links as Hue[];
export const HELD_HUES = looks.held as Hue[];
/** The colours of frames by what became of them. */
export const FRAME_HUES = looks.frames as Record<keyof typeof looks.frames, Hue>;
export const DASHES: number[][] = looks.dashes;
/** Panels whose lines are means of this many pixels, and how opaque what they swing between is behind them. */
export const ENVELOPE: { opacity: number; pixels: number; panels: string[] } = looks.envelope;
/** Panels in their order. */
export const PANELS = Object.keys(looks.panels) as PanelName[];

export function titleOf(panel: PanelName): string {
  return looks.panels[panel].title;
}

export function unitOf(panel: PanelName): Unit {
  return looks.panels[panel].unit as Unit;
}

/** The series of a panel: the column of the trace, its name and its colour. */
export function seriesOf(panel: PanelName): { column: string; name: string; hue: Hue }[] {
  const series = looks.panels[panel].series as Record<string, [name: string, hue: Hue]>;
  return Object.entries(series).map(([column, [name, hue]]) => ({ column, name, hue }));
}

/** The colour of what limits a sender. */
export function limitColour(limit: string): string {
  const hues = looks.limits as Record<string, Hue>;
  return HUES[Object.hasOwn(hues, limit) ? (hues[limit] as Hue) : "grey"].light;
}

/** The colour of drops, by their reason. */
export function dropHue(reason: string): Hue {
  const hues = looks.drops as Record<string, Hue>;
  return Object.hasOwn(hues, reason) ? (hues[reason] as Hue) : "grey";
}

/** What a link is called: `downlink` for the one that scenarios name `down`. */
export function linkCalled(link: string): string {
  const ways: Record<string, string> = looks.ways;
  return Object.hasOwn(ways, link) ? (ways[link] as string) : link;
}

// Colours of drawings, on a light background and on a dark one.

import { type Hue, HUES } from "../words/looks";

export interface Theme {
  background: string;
  grid: string;
  axis: string;
  label: string;
  text: string;
  hues: Record<Hue, string>;
}

const names = Object.keys(HUES) as Hue[];
const hues = (scheme: "light" | "dark") => Object.fromEntries(names.map((name) => [name, HUES[name][scheme]])) as Record<Hue, string>;

export const LIGHT: Theme = { background: "#ffffff", grid: "#e6e8eb", axis: "#b8bdc4", label: "#4a4f57", text: "#22252a", hues: hues("light") };

export const DARK: Theme = { background: "#16191d", grid: "#2b3037", axis: "#4a4f57", label: "#b3b9c2", text: "#e6e8eb", hues: hues("dark") };

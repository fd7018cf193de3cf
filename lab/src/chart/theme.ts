// Colours of drawings: those of Okabe and Ito (Color Universal Design, 2008), as in the figures of `thalweg plot`.

import type { Hue } from "../trial/panels";

export interface Theme {
  background: string;
  grid: string;
  axis: string;
  label: string;
  text: string;
  hues: Record<Hue, string>;
}

export const LIGHT: Theme = {
  background: "#ffffff",
  grid: "#e6e8eb",
  axis: "#b8bdc4",
  label: "#4a4f57",
  text: "#22252a",
  hues: {
    blue: "#0072b2",
    vermilion: "#d55e00",
    green: "#009e73",
    purple: "#b55c94",
    orange: "#c98a00",
    sky: "#56b4e9",
    grey: "#6b717a",
  },
};

export const DARK: Theme = {
  background: "#16191d",
  grid: "#2b3037",
  axis: "#4a4f57",
  label: "#b3b9c2",
  text: "#e6e8eb",
  hues: {
    blue: "#56b4e9",
    vermilion: "#f08a3c",
    green: "#2cc69a",
    purple: "#de93bd",
    orange: "#e6b13c",
    sky: "#3f87b3",
    grey: "#9aa1ab",
  },
};

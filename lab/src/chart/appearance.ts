// Light or dark: the reader's system says it, unless a button does.

import { computed, effect, signal } from "@preact/signals";
import { DARK, LIGHT } from "./theme";

const dark = matchMedia("(prefers-color-scheme: dark)");
const preferred = signal(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => (preferred.value = dark.matches ? "dark" : "light"));

const slim = matchMedia("(max-width: 40rem)");
/** Whether the window is that of a telephone: what matters most stands first then. */
export const narrow = signal(slim.matches);
slim.addEventListener("change", () => (narrow.value = slim.matches));

export const chosen = signal<"light" | "dark" | null>(null);
export const scheme = computed(() => chosen.value ?? preferred.value);
export const theme = computed(() => (scheme.value === "dark" ? DARK : LIGHT));

effect(() => {
  document.documentElement.dataset["scheme"] = scheme.value;
});

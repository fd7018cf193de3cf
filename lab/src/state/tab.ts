// Which tab is open.

import { signal } from "@preact/signals";

export type Tab = "path" | "scenario" | "controller" | "sweep" | "results" | "lessons";
export const tab = signal<Tab>("path");

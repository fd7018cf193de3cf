// The scenarios that come with the page: those of the suite of C4's draft, in its order.

import { signal } from "@preact/signals";

const files = import.meta.glob<string>("../../../python/thalweg/suites/c4/*.toml", { query: "?raw", import: "default", eager: true });

export interface Shipped {
  /** As the command line calls it: `c4/bad-wifi`. */
  name: string;
  title: string;
  text: string;
}

/** The title that a text gives itself. */
export function titleOf(text: string): string | undefined {
  return /^title\s*=\s*"([^"]*)"/m.exec(text)?.[1];
}

function shipped(): Shipped[] {
  const texts = new Map(Object.entries(files).map(([path, text]) => [path.replace(/^.*\/|\.toml$/g, ""), text]));
  const suite = texts.get("suite") ?? "";
  const listed = /^order\s*=\s*\[([^\]]*)\]/m.exec(suite)?.[1] ?? "";
  const order = [...listed.matchAll(/"([^"]+)"/g)].map((match) => match[1] as string);
  return order.flatMap((name) => {
    const text = texts.get(name);
    const title = titleOf(text ?? "") ?? name;
    return text === undefined ? [] : [{ name: `c4/${name}`, title, text }];
  });
}

export const LIBRARY = shipped();

/** Scenarios of the folder that a local server was given. */
export const local = signal<Shipped[]>([]);

const FLOWS = /^\s*(\[\[\s*flow\s*\]\]|flow\s*=)/m;

/** The first of some scenarios that has flows: a folder has other files too. */
export function firstOf(found: Shipped[]): Shipped | undefined {
  return found.find(({ text }) => FLOWS.test(text));
}

export function find(name: string): Shipped | undefined {
  return LIBRARY.find((entry) => entry.name === name);
}

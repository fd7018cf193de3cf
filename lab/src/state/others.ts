// Whether a link to the present runs works for others, who have neither this machine nor this folder.

import type { Setup } from "../engine/engine";

const OWN = new Set(["127.0.0.1", "localhost", "[::1]", ""]);

/** What a run needs that no link carries. */
function needs({ text, sets, controllers }: Setup): string | null {
  const words = [...Object.values(controllers), ...Object.entries(sets).map(([key, value]) => `${key} = ${value}`), text.replaceAll(/^\s*#.*$/gm, "")].join("\n");
  const file = /[^\s"']+\.py\b/.exec(words)?.[0] ?? /\btrace\s*=\s*"([^"]+)"/.exec(words)?.[1];
  if (file !== undefined) return `It needs ${file}, a file of this folder, which the link does not carry.`;
  if (/\bnoq:|\bstack\s*=\s*"quic"/.test(words)) return "It runs the QUIC stack, which no browser has: others need thalweg lab.";
  return null;
}

/** Why a link to these runs does not work for others as it is; empty if it does. */
export function obstacles(setups: Setup[]): string[] {
  const found = setups.map(needs).filter((need) => need !== null);
  if (OWN.has(location.hostname)) found.push("Its address is of this machine: others open it with thalweg lab --trial LINK.");
  return [...new Set(found)];
}

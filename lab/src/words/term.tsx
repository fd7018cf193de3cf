// A word that explains itself: a button that opens a sentence with its document.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { stateOf } from "./states";
import { wordOf } from "./terms";

interface OpenTerm {
  name: string;
  meaning: string;
  source: string;
  left: number;
  top: number;
  from: HTMLElement;
}

const explained = signal<OpenTerm | null>(null);

export function Term({ term, kind = "term", children }: { term: string; kind?: "term" | "state"; children: ComponentChildren }) {
  const word = kind === "state" ? stateOf(term) : wordOf(term);
  if (!word) return <span>{children}</span>;
  const onClick = (event: MouseEvent) => {
    const from = event.currentTarget as HTMLElement;
    const { left, bottom } = from.getBoundingClientRect();
    const { meaning, source } = word;
    explained.value =
      explained.value?.from === from ? null : { name: term, meaning, source, left: Math.min(left, innerWidth - 300), top: bottom + 6, from };
  };
  // The chart beneath does not take the press for its own.
  return (
    <button type="button" class="term" onClick={onClick} onPointerDown={(event) => event.stopPropagation()}>
      {children}
    </button>
  );
}

/** The sentence that is open; Escape, a click elsewhere, and scrolling its word away close it. */
export function Explanation() {
  const box = useRef<HTMLDivElement>(null);
  const shown = explained.value;
  // Not after the next frame, as an effect would be: a key that follows at once finds the listener.
  useLayoutEffect(() => {
    if (!shown || !box.current) return;
    const at = shown.from.getBoundingClientRect();
    // Above the word where there is no room below it.
    const { bottom, height } = box.current.getBoundingClientRect();
    if (bottom > innerHeight) box.current.style.top = `${Math.max(8, at.top - height - 6)}px`;
    const close = (event: Event) => {
      // The focus scrolls to a word before a key opens it; what that tells may come late.
      if (event.type === "scroll") {
        const { left, top } = shown.from.getBoundingClientRect();
        if (left === at.left && top === at.top) return;
      }
      const inside = event.target instanceof Node && (box.current?.contains(event.target) || shown.from.contains(event.target));
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !inside) {
        explained.value = null;
        if (event instanceof KeyboardEvent) shown.from.focus();
      }
    };
    const kinds = ["keydown", "pointerdown", "scroll"] as const;
    for (const kind of kinds) addEventListener(kind, close, kind === "scroll");
    return () => {
      for (const kind of kinds) removeEventListener(kind, close, kind === "scroll");
    };
  }, [shown]);
  return (
    <div class="explanation" role="status" ref={box} hidden={!shown} style={shown ? { left: `${Math.max(8, shown.left)}px`, top: `${shown.top}px` } : {}}>
      {shown && (
        <>
          <strong>{shown.name}</strong>
          <p>{shown.meaning[0]?.toUpperCase() + shown.meaning.slice(1)}</p>
          <p class="source">{shown.source}</p>
        </>
      )}
    </div>
  );
}

// Panels over one axis of time, with one cursor: to look closer, to move along, and to read values.

import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Line, Panel, Picture, Ribbon } from "../trial/panels";
import { stateAt } from "../trial/panels";
import { text } from "../words/quantity";
import { theme } from "./appearance";
import { Term } from "../words/term";
import { AXIS, drawAxis, drawPanel, drawRibbon, LEFT, RIGHT, type Size, valueAt, type Window } from "./draw";
import { textScale } from "./text_scale";
import { CanvasPen } from "./pen";
import type { Theme } from "./theme";
import { cursor, look, magnify, onKey, pan, playing, view, zoom } from "./view";

export const FONT = "11px system-ui, 'Helvetica Neue', Helvetica, Arial, sans-serif";

type Draw = (pen: CanvasPen, size: Size, window: Window, theme: Theme, context: CanvasRenderingContext2D) => void;

/** A canvas that is drawn again when what it shows changes. */
export function Canvas({ draw, height, label, version }: { draw: Draw; height: number; label: string; version: unknown }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal<Size & { scale: number }>({ width: 0, height, scale: 1 });
  const current = useRef(draw);
  current.current = draw;
  const drawn = useSignal(version);
  drawn.value = version;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const seen = new ResizeObserver(([entry]) => {
      const scale = textScale();
      const width = Math.floor((entry?.contentRect.width ?? 0) / scale);
      if (width > 0 && (width !== size.value.width || scale !== size.value.scale)) size.value = { width, height, scale };
    });
    seen.observe(element);
    let frame = 0;
    const stop = effect(() => {
      const [{ width, scale }, window, colours] = [size.value, view.value, theme.value];
      void drawn.value;
      if (width === 0) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const ratio = (globalThis.devicePixelRatio || 1) * scale;
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
        const context = element.getContext("2d");
        if (!context) return;
        context.scale(ratio, ratio);
        context.clearRect(0, 0, width, height);
        current.current(new CanvasPen(context, FONT), { width, height }, window, colours, context);
      });
    });
    return () => {
      stop();
      seen.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [height]);
  return <canvas ref={canvas} class="plot" role="img" aria-label={label} style={{ height: `${height / 16}rem` }} />;
}

function timeAt(element: HTMLElement, x: number): number {
  const { left, width } = element.getBoundingClientRect();
  const [begin, room] = [left + LEFT * textScale(), width - (LEFT + RIGHT) * textScale()];
  const share = (x - begin) / Math.max(1, room);
  const { from, until } = view.value;
  return from + Math.min(Math.max(share, 0), 1) * (until - from);
}

/** Where a moment is, in percent of the plots; `null` if it is not seen. */
function share(time: number | null): number | null {
  const { from, until } = view.value;
  return time === null || time < from || time > until ? null : ((time - from) / (until - from)) * 100;
}

/** The row that a part of a chart has, if it has one. */
type RowStyle = { gridRow: number | "auto" };

/** What a chart shows from top to bottom: a ribbon for each flow, panels, the axis. */
function keysOf({ ribbons, panels }: Picture): string[] {
  return [...ribbons.map((ribbon) => `${ribbon.title ?? "state"} of ${ribbon.flow}`), ...panels.map((panel) => panel.id), "axis"];
}

/** The rows of two charts beside each other, in which the same things stand in line. */
export function rowsOf(one: Picture, other: Picture): string[] {
  const rows = keysOf(one);
  keysOf(other).forEach((key, index, keys) => {
    if (!rows.includes(key)) rows.splice(rows.indexOf(keys[index - 1] ?? "") + 1, 0, key);
  });
  return rows;
}

/** All panels of a trial; those `beside` it have the same scales, and stand in the same `rows`. */
export function Chart({ picture, name, beside, rows = [] }: { picture: Picture; name: string; beside?: Picture; rows?: string[] }) {
  const keys = keysOf(picture);
  const placed = (index: number): RowStyle => ({ gridRow: rows.indexOf(keys[index] ?? "") + 1 || "auto" });
  const stack = useRef<HTMLDivElement>(null);
  const drag = useSignal<{ from: number; until: number; pans: boolean } | null>(null);
  const now = useComputed(() => share(cursor.value));
  const chosen = useComputed(() => {
    const dragged = drag.value;
    if (!dragged || dragged.pans) return null;
    const [from, until] = [Math.min(dragged.from, dragged.until), Math.max(dragged.from, dragged.until)];
    return { left: share(from) ?? 0, right: share(until) ?? 100 };
  });

  useEffect(() => {
    const element = stack.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
      event.preventDefault();
      if (event.ctrlKey) magnify(Math.exp(-event.deltaY / 200), timeAt(element, event.clientX));
      else pan((event.deltaY || event.deltaX) / 1000);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0 || !stack.current) return;
    const time = timeAt(stack.current, event.clientX);
    cursor.value = time;
    if (event.pointerType === "mouse") {
      stack.current.setPointerCapture(event.pointerId);
      drag.value = { from: time, until: time, pans: event.shiftKey };
    }
  };
  const onMove = (event: PointerEvent) => {
    if (!stack.current) return;
    const time = timeAt(stack.current, event.clientX);
    const dragged = drag.value;
    if (dragged?.pans) {
      const { from, until } = view.value;
      look(from + dragged.from - time, until + dragged.from - time);
      return;
    }
    if (dragged || !playing.value) cursor.value = time;
    if (dragged) drag.value = { ...dragged, until: time };
  };
  const onUp = () => {
    const dragged = drag.value;
    drag.value = null;
    if (!dragged || dragged.pans) return;
    const [from, until] = [Math.min(dragged.from, dragged.until), Math.max(dragged.from, dragged.until)];
    const { from: least, until: most } = view.value;
    if (until - from > (most - least) / 100) look(from, until);
  };

  return (
    <div class="chart">
      <div
        class="stack"
        ref={stack}
        tabIndex={0}
        role="group"
        aria-roledescription="chart over time"
        aria-label={`${name}. Arrow keys move the cursor, plus and minus zoom, page keys move along, 0 shows all.`}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerCancel={onUp}
        onDblClick={() => (zoom.value = null)}
        onKeyDown={(event) => void onKey(event)}
      >
        {picture.ribbons.map((ribbon, index) => (
          <States key={ribbon.flow} ribbon={ribbon} alone={picture.ribbons.filter(({ title }) => !title).length === 1} style={placed(index)} />
        ))}
        {picture.panels.map((panel, index) => (
          <Plot key={panel.id} panel={panel} beside={beside?.panels.find((other) => other.id === panel.id)} style={placed(picture.ribbons.length + index)} />
        ))}
        <div style={placed(keys.length - 1)}>
          <Canvas
            height={AXIS}
            label="axis of time"
            version={picture}
            draw={(pen, size, window, colours) => drawAxis(pen, size, window, colours)}
          />
        </div>
        <div class="overlay" aria-hidden="true">
          {chosen.value && (
            <div
              class="selection"
              style={{ left: `${chosen.value.left}%`, right: `${100 - chosen.value.right}%` }}
            />
          )}
          {now.value !== null && <div class="cursor" style={{ transform: `translateX(${now.value}cqw)` }} />}
        </div>
      </div>
    </div>
  );
}

function States({ ribbon, alone, style }: { ribbon: Ribbon; alone: boolean; style: RowStyle }) {
  const state = useComputed(() => (cursor.value === null ? null : stateAt(ribbon, cursor.value)));
  const known = [...new Set(ribbon.spans.map((span) => span.state))];
  return (
    <figure class="panel" style={style}>
      <figcaption>
        {ribbon.title ?? <Term term="state">{alone ? "State of the controller" : `State of ${ribbon.flow}`}</Term>}
        <ul class="legend states">
          {known.map((name) => (
            <li key={name} class={state.value === name ? "now" : ""}>
              <span
                class="swatch"
                style={{ background: ribbon.spans.find((span) => span.state === name)?.colour ?? "" }}
              />
              {ribbon.title ? (
                name
              ) : (
                <Term term={name} kind="state">
                  {name}
                </Term>
              )}
            </li>
          ))}
        </ul>
      </figcaption>
      <Canvas
        height={24}
        label={`${ribbon.title ?? "states"} of ${ribbon.flow}: ${known.join(", ")}`}
        version={ribbon}
        draw={(pen, size, window, _, context) => {
          context.font = FONT;
          drawRibbon(pen, ribbon, size, window, (words) => context.measureText(words).width);
        }}
      />
    </figure>
  );
}

function Plot({ panel, beside, style }: { panel: Panel; beside: Panel | undefined; style: RowStyle }) {
  const both = useMemo(() => [panel, beside], [panel, beside]);
  return (
    <figure class="panel" data-panel={panel.id} style={style}>
      <figcaption>
        <span class="title">{panel.title}</span>
        <ul class="legend">
          {panel.lines.map((line) => (
            <Entry key={line.name} line={line} panel={panel} />
          ))}
          {panel.moments
            .filter((moments) => moments.times.length > 0)
            .map((moments) => (
              <li key={moments.name}>
                <span class="cross" style={{ color: theme.value.hues[moments.hue] }} aria-hidden="true">
                  ✕
                </span>
                <Term term={moments.term}>{moments.name}</Term>
                <span class="value">{moments.times.length}</span>
              </li>
            ))}
        </ul>
      </figcaption>
      <Canvas
        height={panel.lines.some((line) => line.points) ? 90 : 120}
        label={`${panel.title}: ${panel.lines.map((line) => line.name).join(", ")}`}
        version={both}
        draw={(pen, size, window, colours) => drawPanel(pen, panel, size, window, colours, beside)}
      />
    </figure>
  );
}

function Entry({ line, panel }: { line: Line; panel: Panel }) {
  const value = useComputed(() => (cursor.value === null ? "" : text(valueAt(line, cursor.value), panel.unit, 4)));
  return (
    <li>
      <span
        class={`swatch ${line.points ? "point" : ""}`}
        style={{
          color: theme.value.hues[line.hue],
          borderTopStyle: line.dash.length === 0 ? "solid" : (line.dash[0] as number) > 3 ? "dashed" : "dotted",
        }}
      />
      <Term term={line.term}>{line.name}</Term>
      <span class="value" data-line={line.name}>
        {value}
      </span>
    </li>
  );
}

/** Buttons for what mouse and keys do. */
export function Zoom() {
  const all = useComputed(() => zoom.value === null);
  const seen = useComputed(() => `${text(view.value.from, "s", 4)} to ${text(view.value.until, "s", 4)}`);
  return (
    <div class="zoom" role="group" aria-label="part of the trial">
      <span class="seen">{seen}</span>
      <button type="button" onClick={() => pan(-0.5)} aria-disabled={all.value} aria-label="earlier">
        ‹
      </button>
      <button type="button" onClick={() => pan(0.5)} aria-disabled={all.value} aria-label="later">
        ›
      </button>
      <button type="button" onClick={() => magnify(2)} aria-label="closer">
        +
      </button>
      <button type="button" onClick={() => magnify(0.5)} aria-disabled={all.value} aria-label="farther">
        −
      </button>
      <button type="button" onClick={() => (zoom.value = null)} aria-disabled={all.value}>
        All
      </button>
    </div>
  );
}

// The packets of a hop at the moment of the cursor: their animation, its buttons, and the same in words.

import { effect, useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { em } from "../chart/em";
import { onKey, playing, point, view } from "../chart/view";
import { theme } from "../state/appearance";
import { run } from "../state/lab";
import { text } from "../trial/quantity";
import { chosen, covers, fetching, type Held, held, MOST, now, watching } from "../watch/held";
import { events } from "../watch/lane";
import { type Moment, moment, room } from "../watch/moment";
import { begin, isCalm, pause, speed, SPEEDS, step } from "../watch/player";
import { drawScene, HEIGHT, type Scene } from "../watch/scene";

/** How long a dropped packet is seen, in seconds of the reader. */
const FADE_S = 0.7;
/** More room than this many times the longest backlog is not drawn: packets would be too short to be seen. */
const MOST_EMPTY = 3;
/** At least this many packets are drawn for. */
const LEAST_DRAWN = 10;

export interface Watched {
  link: string;
  time: number;
  ahead: Moment;
  back: Moment;
  /** What happens at this very moment. */
  events: string[];
}

/** What the page shows of packets, for scripts and for the words below the picture; `null` until they are there. */
export function watched(): Watched | null {
  const [part, time] = [held.value, now()];
  if (!watching.value || !part || !covers(part, time)) return null;
  const [ahead, back] = [moment(part.forward, part.samples[0], time), moment(part.back, part.samples[1], time)];
  const found = [part.forward, part.back].flatMap((lane) => events(lane, part.flows, time));
  return { link: part.watched, time, ahead, back, events: found };
}

function scene(part: Held, time: number): Scene {
  const { forward, back, hues, samples, limits, largestPacket, watched: link } = part;
  const [{ times, capacity, longest }] = samples;
  const last = Math.max(0, times.findLastIndex((sample) => sample <= time));
  const limit = room(limits, link, time, capacity[last] ?? Number.NaN, largestPacket);
  const least = Math.max(longest * 1.05, LEAST_DRAWN * largestPacket);
  const isOpen = !(limit <= MOST_EMPTY * least);
  const ends: [string, string] = part.links.indexOf(link) % 2 === 0 ? ["server's side", "client's side"] : ["client's side", "server's side"];
  return { forward, back, hues, drawn: isOpen ? least : Math.max(limit, largestPacket), isOpen, ends };
}

function Picture() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    let [width, scale, frame] = [0, 1, 0];
    const draw = () => {
      const [part, time] = [held.value, now()];
      const ratio = (globalThis.devicePixelRatio || 1) * scale;
      const [wide, high] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
      if (element.width !== wide || element.height !== high) [element.width, element.height] = [wide, high];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, HEIGHT);
      if (!part || !covers(part, time)) return;
      const shown = { time, fade: speed.value * FADE_S, moves: !isCalm.value };
      drawScene(context, { width, height: HEIGHT }, theme.value, scene(part, time), shown);
    };
    const later = () => {
      cancelAnimationFrame(frame);
      if (width > 0) frame = requestAnimationFrame(draw);
    };
    const seen = new ResizeObserver(([entry]) => {
      scale = em();
      width = Math.floor((entry?.contentRect.width ?? 0) / scale);
      later();
    });
    seen.observe(element);
    const stop = effect(() => {
      void [held.value, now(), theme.value, speed.value, isCalm.value];
      later();
    });
    return () => {
      stop();
      seen.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = { " ": toggle, ".": () => step(1), ",": () => step(-1) };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return void onKey(event);
    act();
    event.preventDefault();
  };
  return (
    <div
      class="scene"
      tabIndex={0}
      role="group"
      aria-label="packets at the moment of the cursor. Space starts and pauses, full stop and comma move to the next and the previous event, arrow keys move the cursor."
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} role="img" aria-label="queue, link and way back with their packets" style={{ height: `${HEIGHT / 16}rem` }} />
    </div>
  );
}

function toggle(): void {
  if (playing.value) pause();
  else begin();
}

function count(packets: number): string {
  return packets === 1 ? "1 packet" : `${packets} packets`;
}

function queueWords({ packets, bytes, delay }: Moment): string {
  return `${count(packets)}, ${text(bytes, "bytes")}, ${text(delay, "s")}`;
}

function linkWords({ sending, travelling, held: back }: Moment, lane: Held["forward"]): string {
  const sent = sending === null ? "idle" : `sends packet ${lane.packet[sending]}`;
  return `${sent}, ${travelling} on the way${back > 0 ? `, ${back} held back` : ""}`;
}

/** The moment in words, in cells that keep their places. */
function Words() {
  const found = useComputed(watched);
  const [shown, part] = [found.value, held.value];
  const time = `${now().toFixed(6)} s`;
  const cells: [string, string, string][] =
    shown && part
      ? [
          ["queue", `queue (${shown.link})`, queueWords(shown.ahead)],
          ["link", "link", linkWords(shown.ahead, part.forward)],
          ["back", "way back", `${shown.back.packets > 0 ? `${shown.back.packets} waiting, ` : ""}${shown.back.travelling} on the way${shown.back.held > 0 ? `, ${shown.back.held} held back` : ""}`],
          ["so-far", "so far", `${shown.ahead.dropped} dropped by the queue, ${shown.ahead.marked} marked`],
        ]
      : ["queue", "link", "back", "so-far"].map((key) => [key, "…", fetching.value ? "getting the packets" : "–"]);
  const happens = shown && !playing.value ? shown.events.slice(0, 3).join("; ") : "";
  const more = shown && !playing.value && shown.events.length > 3 ? `; and ${shown.events.length - 3} more` : "";
  return (
    <>
      <dl class="moment">
        {cells.map(([key, title, words]) => (
          <div key={key}>
            <dt>{title}</dt>
            <dd data-cell={key}>{words}</dd>
          </div>
        ))}
      </dl>
      <p class="now">
        <span class="time">{time}</span> {happens}
        {more}
      </p>
      <p class="hidden" role="status">
        {playing.value ? "" : `${time}: ${cells.map(([, title, words]) => `${title}: ${words}`).join("; ")}. ${happens}${more}`}
      </p>
    </>
  );
}

function Controls() {
  const part = held.value;
  const { from, until } = view.value;
  const share = Math.round((1000 * (now() - from)) / (until - from));
  return (
    <div class="controls">
      <div class="buttons" role="group" aria-label="move the cursor">
        <button type="button" onClick={() => step(-1)} aria-label="previous event" title="previous event">
          ‹
        </button>
        <button type="button" class="main" onClick={toggle}>
          {playing.value ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => step(1)} aria-label="next event" title="next event">
          ›
        </button>
      </div>
      <select aria-label="speed" value={String(speed.value)} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
        {SPEEDS.map(([factor, name]) => (
          <option key={factor} value={String(factor)} selected={factor === speed.value}>
            {name}
          </option>
        ))}
      </select>
      {part && (
        <select aria-label="link whose queue is seen" value={part.watched} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {part.links.map((link) => (
            <option key={link} value={link} selected={link === part.watched}>
              {link}
            </option>
          ))}
        </select>
      )}
      <input
        type="range"
        class="scrub"
        min={0}
        max={1000}
        value={Math.min(Math.max(share, 0), 1000)}
        aria-label="moment"
        aria-valuetext={`${now().toFixed(6)} s`}
        onInput={(event) => {
          pause();
          point(from + (Number(event.currentTarget.value) / 1000) * (until - from));
        }}
      />
    </div>
  );
}

function Legend() {
  const part = held.value;
  if (!part) return null;
  const isWhole = part.fromS === 0 && part.untilS >= part.run.picture.end;
  return (
    <>
      <ul class="legend">
        {part.flows.map((flow, index) => (
          <li key={flow}>
            <span class="block" style={{ background: theme.value.hues[part.hues[index] ?? "grey"] }} />
            {flow}
          </li>
        ))}
        <li>
          <span class="block low" />
          low: no data, an acknowledgement
        </li>
        <li>
          <span class="block cap" />
          cap: marked CE
        </li>
        <li>
          <span class="cross" aria-hidden="true">
            ✕
          </span>
          dropped or lost
        </li>
      </ul>
      {!isWhole && (
        <p class="quiet">
          {MOST.toLocaleString("en")} packets are held at a time, now from {part.fromS.toFixed(3)} to {part.untilS.toFixed(3)} s; the part
          follows the cursor.
        </p>
      )}
    </>
  );
}

export function Watch() {
  if (!run.value) return null;
  const isOpen = watching.value;
  const turn = () => {
    pause();
    watching.value = !isOpen;
  };
  return (
    <section class="watch" aria-label="packets">
      <header>
        <h2>Packets</h2>
        <button type="button" aria-expanded={isOpen} onClick={turn}>
          {isOpen ? "Close" : "Watch the packets"}
        </button>
      </header>
      {isOpen && (
        <>
          <Controls />
          <Picture />
          <Words />
          <Legend />
        </>
      )}
    </section>
  );
}

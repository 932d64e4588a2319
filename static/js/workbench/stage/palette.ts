// The design tokens as a canvas wants them; read once for a theme.

import { textSize, theme, token as authored } from "../../lib/theme.ts";
import { penOf } from "../../lib/dom.ts";
import { CLASSES } from "../view/colours.ts";

export type Palette = ReturnType<typeof read>;
export type Rgb = [red: number, green: number, blue: number];

export const LEVELS = 32; // of the ramp
const TINT = 0.3; // of a cell that is too small to show otherwise that the pod does not fit
const DIMMED = 0.38; // how much of its colour a cell keeps that does not count

const forced = matchMedia("(forced-colors: active)");
// What a token is where the system forces its few colours on the page, which a canvas does not follow by itself.
const SYSTEM: Record<string, string> = {
  "--bg": "Canvas",
  "--panel": "Canvas",
  "--ink": "CanvasText",
  "--dim": "CanvasText",
  "--faint": "CanvasText",
  "--line-strong": "CanvasText",
  "--track": "GrayText",
  "--accent": "Highlight",
  "--accent-text": "CanvasText",
  "--fail": "CanvasText",
  "--fail-text": "CanvasText",
  "--stale": "CanvasText",
  "--stale-text": "CanvasText",
  "--wait": "CanvasText",
  "--victim": "CanvasText",
  "--heat0": "Canvas",
  "--heat1": "GrayText",
  "--heat2": "CanvasText",
};

let known: Palette | null = null;
forced.addEventListener("change", () => dispatchEvent(new CustomEvent("podstep:theme", { detail: theme() })));
addEventListener("podstep:theme", () => {
  known = null;
});

/** A token as "#rrggbb", or the system's colour for it. */
function token(name: string) {
  if (!forced.matches || !SYSTEM[name]) return authored(name);
  const pen = penOf(document.createElement("canvas"));
  pen.fillStyle = SYSTEM[name];
  return pen.fillStyle;
}

/** @param t the share of `b` */
const mix = (a: Rgb, b: Rgb, t: number): Rgb => {
  const at = (i: 0 | 1 | 2) => Math.round(a[i] + (b[i] - a[i]) * t);
  return [at(0), at(1), at(2)];
};
const rgb = (name: string): Rgb => {
  const hex = token(name).slice(1);
  const at = (i: number) => parseInt(hex.slice(i, i + 2), 16);
  return [at(0), at(2), at(4)];
};
const css = (colour: Rgb) => `rgb(${colour.join(" ")})`;

/** The colours of the theme. */
export const palette = () => (known ??= read());

function read() {
  const [low, middle, high, bg] = [rgb("--heat0"), rgb("--heat1"), rgb("--heat2"), rgb("--bg")];
  const shades = Array.from({ length: LEVELS + 1 }, (_, i) => {
    const t = i / LEVELS;
    return t < 0.5 ? mix(low, middle, t * 2) : mix(middle, high, t * 2 - 1);
  });
  const pods = CLASSES.map((name) => rgb(`--${name}`));
  return {
    ink: token("--ink"),
    dim: token("--dim"),
    faint: token("--faint"),
    fail: token("--fail"),
    wait: token("--wait"),
    victim: token("--victim"),
    accent: token("--accent"),
    bg: token("--bg"),
    panel: token("--panel"),
    stale: token("--stale"),
    failText: token("--fail-text"),
    accentText: token("--accent-text"),
    staleText: token("--stale-text"),
    line: token("--line-strong"),
    font: token("--font"),
    type: textSize(),
    rail: token("--track"),
    high: css(high),
    tinted: css(mix(bg, rgb("--fail"), TINT)),
    ramp: shades.map(css),
    dimmed: shades.map((shade) => css(mix(bg, shade, DIMMED))),
    pods: pods.map(css),
    podsDimmed: pods.map((pod) => css(mix(bg, pod, DIMMED))),
  };
}

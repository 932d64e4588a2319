// The design tokens as a canvas wants them; read once for a theme.

import { textSize, theme, token as authored } from "../../lib/theme.js";
import { CLASSES } from "./colours.js";

export const LEVELS = 32; // of the ramp
const TINT = 0.3; // of a cell that is too small to say otherwise that the pod does not fit
const DIMMED = 0.38; // how much of its colour a cell keeps that does not count

const forced = matchMedia("(forced-colors: active)");
// What a token is where the system forces its few colours on the page, which a canvas does not follow by itself.
const SYSTEM = {
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

let known = null;
forced.addEventListener("change", () => dispatchEvent(new CustomEvent("podstep:theme", { detail: theme() })));
addEventListener("podstep:theme", () => {
  known = null;
});

/** A token as "#rrggbb", or the system's colour for it. */
function token(name) {
  if (!forced.matches || !SYSTEM[name]) return authored(name);
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = SYSTEM[name];
  return pen.fillStyle;
}

const mix = (a, b, t) => a.map((value, i) => Math.round(value + (b[i] - value) * t));
const rgb = (name) => {
  const hex = token(name).slice(1);
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
};
const css = (colour) => `rgb(${colour.join(" ")})`;

export function palette() {
  if (known) return known;
  const [low, middle, high, bg] = [rgb("--heat0"), rgb("--heat1"), rgb("--heat2"), rgb("--bg")];
  const shades = Array.from({ length: LEVELS + 1 }, (_, i) => {
    const t = i / LEVELS;
    return t < 0.5 ? mix(low, middle, t * 2) : mix(middle, high, t * 2 - 1);
  });
  const pods = CLASSES.map((name) => rgb(`--${name}`));
  const named = Object.fromEntries(
    ["ink", "dim", "faint", "fail", "wait", "victim", "accent", "bg", "panel", "stale"].map((name) => [
      name,
      token(`--${name}`),
    ]),
  );
  known = {
    ...named,
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
  return known;
}

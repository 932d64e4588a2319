// The design tokens as a canvas wants them; read once for a theme.

import { textSize, theme, token as authored } from "../../lib/theme.js";
import { penOf } from "../../lib/dom.js";
import { CLASSES } from "./colours.js";

/** @typedef {ReturnType<typeof read>} Palette */
/** @typedef {[red: number, green: number, blue: number]} Rgb */

export const LEVELS = 32; // of the ramp
const TINT = 0.3; // of a cell that is too small to show otherwise that the pod does not fit
const DIMMED = 0.38; // how much of its colour a cell keeps that does not count

const forced = matchMedia("(forced-colors: active)");
// What a token is where the system forces its few colours on the page, which a canvas does not follow by itself.
/** @type {Record<string, string>} */
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

/** @type {Palette | null} */
let known = null;
forced.addEventListener("change", () => dispatchEvent(new CustomEvent("podstep:theme", { detail: theme() })));
addEventListener("podstep:theme", () => {
  known = null;
});

/**
 * A token as "#rrggbb", or the system's colour for it.
 *
 * @param {string} name
 */
function token(name) {
  if (!forced.matches || !SYSTEM[name]) return authored(name);
  const pen = penOf(document.createElement("canvas"));
  pen.fillStyle = SYSTEM[name];
  return pen.fillStyle;
}

/**
 * @param {Rgb} a
 * @param {Rgb} b
 * @param {number} t the share of `b`
 * @returns {Rgb}
 */
const mix = (a, b, t) => {
  const at = (/** @type {0 | 1 | 2} */ i) => Math.round(a[i] + (b[i] - a[i]) * t);
  return [at(0), at(1), at(2)];
};
/**
 * @param {string} name
 * @returns {Rgb}
 */
const rgb = (name) => {
  const hex = token(name).slice(1);
  const at = (/** @type {number} */ i) => parseInt(hex.slice(i, i + 2), 16);
  return [at(0), at(2), at(4)];
};
/** @param {Rgb} colour */
const css = (colour) => `rgb(${colour.join(" ")})`;

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

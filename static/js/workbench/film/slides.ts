// The slides of a deck, as the server writes it, drawn on a canvas one by one.

import { $, $$, penOf } from "../../lib/dom.ts";
import { tokensOf } from "../../lib/theme.ts";
import { HEIGHT, WIDTH } from "./format.ts";

const COLOURS = ["--bg", "--ink", "--dim", "--accent-text"]; // as templates/deck.html has them
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MARGIN = 32;
const STAGE = { x: 64, y: 52, width: WIDTH - 128, height: 504 }; // as wide for its height as the server draws it
const CAPTION = { y: STAGE.y + STAGE.height + 8, height: HEIGHT - STAGE.y - STAGE.height - 20 };
const SIZES = [24, 20, 17]; // of the caption's letters: the first in which it has room
const LEADING = 1.3;
const STYLE = /<style>[^]*?<\/style>/; // of the deck: our policy would report it, though it is only parsed here

export type Slide = { title: string; where: string; caption: string[]; svg: SVGElement; theme: string };
export type Wanted = { from: number; to: number; theme: string; signal: AbortSignal };

/** Fetch the steps `from` … `to` of a source as slides in a theme. Rejects with an Error in words. */
export async function slidesOf(source: string, { from, to, theme, signal }: Wanted): Promise<Slide[]> {
  const query = new URLSearchParams({ source, from: String(from), to: String(to), theme });
  const answer = await fetch(`/deck?${query}`, { signal });
  const text = (await answer.text()).replace(STYLE, "");
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!answer.ok)
    throw new Error($("[data-advice]", page)?.textContent.trim() || `The server answered ${answer.status}.`);
  return $$("section", page).map((section) => ({
    title: $("h1", section).textContent,
    where: $("h2", section).textContent,
    caption: $$(".caption p", section).map((sentence) => sentence.textContent),
    svg: $("svg", section) as Element as SVGElement,
    theme,
  }));
}

/** Draw a slide: its title and step, the stage, and what happened below. */
export async function drawSlide(canvas: HTMLCanvasElement, slide: Slide) {
  const stage = await pictureOf(slide.svg);
  const [background, ink, dim, accent] = tokensOf(slide.theme, COLOURS);
  const pen = penOf(canvas);
  pen.fillStyle = background;
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  pen.textBaseline = "alphabetic";
  pen.font = `600 24px ${FONT}`;
  const where = fitting(pen, slide.where, (WIDTH - 3 * MARGIN) * 0.65);
  pen.textAlign = "end";
  line(pen, where, WIDTH - MARGIN, 40, accent);
  pen.textAlign = "start";
  line(pen, fitting(pen, slide.title, WIDTH - 3 * MARGIN - pen.measureText(where).width), MARGIN, 40, ink);
  pen.drawImage(stage, STAGE.x, STAGE.y, STAGE.width, STAGE.height);
  caption(pen, slide.caption, ink, dim);
}

/** An SVG as an image. It has the fonts of the system only, and none by the name that the server gives them. */
async function pictureOf(svg: SVGElement) {
  for (const text of svg.querySelectorAll("[font-family]")) text.setAttribute("font-family", FONT);
  const blob = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  const address = URL.createObjectURL(blob);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** The sentences, as large as they have room; the last one, which is the outcome, is never left out. */
function caption(pen: CanvasRenderingContext2D, sentences: string[], ink: string, dim: string) {
  let size = 0;
  let room = 0;
  let lines: { text: string; last: boolean }[] = [];
  for (size of SIZES) {
    pen.font = `${size}px ${FONT}`;
    room = Math.floor(CAPTION.height / (size * LEADING));
    lines = sentences.flatMap((sentence, i) =>
      wrapped(pen, sentence).map((text) => ({ text, last: i === sentences.length - 1 })),
    );
    if (lines.length <= room) break;
  }
  if (lines.length > room) {
    const ends = lines.filter(({ last }) => last).slice(0, room);
    const before = lines.filter(({ last }) => !last).slice(0, room - ends.length);
    const cut = before.at(-1);
    if (cut) cut.text = fitting(pen, `${cut.text} …`, WIDTH - 2 * MARGIN);
    lines = [...before, ...ends];
  }
  for (const [i, { text, last }] of lines.entries())
    line(pen, text, MARGIN, CAPTION.y + (i + 1) * size * LEADING - size * 0.3, last ? ink : dim);
}

function line(pen: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string) {
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

/** The lines of a sentence; a word that is wider than a line is cut. */
function wrapped(pen: CanvasRenderingContext2D, sentence: string) {
  const width = WIDTH - 2 * MARGIN;
  const lines: string[] = [];
  for (const word of sentence.split(/\s+/)) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(fitting(pen, word, width));
  }
  return lines;
}

/** A text, or as much of its beginning as is no wider than `width`. */
function fitting(pen: CanvasRenderingContext2D, text: string, width: number) {
  if (pen.measureText(text).width <= width) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const half = Math.ceil((least + most) / 2);
    if (pen.measureText(`${text.slice(0, half)}…`).width <= width) least = half;
    else most = half - 1;
  }
  return `${text.slice(0, least).trimEnd()}…`;
}

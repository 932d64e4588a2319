// A lesson in a file: its stops one after the other, verdicts and hints from a record, and stages that are recordings.

import "../base.js";
import { begin, type Answer, type Player } from "../lesson/asked.ts";
import type { Verdict } from "../lesson/api.ts";
import { play } from "../lesson/play.tsx";
import { stages } from "../lesson/stage.ts";
import { gettext } from "../lesson/words.ts";
import { $ } from "../lib/dom.ts";
import type { Packed } from "../lib/packed.ts";
import { live } from "./live.tsx";

interface Marked {
  form: string;
  tolerance: number;
  verdicts: [answer: Answer, verdict: Verdict][];
  hints: string[];
}

interface Lesson {
  /** By key: the content of the page, and what the player reads. */
  stops: Record<string, { main: string; player: Player }>;
  done: string;
  answers: Record<string, Marked | null>;
  /** By address: the page of a frame, and the place of the recording that it holds. */
  stages: Record<string, [page: string, recording: number]>;
  address: string; // of the lesson on a server
}

const DONE = "done";
const LISTS = new Set(["nodes", "pods"]);
const NO_ENGINE = gettext("This file has no engine that plays your answer. Open the lesson live to check it.");
const OTHER = gettext("That is not it. Why not is not in this file: open the lesson live, and the engine says so.");

const held = (name: string) => document.querySelector<HTMLTemplateElement>(`template[data-${name}]`);
const main = $("[data-player]");
const empty = "<template data-here></template>";
let shown: { key: string; end: () => void } | null = null;

let [lesson, sheet]: [Lesson, string] = [{ stops: {}, done: "", answers: {}, stages: {}, address: "" }, ""];
const keys = () => Object.keys(lesson.stops);

/** The whole page of a frame: with its style sheet, and what its workbench holds. */
function pageOf(address: string) {
  const [page, place] = lesson.stages[address] as [string, number];
  const recording = document.querySelectorAll("template[data-recording]")[place]?.innerHTML ?? "";
  const template = (name: string, from: string) =>
    held(from) ? `<template data-${name}>${held(from)?.innerHTML}</template>` : "";
  return page
    .replace("<style></style>", () => `<style>${sheet}</style>`)
    .replace(empty, () => template("script", "stage-script") + template("charts", "charts") + recording);
}

stages.show = (frame, address) => {
  frame.srcdoc = pageOf(address);
};

/** An answer as the engine reads it (playground/courseware/answers.py), comparable as text. */
function read(form: string, answer: Answer): string {
  const bare = (name: string) => name.trim().replace(/^default\//, "");
  if (form === "number") return String(Number(String(answer).replaceAll(",", "")));
  if (Array.isArray(answer)) {
    const names = answer.map(bare).filter(Boolean);
    return JSON.stringify(LISTS.has(form) ? [...new Set(names)].sort() : names);
  }
  return JSON.stringify(answer);
}

function verdictOn({ form, tolerance, verdicts }: Marked, answer: Answer): Verdict | null {
  if (form === "edit" || form === "claim") return null;
  const asked = read(form, answer);
  const near = ([one]: [Answer, Verdict]) => Math.abs(Number(read(form, one)) - Number(asked)) <= tolerance;
  const known = verdicts.find(([one]) => read(form, one) === asked) ?? (form === "number" ? verdicts.find(near) : null);
  if (known) return known[1];
  return { right: false, sentence: OTHER, why: OTHER, misconception: "", answer: null, edits: null, par: null };
}

/** What a server answers to the player's calls: from the record. */
async function answered(address: string, body: { answer?: Answer; number?: number }): Promise<[number, unknown]> {
  const [, kind] = /^\/api\/lessons\/[^/]+\/[^/]+\/(answer|hint)\b/.exec(address) ?? [];
  const marked = shown && lesson.answers[shown.key];
  if (marked && kind === "hint") return [200, { text: marked.hints[Number(body.number) - 1] ?? "" }];
  const verdict = marked && kind === "answer" ? verdictOn(marked, body.answer as Answer) : null;
  return verdict ? [200, verdict] : [503, { errors: [{ message: NO_ENGINE }] }];
}

window.fetch = async (address, asked) => {
  if (/^\/api\/scenarios\/[^/]+\/bundle$/.test(String(address))) return new Response((await bundle()).text);
  const [status, body] = await answered(String(address), JSON.parse(String(asked?.body ?? "{}")));
  return new Response(JSON.stringify(body), { status });
};

/** The scenario of the stop that is shown. */
async function bundle(): Promise<Packed> {
  const { stage } = (lesson.stops[shown?.key ?? ""] ?? lesson.stops[keys().at(-1) as string])!.player;
  const place = lesson.stages[stage.open]?.[1] ?? 0;
  const recording = document.querySelectorAll<HTMLTemplateElement>("template[data-recording]")[place];
  return JSON.parse(await window.podstepHeld?.text(recording?.content.querySelector("template[data-bundle]") ?? null));
}

const openLive = async () =>
  live(await bundle(), `${lesson.address}${lesson.stops[shown?.key ?? ""] ? `${shown?.key}/` : ""}`);

function show(key: string) {
  shown?.end();
  const stop = lesson.stops[key];
  main.innerHTML = stop?.main ?? lesson.done;
  shown = { key, end: () => {} };
  const of = $(".player-lesson").textContent;
  document.title = `${stop ? `${$("[data-heading]").textContent}: ${of}` : of} · podstep`;
  if (!stop) return;
  begin(stop.player);
  stages.show($("iframe[data-frame]") as HTMLIFrameElement, stop.player.stage.open);
  shown.end = play();
}

/** Turn to a stop, or to the end; a document without an address of its own keeps none. */
function go(key: string) {
  try {
    history.pushState(null, "", `#${key}/`);
  } catch {
    /* as a frame of srcdoc */
  }
  show(key);
  $("[data-heading]").focus();
}

const named = () => {
  const key = location.hash.replace(/^#|\/$/g, "");
  return keys().includes(key) || key === DONE ? key : (keys()[0] as string);
};

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest?.("a[href]");
  const href = link?.getAttribute("href") ?? "";
  if (!/^[#/]/.test(href) || link?.classList.contains("skip")) return;
  event.preventDefault();
  if (href.startsWith("/")) void openLive();
  else go(href.replace(/^#|\/$/g, ""));
});
$("[data-live]").addEventListener("click", () => void openLive());
addEventListener("popstate", () => show(named()));

async function start() {
  const text = (name: string) => window.podstepHeld?.text(held(name));
  [lesson, sheet] = [JSON.parse(await text("lesson")), await text("stage-sheet")];
  show(named());
}

void start();

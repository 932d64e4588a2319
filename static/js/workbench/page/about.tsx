// What a scenario is about: the comment at the head of its text, which in an example is the lesson. Its first line is
// always visible; all of it is read above the stage while one steps, with its steps as links.

import { render, type ComponentChild } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { indexOf } from "../deck/goto.tsx";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

const KEY = "podstep.about"; // whether it was open when it was last here
const ITEM = /^(\s*)(\S+(?: \S+){0,2}) {2,}(\S.*)$/; // a term, a gap, and its meaning
const PIECE = /`([^`]+)`|(\b[Ss]teps? )(\d+\.\d+)/g;

/** A paragraph, or lines in columns. */
type Block = { text: string; items?: undefined } | { items: [term: string, meaning: string][]; text?: undefined };

function blocks(text: string): Block[] {
  const out: Block[] = [];
  for (const chunk of text.split(/\n\s*\n/)) {
    let last: Block | null = null;
    for (const line of chunk.split("\n")) {
      const [, , term, meaning] = ITEM.exec(line) ?? [];
      if (term && meaning) {
        if (!last?.items) out.push((last = { items: [] }));
        last.items.push([term, meaning]);
      } else if (last?.items && /^\s{2,}/.test(line)) {
        const item = last.items.at(-1);
        if (item) item[1] += ` ${line.trim()}`;
      } else if (last?.text !== undefined) last.text += ` ${line.trim()}`;
      else if (line.trim()) out.push((last = { text: line.trim() }));
    }
  }
  return out;
}

/** Show it in its place, also what it has become where the scenario is opened again. */
export function about(host: HTMLElement, view: View, text: string) {
  host.replaceChildren();
  const draw = (said: string) => {
    host.hidden = !said;
    render(<About host={host} view={view} text={said} />, host);
  };
  draw(text);
  follow(view.store.scenario, ({ about: said }) => {
    if (said !== undefined) draw(said);
  });
}

type AboutProps = { host: HTMLElement; view: View; text: string };

function About({ host, view, text }: AboutProps) {
  const [open, setOpen] = useState(kept);
  useLayoutEffect(() => void host.classList.toggle("open", open), [host, open]);
  const content = blocks(text);
  const line = content
    .flatMap(({ text: one, items }) => one ?? items.map((item) => item.join(": ")))
    .join(" ")
    .replaceAll("`", "");
  const toggle = () => {
    setOpen(!open);
    try {
      localStorage.setItem(KEY, open ? "" : "open");
    } catch {
      /* for this visit only */
    }
  };
  return (
    <>
      <div class="about-lead">
        <Icon name="help" />
        <span>{open ? "About this scenario" : line}</span>
        <span class="grow" />
        <button type="button" class="btn quiet small" aria-controls="about-all" aria-expanded={open} onClick={toggle}>
          <span>{open ? "Read less" : "Read all"}</span>
        </button>
      </div>
      <div
        class="about-all"
        id="about-all"
        tabIndex={0}
        role="region"
        aria-label="About this scenario, whole"
        hidden={!open}
      >
        {content.map(({ text: one, items }) =>
          items ? (
            <dl>
              {items.flatMap(([term, meaning]) => [<dt>{pieces(view, term)}</dt>, <dd>{pieces(view, meaning)}</dd>])}
            </dl>
          ) : (
            <p>{pieces(view, one)}</p>
          ),
        )}
      </div>
    </>
  );
}

/** Code as code, and steps as links to them. */
function pieces(view: View, text: string) {
  const out: ComponentChild[] = [];
  let from = 0;
  for (const match of text.matchAll(PIECE)) {
    out.push(text.slice(from, match.index));
    const [whole, code, word, step] = match;
    out.push(
      code ? (
        <code>{code}</code>
      ) : (
        <Inline act={() => void goto(view, step)} title="go there">
          {`${word}${step}`}
        </Inline>
      ),
    );
    from = match.index + whole.length;
  }
  return [...out, text.slice(from)];
}

async function goto(view: View, step: string) {
  const { playback } = view;
  if (!playback.nodes) return;
  view.actions.hold();
  try {
    const index = await indexOf(playback, step);
    if (index === null) playback.later({ step, place: undefined });
    else if (index <= playback.last) playback.goto(index);
  } catch (error) {
    playback.failed(error);
  }
}

function kept() {
  try {
    return localStorage.getItem(KEY) === "open";
  } catch {
    return false;
  }
}

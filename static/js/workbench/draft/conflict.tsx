// What two tabs changed in the same place: both versions beside each other, and what becomes of them.

import { openDialog } from "../../kit/dialog.tsx";
import { Button } from "../../kit/button.tsx";
import { count, plural } from "../../lib/quantity.ts";
import { hunks, type Conflict, type Part } from "../../lib/merge.ts";

export type Choice = "" | "mine" | "theirs" | "both" | "branch";
type Line = [sign: keyof typeof LOOK, text: string];

const PLACES = 20; // that are shown
const LINES = 60; // of one side of a place
const AROUND = 2; // lines above and below a place
const LOOK = { " ": ["", " "], "-": ["goes", "−"], "+": ["comes", "+"], "…": ["dim", "…"] } as const;

const signed = (sign: Line[0], lines: string[]) => lines.map((text): Line => [sign, text]);

/** A side of a place: what it has otherwise than both began with. */
function changes(base: string[], side: string[]) {
  const out: Line[] = [];
  let at = 0;
  for (const [from, to, first, last] of hunks(base, side)) {
    out.push(...signed(" ", base.slice(at, from)), ...signed("-", base.slice(from, to)));
    out.push(...signed("+", side.slice(first, last)));
    at = to;
  }
  return [...out, ...signed(" ", base.slice(at))];
}

function Version({ heading, lines, label }: { heading: string; lines: Line[]; label: string }) {
  const rest: Line[] = lines.length > LINES ? [["…", `${count(lines.length - LINES)} more lines`]] : [];
  return (
    <figure>
      <figcaption>
        <b>{heading}</b>
        {lines.some(([sign]) => sign !== " ") ? null : <span class="dim"> as it was</span>}
      </figcaption>
      <pre class="diff" tabIndex={0} aria-label={label}>
        {[...lines.slice(0, LINES), ...rest].map(([sign, text]) => (
          <span class={LOOK[sign][0]}>{`${LOOK[sign][1]} ${text}\n`}</span>
        ))}
      </pre>
    </figure>
  );
}

function Place({ part, above, below }: { part: Conflict; above?: Part | undefined; below?: Part | undefined }) {
  const before = signed(" ", (above?.lines ?? []).slice(-AROUND));
  const after = signed(" ", (below?.lines ?? []).slice(0, AROUND));
  const side = (lines: string[]) => [...before, ...changes(part.base, lines), ...after];
  const where = `from line ${count(part.line)}`;
  return (
    <section class="conflict-place">
      <h3 class="dim">{`Line ${count(part.line)}`}</h3>
      <div class="conflict-sides">
        <Version heading="Yours, in this tab" lines={side(part.mine)} label={`Yours, ${where}`} />
        <Version heading="In the other tab, saved" lines={side(part.theirs)} label={`The other tab’s, ${where}`} />
      </div>
    </section>
  );
}

/**
 * Ask what becomes of an edit that overlaps another tab's: resolves with "mine", "theirs", "both", "branch", or "" if
 * the decision is put off. `wrong`: the merged text is invalid.
 */
export function conflict({ parts, wrong = "" }: { parts: Part[]; wrong?: string }): Promise<Choice> {
  const found = parts.flatMap((part, at) => ("mine" in part ? [{ part, at }] : []));
  const many = found.length > 1 ? `${count(found.length)} places` : "the same place";
  const rest = found.length < parts.length && !wrong ? " Changes that do not overlap are kept." : "";
  const said = wrong
    ? `The changes are in different lines, but the merged text is invalid: ${wrong} Nothing has been saved or lost.`
    : `This edit conflicts with one saved by another tab in ${many}. Your edit is not saved yet, and nothing is `
      + `lost.${rest}`;
  const offered: [value: Choice, icon: string, text: string][] = [
    ["branch", "fork", "Save mine as a branch"],
    ["mine", "check", wrong ? "Replace theirs with mine" : "Keep mine"],
    ["theirs", "undo", "Take theirs"],
  ];
  if (!wrong && found.every(({ part }) => !part.base.length)) offered.push(["both", "copy", "Keep both"]);
  return new Promise((resolve) => {
    const box = openDialog("Changed in another tab too", (close) => (
      <>
        <p>{said}</p>
        <div class="conflict-places">
          {found.slice(0, PLACES).map(({ part, at }) => (
            <Place part={part} above={parts[at - 1]} below={parts[at + 1]} />
          ))}
          {found.length > PLACES ? (
            <p class="dim fine">{`and ${plural(found.length - PLACES, "more place")}`}</p>
          ) : null}
        </div>
        <div class="edit-bar conflict-bar">
          {offered.map(([choice, icon, text], at) => (
            <Button
              look={at ? "" : "primary"}
              icon={icon}
              data-choice={choice}
              act={() => {
                box.returnValue = choice;
                close();
              }}
            >
              {text}
            </Button>
          ))}
          <span class="grow" />
          <Button look="quiet" act={close}>
            Decide later
          </Button>
        </div>
      </>
    ));
    box.classList.add("conflict");
    box.addEventListener("close", () => resolve(box.returnValue as Choice));
    box.querySelector<HTMLElement>("[data-choice]")?.focus();
  });
}

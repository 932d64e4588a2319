// The dialog of an edit: an object as YAML as it is there, common changes by one button, and when the change lands.

import { useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Hosted } from "../../kit/hosted.tsx";
import { ProblemList } from "../../kit/problems.tsx";
import { Select } from "../../kit/select.tsx";
import { signal } from "../../kit/signals.ts";
import { Editor } from "../../editor/editor.ts";
import type { Problem } from "../../lib/protocol.js";
import { clock, count, plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import type { Edit } from "./edit.ts";
import type { Playback } from "../playback/playback.ts";
import { capital } from "../playback/terms.ts";
import { CommonChanges } from "./common.tsx";
import { Landing, LandingFields, type Lands } from "./landing.tsx";
import { TEMPLATES } from "./templates.ts";

type Action = "create" | "patch" | "delete" | "edit";

type Template = keyof typeof TEMPLATES;
type EditSummary = { words: string; cost: string };

type Edited = {
  yaml: string;
  /** The object as `Node n1`; none is created. */
  target?: string;
  /** The common changes that it knows. */
  revisions?: string[];
  /** Where it stands so, if that is known. */
  step?: string;
  /** It may be changed from the start. */
  start?: boolean;
  /** The event that is edited. */
  id?: string;
  /** The text that the visitor saw. */
  based?: string | undefined;
};

const SETTLED = new Set(["Policy", "SimulationSettings"]); // at most one of each; changing it restarts the scheduler
const CORDONED = /^\s+"?unschedulable"?:\s*true/m;
const KINDS = Object.keys(TEMPLATES) as Template[];
const NOTHING: { text: string; errors: Problem[] } = { text: "", errors: [] };

export function editPanel(edit: Edit, heading: string, edited: Edited) {
  const { yaml, target = "", revisions = [], start = false, id = "", based } = edited;
  const { view } = edit;
  const { playback } = view;
  const index = playback.wantedCycle;
  const kind = target.split(" ")[0] ?? "";
  const known = SETTLED.has(kind) ? kind : kind.replace(/(?!^)([A-Z])/g, " $1").toLowerCase();
  const wrong = signal(NOTHING);
  const cordoned = signal(CORDONED.test(yaml));
  const landing = id ? null : new Landing(playback, index, { settled: SETTLED.has(kind), start });
  const changed = () => {
    wrong.value = NOTHING;
    cordoned.value = CORDONED.test(editor.value);
  };
  const editor = new Editor({
    label: `${target || "Object"} as YAML`,
    context: id ? "operation" : "",
    beside: () => edit.options.text(),
    onInput: changed,
  });
  editor.value = yaml;

  const run = async (action: Action = id ? "edit" : target ? "patch" : "create") => {
    const lands = landing ? landing.read() : {};
    if (box.ariaBusy || !lands) return;
    box.ariaBusy = "true";
    try {
      const object = action === "delete" ? {} : { object: editor.value };
      const about = target ? { target, base: yaml } : {};
      const { start: first, ...when } = lands;
      const wish = async () => {
        if (first) return { ...about, ...object };
        if (id) return { action, id, ...object };
        return { action, step: edited.step || (await playback.address(index)), ...when, ...about, ...object };
      };
      const answer = await edit.operate(await wish(), first ? "bundle.amend" : "bundle.operate", based);
      box.close();
      edit.notify(summary({ words: answer.words ?? "", cost: answer.cost ?? "" }, action, lands, playback, index));
    } catch (error) {
      const { message, body } = refusalOf(error);
      const errors = body?.errors ?? [{ message }];
      editor.mark(errors);
      wrong.value = { text: `Nothing was changed: ${plural(errors.length, "error")}.`, errors };
      if (errors[0]?.line) editor.jump(errors[0].line);
    } finally {
      box.ariaBusy = null;
    }
  };

  const Wrong = () => (
    <div class="edit-problems" role="alert">
      {wrong.value.text ? <p class="stale-text">{wrong.value.text}</p> : null}
      {wrong.value.errors.length ? <ProblemList problems={wrong.value.errors} kind="error" editor={editor} /> : null}
    </div>
  );
  const Common = () =>
    revisions.length ? (
      <CommonChanges
        view={view}
        revisions={revisions}
        editor={editor}
        node={kind === "Node" ? playback.nodeIndex.get(target.slice(5)) : undefined}
        cordoned={cordoned.value}
        onChanged={changed}
        onRefused={(error) => {
          const { message, body: { errors } = {} } = refusalOf(error);
          wrong.value = { text: errors ? "" : message, errors: errors ?? [] };
        }}
      />
    ) : target || id ? null : (
      <Template editor={editor} />
    );
  const box = openDialog(heading, (close) => (
    <>
      {landing ? <LandingFields landing={landing} /> : null}
      <Common />
      <Hosted element={editor.element} />
      <Wrong />
      <div class="edit-bar">
        <Button look="primary" icon="check" act={() => run()}>
          {id ? "Edit the event" : "Apply"}
        </Button>
        <Button look="quiet" act={close}>
          Cancel
        </Button>
        <kbd>Ctrl Enter</kbd>
        <span class="grow" />
        {target ? (
          <Button look="danger" icon="cross" act={() => run("delete")}>
            {`Delete this ${known}`}
          </Button>
        ) : null}
      </div>
    </>
  ));
  box.classList.add("edit-panel");
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  });
  (box.querySelector<HTMLElement>("[data-quick]") ?? editor).focus();
  void editor.enrich();
}

/** A choice of what a new object begins with. */
function Template({ editor }: { editor: Editor }) {
  const [kind, choose] = useState(() => KINDS.find((one) => TEMPLATES[one] === editor.value) ?? "Node");
  return (
    <label class="edit-common">
      <span class="dim">Begin with</span>
      <Select
        data-quick
        aria-label="Begin with a template"
        options={KINDS.map((one) => [one, one])}
        value={kind}
        onChange={(one) => {
          choose(one as Template);
          editor.value = TEMPLATES[one as Template];
        }}
      />
    </label>
  );
}

/** What is said of a change: when it takes effect, what it was, from which cycle on it shows, and what it cost. */
function summary(
  { words, cost }: EditSummary,
  action: Action,
  { start, seconds, during }: Lands,
  playback: Playback,
  index: number,
) {
  if (action === "edit") return `${words}.${cost}`;
  if (start) return `${capital(words)}.${cost}`;
  const { complete, cycles, end, marks } = playback;
  const first = seconds ? marks.firstAt(Number(seconds)) : !complete || cycles > index ? index + 1 : 0;
  const when = seconds
    ? `At ${clock(Number(seconds))}`
    : during
      ? `Inside cycle ${count(index + 1)}`
      : index
        ? `After cycle ${count(index)}`
        : "Before the first cycle";
  const shows = first
    ? ` It takes effect from cycle ${count(first)}.`
    : seconds && !(complete && end)
      ? ""
      : ` There is no later cycle${end ? ": the End shows it" : " that could show it"}.`;
  return `${when}: ${words}.${shows}${cost}`;
}

// The panel of breakpoints: the selection is offered first, any other condition can be put together, and those that are
// set are listed.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";
import { $, copy, toast } from "../../lib/dom.ts";
import { plural } from "../../lib/quantity.ts";
import { FULL, type Breakpoints } from "./breakpoints.ts";
import { KINDS, condition, named, parse, words } from "./conditions.ts";
import type { Stops } from "./stops.tsx";
import { reads } from "../playback/store.ts";
import type { View } from "../view/view.ts";

/** What a condition is about, by index; a predicate by its name. */
type About = { pod?: number; node?: number };
/** A row of what a breakpoint can be about. */
type Kind = { title: string; about?: string; within?: string; needs?: boolean; marked?: unknown };
type Parts = { breakpoints: Breakpoints; stops: Stops; href: () => string };
type PanelProps = Parts & { view: View; close: () => void };

const ROWS: Record<string, Kind> = KINDS;
const ALWAYS = ["preemption", "unschedulable", "stale", "group", "operation"];
const SUGGESTED = 300; // names in a list of suggestions

export class Points {
  constructor(
    private readonly view: View,
    private readonly parts: Parts,
  ) {
    view.actions.breakpoint.on((condition) => this.#toggle(condition));
  }

  #toggle(condition: string) {
    const { breakpoints } = this.parts;
    if (!breakpoints.toggle(condition)) toast(FULL, { name: "warn" });
    else
      toast(`${breakpoints.has(condition) ? "Breakpoint" : "Breakpoint removed"}: ${words(condition)}.`, {
        name: "break",
      });
  }

  open(about: About = {}) {
    const { view, parts } = this;
    if (!view.playback.nodes) return;
    view.actions.hold();
    const box = openDialog("Breakpoints", (close) => <Panel {...{ view, ...parts, about, close }} />);
    box.classList.add("points-dialog");
    $(".point-offers button", box)?.focus();
  }
}

function Panel({ about, ...props }: PanelProps & { about: About }) {
  const { view, breakpoints } = props;
  reads(view.store.breakpoints);
  const offers = useRef<HTMLDivElement>(null);
  // What was pressed may be gone.
  useLayoutEffect(() => {
    const box = offers.current?.closest("dialog");
    if (box && document.activeElement === document.body) $("[data-point]", box)?.focus();
  });
  const add = (text: string) => {
    const there = breakpoints.add(text);
    if (!there) toast(FULL, { name: "warn" });
    return there;
  };
  return (
    <>
      <div ref={offers} class="point-offers" role="group" aria-label="Stop when">
        <h3>Stop when</h3>
        <div class="chips">
          {offersOf(view, about)
            .filter((text) => !breakpoints.has(text))
            .map((text) => (
              <Button key={text} look="small" icon="plus" data-point={`+${text}`} act={() => add(text)}>
                {words(text)}
              </Button>
            ))}
        </div>
      </div>
      <Composed view={view} add={add} />
      <div class="point-list">
        {breakpoints.list.length ? (
          <Listed {...props} />
        ) : (
          <p class="dim">No breakpoint is set. Play and “run to the next break” stop where a condition holds.</p>
        )}
      </div>
    </>
  );
}

/** What has the focus or is selected, then this cycle's own, then what needs no name. */
function offersOf(view: View, { pod = view.pod, node = view.node }: About) {
  const { playback, facts } = view;
  const { index, marks, nodes, pods, current: light } = playback;
  const found: string[] = [];
  if (pod >= 0) found.push(condition("pod", pods.keys[pod]), condition("unschedulable", pods.keys[pod]));
  if (node >= 0) {
    const name = nodes.names[node];
    const { verdict } = facts;
    found.push(condition("node", name));
    if (verdict?.reached(node) && !verdict.fits(node))
      found.push(condition("predicate", verdict.order[verdict.first[node]], name));
    found.push(condition("predicate", "", name));
  }
  if (light) {
    if (pod < 0 && facts.pod >= 0) found.push(condition("pod", pods.keys[light.pod]));
    const stopped = light.ladder.find(([, into, out]) => into !== out);
    if (stopped) found.push(condition("predicate", stopped[0]));
    if (index) found.push(condition("cycle", String(index)));
  }
  const there: Record<string, boolean> = {
    stale: Boolean(marks.cached),
    group: marks.groups.size > 0,
    operation: marks.operations > 0,
  };
  return [...new Set([...found, ...ALWAYS.filter((kind) => there[kind] ?? true)])];
}

/** The form that puts a condition together. */
function Composed({ view, add }: { view: View; add: (text: string) => boolean }) {
  const [kind, setKind] = useState(Object.keys(ROWS)[0] ?? "");
  const [wrong, setWrong] = useState("");
  const about = useRef<HTMLInputElement>(null);
  const within = useRef<HTMLInputElement>(null);
  const { playback } = view;
  const row = ROWS[kind] ?? { title: "" };
  const submit = () => {
    const name = about.current?.value.trim() ?? "";
    // Without a namespace it is in "default", as for kubectl.
    const pod = row.about === "pod" && name && !name.includes("/") ? `default/${name}` : name;
    const text = condition(kind, row.about ? pod : "", row.within ? within.current?.value.trim() : "");
    const missing = row.about === "cycle" ? "Which cycle? A number from 1." : `Which ${row.about}?`;
    const refused = parse(text) ? unknown(view, row, name, pod) : missing;
    setWrong(refused);
    if (refused || !add(text)) return;
    for (const field of [about.current, within.current]) if (field) field.value = "";
  };
  const field = { class: "field", autocomplete: "off", spellcheck: false } as const;
  return (
    <form
      class="point-form"
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <select
        class="field"
        aria-label="Stop when"
        value={kind}
        onChange={({ currentTarget }) => setKind(currentTarget.value)}
      >
        {Object.entries(ROWS).map(([value, { title }]) => (
          <option value={value}>{title}</option>
        ))}
      </select>
      <input
        {...field}
        ref={about}
        list="point-names"
        hidden={!row.about}
        aria-label={row.about ?? ""}
        placeholder={row.about ? `${row.about}${row.needs ? "" : ", or any"}` : ""}
      />
      <input
        {...field}
        ref={within}
        list="point-places"
        hidden={!row.within}
        aria-label={row.within ?? ""}
        placeholder={row.within ? `${row.within}, or any` : ""}
      />
      <button class="btn primary" aria-label="Set this breakpoint">
        <Icon name="plus" />
        Set
      </button>
      <Suggested id="point-names" names={namesOf(view, row.about)} />
      <Suggested id="point-places" names={row.within === "node" ? playback.nodes.names : phasesOf(view, row.within)} />
      <p class="stale-text" role="alert">
        {wrong}
      </p>
    </form>
  );
}

const Suggested = ({ id, names }: { id: string; names: string[] }) => (
  <datalist id={id}>
    {names.slice(0, SUGGESTED).map((name) => (
      <option value={name} />
    ))}
  </datalist>
);

/** Why a condition with a name can be about nothing, "" where it can. */
function unknown({ playback }: View, { about }: Kind, name: string, pod: string) {
  if (about === "node" && name && !playback.nodeIndex.has(name)) return `There is no node ${name}.`;
  if (about === "pod" && name && !playback.timed && !playback.podIndex.has(pod)) return `There is no pod ${pod}.`;
  return "";
}

/** The changes of PodGroups: which, and to what phase. */
const changesOf = ({ playback }: View) => [...playback.marks.groups.values()].flat();

function namesOf(view: View, about: string | undefined): string[] {
  const { nodes, pods, parts, policy } = view.playback;
  if (about === "predicate") return named(parts?.predicates?.order ?? policy.predicates);
  if (about === "node") return nodes.names;
  if (about === "pod") return pods.keys;
  return about === "group" ? [...new Set(changesOf(view).map(([, group]) => group))] : [];
}

const phasesOf = (view: View, within: string | undefined) =>
  within ? [...new Set(["rejected", "timeout", ...changesOf(view).flatMap(([, , phase]) => phase || [])])] : [];

/** The breakpoints that are set. */
function Listed({ view, breakpoints, stops, href, close }: PanelProps) {
  const run = (direction: number) => {
    close();
    void stops.run("break", direction);
  };
  const share = async () => {
    const { link } = breakpoints;
    const address = location.origin + href();
    const copied = await copy(link ? `${address}${address.includes("?") ? "&" : "?"}${link}` : address);
    toast(copied ? "The link is copied." : "The link could not be copied.");
  };
  const standing = (text: string) => {
    const known = breakpoints.count(text);
    if (known) return plural(known, "cycle");
    if (!ROWS[parse(text)?.kind ?? ""]?.marked) return "to be searched";
    return view.seen.last < view.playback.cycles ? "nowhere so far" : "nowhere";
  };
  return (
    <>
      <h3>Set</h3>
      <ul>
        {breakpoints.list.map(({ text, on }) => (
          <li key={text} class={on ? undefined : "off"}>
            <label>
              <input
                type="checkbox"
                checked={on}
                data-point={`=${text}`}
                onChange={({ currentTarget }) => breakpoints.enable(text, currentTarget.checked)}
              />
              <span>{words(text)}</span>
            </label>
            <small class="dim num">{standing(text)}</small>
            <Button
              look="quiet square small"
              icon="close"
              label={`Remove: ${words(text)}`}
              data-point={`-${text}`}
              act={() => breakpoints.remove(text)}
            />
          </li>
        ))}
      </ul>
      <div class="point-run">
        <Button icon="left" title="Shift r" act={() => run(-1)}>
          Back to the previous break
        </Button>
        <Button look="primary" title="r" act={() => run(1)}>
          Run to the next break
          <Icon name="right" />
        </Button>
        <span class="grow" />
        <Button look="quiet" icon="copy" act={share}>
          Copy a link with them
        </Button>
        <Button look="quiet danger" act={() => breakpoints.clear()}>
          Remove all
        </Button>
      </div>
    </>
  );
}

// Are these two equivalent? Two pods, and the field in which they differ.

import { useRef } from "preact/hooks";
import { Icon } from "../../kit/icon.tsx";
import { Table } from "../../kit/table.tsx";
import { announce } from "../../lib/dom.ts";
import { decoded } from "../../lib/encoded.ts";
import type { Equivalent } from "../../lib/protocol.js";
import { short } from "../../lib/quantity.ts";
import { useAnswer, useInTab, useRedraw } from "../view/asking.tsx";
import { ABSENT } from "../playback/cluster.ts";
import type { View } from "../view/view.ts";

const OFFERED = 40; // names that are offered while one is typed
const FIELDS = [
  ["First pod", "this pod"],
  ["Second pod", "and this pod"],
] as const;

/** A name without a namespace is in the default one. */
function whole(typed: string) {
  const text = typed.trim();
  return text && !text.includes("/") ? `default/${text}` : text;
}

export function CacheEqual({ view }: { view: View }) {
  useInTab(view.store, "cache", view.store.selection);
  const redraw = useRedraw();
  const { playback } = view;
  const form = useRef<HTMLFormElement>(null);
  // What stands in the fields, and which somebody typed in: these stay.
  const state = useRef({ typed: ["", ""], mine: [false, false], offers: -1 }).current;
  const [tab = "", hash = "", ...rest] = view.sub.split("/");
  const asked = tab === "classes" && rest.length === 2 ? rest.map(decoded) : null;
  const typing = form.current?.contains(document.activeElement);
  if (asked) {
    if (!typing && asked.some((pod, at) => pod !== whole(state.typed[at]))) state.typed = [...asked];
    state.mine = [true, true];
  } else suggest(view, state);
  const unknown = asked?.find((key) => !playback.podIndex.has(key));
  const wrong = unknown === undefined ? "" : unknown ? `There is no pod ${unknown}.` : "Name two pods.";
  const wish = asked && unknown === undefined ? `${playback.asOf}/${asked}` : "";
  const answered = useAnswer<{ found: Equivalent; pods: string[] }>(wish, async () => {
    const pods = asked as string[];
    const { source, asOf: cycle } = playback;
    const found = await playback.socket.call("cache.equivalent", { source, cycle, pods });
    announce(found.text);
    return { found, pods };
  });
  const offer = (at: number) => {
    state.offers = at;
    redraw();
  };
  /** Put the two pods into the address, which asks. */
  const compare = () => view.setSub([tab, hash, ...state.typed.map(whole).map(encodeURIComponent)].join("/"));
  return (
    <section class="equal">
      <h3 id="equal-heading">Are these two equivalent?</h3>
      <form
        ref={form}
        aria-labelledby="equal-heading"
        onSubmit={(event) => {
          event.preventDefault();
          compare();
        }}
      >
        {FIELDS.map(([label, placeholder], at) => (
          <span class="equal-field">
            <input
              class="field"
              list={`equal-pods-${at}`}
              autocomplete="off"
              spellcheck={false}
              aria-label={label}
              placeholder={placeholder}
              value={state.typed[at]}
              onInput={(event) => {
                state.typed[at] = event.currentTarget.value;
                state.mine[at] = state.typed[at] !== "";
                offer(at);
              }}
              onFocus={() => offer(at)}
              onChange={() => {
                if (state.typed.every((one) => one.trim())) compare();
              }}
            />
            <datalist id={`equal-pods-${at}`}>
              {(state.offers === at ? offered(view, state.typed[at]) : []).map((key) => (
                <option value={key} />
              ))}
            </datalist>
          </span>
        ))}
        <button class="btn primary">Compare</button>
      </form>
      <div class="equal-result" role="status">
        {wrong ? (
          <p class="stale-text">{wrong}</p>
        ) : answered?.error ? (
          <p class="note error">{answered.error}</p>
        ) : answered?.value ? (
          <Answer {...answered.value} />
        ) : null}
      </div>
    </section>
  );
}

/** The pod that is selected, else that of the cycle; and another one to compare it with. */
function suggest(view: View, state: { typed: string[]; mine: boolean[] }) {
  const { pods, cluster } = view.playback;
  const first = view.pod >= 0 ? view.pod : view.facts.pod;
  if (first < 0) return;
  if (!state.mine[0]) state.typed[0] = pods.keys[first];
  if (state.mine[1]) return;
  // One of its group where there is one, and one that is there: others cannot be compared.
  const there = (_: unknown, pod: number) => pod !== first && cluster.placement[pod] !== ABSENT;
  const other = pods.group.findIndex((one: number, pod: number) => one === pods.group[first] && there(one, pod));
  state.typed[1] = pods.keys[other >= 0 ? other : pods.keys.findIndex(there)] ?? "";
}

function offered(view: View, typed: string) {
  const wanted = typed.trim().toLowerCase();
  const found: string[] = [];
  for (const key of view.playback.pods.keys) {
    if (wanted && !key.toLowerCase().includes(wanted)) continue;
    found.push(key);
    if (found.length === OFFERED) break;
  }
  return found;
}

function Answer({ found, pods }: { found: Equivalent; pods: string[] }) {
  const { equivalent, text, definitions, differences } = found;
  const verdict = (label: string, yes: boolean) => (
    <li>
      <span class={`pill ${yes ? "pass" : "fail"}`}>
        <Icon name={yes ? "check" : "cross"} />
        {label}
        <span class="sr">{yes ? ": equivalent" : ": not equivalent"}</span>
      </span>
    </li>
  );
  const value = (of: string) => <td>{of === "" ? <span class="dim">nothing</span> : <code>{of}</code>}</td>;
  return (
    <>
      <p class="equal-answer">
        <b class={equivalent ? "pass-text" : "fail-text"}>
          <Icon name={equivalent ? "check" : "cross"} />
          {equivalent ? "Yes. " : "No. "}
        </b>
        {text}
      </p>
      <ul class="definitions" aria-label="By each definition of a class">
        {verdict("by controller", definitions.controller)}
        {verdict("by attributes", definitions.attributes)}
      </ul>
      {differences.length ? (
        <Table
          rows={differences.map(({ field, first, second }) => (
            <tr key={field}>
              <th scope="row">
                <code>{field}</code>
              </th>
              {value(first)}
              {value(second)}
            </tr>
          ))}
          heads={["field", ...pods.map(short)]}
          caption="Fields in which they differ"
          class="list tight differences"
          title={<h4>Fields in which they differ</h4>}
          filter="Filter fields"
        />
      ) : null}
    </>
  );
}

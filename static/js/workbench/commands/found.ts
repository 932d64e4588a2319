// What the command palette finds: commands, and steps, nodes, pods and examples, by a few letters.

import { short } from "../../lib/quantity.ts";
import { COMMANDS, available } from "./commands.ts";
import type { Context } from "./context.ts";
import { match } from "./fuzzy.ts";
import { indexOf } from "../deck/goto.tsx";

const RECENT = "podstep.recent";
const KEPT = 8; // commands that were used last
export const EACH = 8; // nodes, pods and examples that are listed
const BONUS = 4; // for what was used lately
const STEP = /^(\d{1,9}(\.\d{1,9})?|end)$/i;

export type Example = { slug: string; title: string };
type Named = { id: string; group: string; name: string; keys?: string[] | undefined; run: () => unknown };
/** `at` are the places of the letters that were found in its name. */
export type Item = Named & { at: number[]; score?: number };

/** What is found, the best group first; of nothing typed all commands, those that were used last before them. */
export function found(context: Context, typed: string, examples: Example[], target: Element | null): Item[] {
  const text = typed.trim();
  const letters = text.toLowerCase().replaceAll(/\s+/g, "");
  const commands = COMMANDS.filter((row) => !row.hidden && available(row, context)).map((row): Named => ({
    ...row,
    run: () => row.run(context, { since: performance.now(), target }),
  }));
  if (!letters) {
    const last = recent().flatMap((id) => commands.find((item) => item.id === id) ?? []);
    const rest = commands.filter((item) => !last.includes(item));
    return [...last.map((item) => ({ ...item, group: "Recent" })), ...rest].map((item) => ({ ...item, at: [] }));
  }
  const hits = [
    ranked(commands, letters).map((item) => ({ ...item, group: "Commands" })),
    ranked(context.build.verbs?.named(text) ?? [], letters, EACH),
    ...named(context, examples).map((items) => ranked(items, letters, EACH)),
  ].flat();
  const best = new Map<string, number>(); // groups by their best, so that a name typed whole stands first
  for (const { group, score = 0 } of hits) best.set(group, Math.max(best.get(group) ?? -Infinity, score));
  const bestOf = ({ group }: Item) => best.get(group) ?? 0;
  hits.sort(
    (a, b) =>
      bestOf(b) - bestOf(a) || (a.group === b.group ? (b.score ?? 0) - (a.score ?? 0) : a.group < b.group ? -1 : 1),
  );
  return [...stepOf(context, text), ...hits];
}

function ranked(items: Named[], typed: string, most = Infinity): Item[] {
  const lately = recent();
  return items
    .flatMap((item) => {
      const hit = match(typed, item.name);
      return hit ? [{ ...item, at: hit.at, score: hit.score + (lately.includes(item.id) ? BONUS : 0) }] : [];
    })
    .sort((a, b) => b.score - a.score || a.name.length - b.name.length)
    .slice(0, most);
}

function named({ view, playback: { nodes, pods } }: Context, examples: Example[]): Named[][] {
  const select = (what: "selectNode" | "selectPod", i: number) => () => {
    view.actions.region("stage");
    view[what](i);
  };
  return [
    nodes.names.map((name, i) => ({ id: `node ${name}`, group: "Nodes", name, run: select("selectNode", i) })),
    pods.keys.map((key, i) => ({ id: `pod ${key}`, group: "Pods", name: short(key), run: select("selectPod", i) })),
    examples.map(({ slug, title }) => ({
      id: `example ${slug}`,
      group: "Examples",
      name: title,
      run: () => location.assign(`/examples/${slug}/`),
    })),
  ];
}

function stepOf({ playback, deck }: Context, text: string): Item[] {
  if (!STEP.test(text)) return [];
  const index = /^\d+$/.test(text) ? Number(text) : text.includes(".") ? null : playback.last;
  if (index !== null && index > playback.last && playback.complete !== false) return [];
  const end = text.toLowerCase() === "end" && playback.end;
  const go = async () => {
    try {
      const at = await indexOf(playback, text);
      if (at === null) playback.later({ step: text, place: undefined });
      else if (at <= playback.last) {
        deck.pause();
        playback.goto(at);
      }
    } catch (error) {
      playback.failed(error);
    }
  };
  const name = `Go to ${index === null ? `step ${text}` : end ? "the end" : `cycle ${index}`}`;
  return [{ id: "", group: "Steps", name, at: [], run: go }];
}

/** The commands that were used last, by their ids. */
function recent(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Note that something was used, if it is a command. */
export function used(id: string) {
  if (!COMMANDS.some((row) => row.id === id)) return;
  try {
    localStorage.setItem(RECENT, JSON.stringify([id, ...recent().filter((other) => other !== id)].slice(0, KEPT)));
  } catch {
    /* for this visit only */
  }
}

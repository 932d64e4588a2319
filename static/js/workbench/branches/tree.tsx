// The tree of branches: what was changed in each and what it led to, with the arrow keys' way through its rows.

import { Icon } from "../../kit/icon.tsx";
import type { Branch, BranchList } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import type { Found } from "./beside.tsx";
import { madeAt, parting, standing } from "./words.ts";

const WORDS = 3;
const ABOUT = "A copy at the step on screen, to try something else";

/** What the rows show and do. */
export type Tree = {
  /** The draft on screen, and the source on screen as a branch names its parent. */
  own: string;
  shown: string[];
  found: (branch: Branch) => Found | undefined;
  go: (url: string) => void;
  goto: (index: number) => void;
  rename: (branch: Branch) => void;
  compare: (branch: Branch) => void;
  remove: (branch: Branch) => void;
};

export const BranchHere = ({ class: more, create }: { class: string; create: () => void }) => (
  <button type="button" class={`btn ${more}`} title={ABOUT} onClick={create}>
    <Icon name="fork" />
    Branch here
  </button>
);

/** How many there are beside the one at the root, which may be a shared scenario, a run or a draft. */
export const branchesIn = ({ root, branches }: BranchList) => Math.max(0, branches.length - (root ? 0 : 1));

/** The rows, each after its parent's. */
export function rowsOf({ root, branches }: BranchList, tree: Tree) {
  const under = (parent: string, level: number): { branch: Branch; level: number }[] =>
    branches
      .filter((one) => one.parent === parent)
      .flatMap((branch) => [{ branch, level }, ...under(`draft:${branch.draft}`, level + 1)]);
  const rows = [...(root ? under(root.source, 2) : []), ...under("", 1)];
  return (
    <>
      {root ? <Root key="root" root={root} tree={tree} /> : null}
      {rows.map(({ branch, level }, at) => (
        <Row key={branch.draft} branch={branch} level={level} first={!root && !at} tree={tree} />
      ))}
    </>
  );
}

type NameProps = { here: boolean; url: string; text: string; first: boolean; tree: Tree };

function Name({ here, url, text, first, tree }: NameProps) {
  const tabIndex = first ? 0 : -1;
  if (here) return <b tabIndex={tabIndex}>{text}</b>;
  const act = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    tree.go(url);
  };
  return (
    <a href={url} tabIndex={tabIndex} onClick={act}>
      {text}
    </a>
  );
}

function Root({ root: { source, title, url }, tree }: { root: NonNullable<BranchList["root"]>; tree: Tree }) {
  const here = tree.shown.includes(source);
  return (
    <div role="row" aria-level={1} class="branch" data-branch-row="root">
      <div role="gridcell" class="branch-name">
        <Name here={here} url={url} text={title || "Untitled"} first tree={tree} />
        <span class="pill">{source.startsWith("run:") ? "run" : "shared"}</span>
        {here ? <span class="pill accent">here</span> : null}
      </div>
    </div>
  );
}

function Row({ branch, level, first, tree }: { branch: Branch; level: number; first: boolean; tree: Tree }) {
  const { draft, title, step, words, parent } = branch;
  const here = draft === tree.own;
  const name = title || "Untitled";
  const button = (icon: string, label: string, act: (branch: Branch) => void) => (
    <button
      type="button"
      class="btn quiet square tiny"
      tabIndex={-1}
      aria-label={`${label}: ${name}`}
      title={label}
      onClick={() => act(branch)}
    >
      <Icon name={icon} />
    </button>
  );
  const more = words.length > WORDS ? `; and ${count(words.length - WORDS)} more` : "";
  const changed = words.length ? words.slice(0, WORDS).join("; ") + more : parent ? "nothing changed yet" : "";
  return (
    <div
      role="row"
      aria-level={level}
      class={`branch level-${Math.min(level, 6)} ${here ? "here" : ""}`}
      data-branch-row={draft}
      aria-current={here ? "true" : undefined}
    >
      <div role="gridcell" class="branch-name">
        <Name here={here} url={`/p/${draft}/`} text={name} first={first} tree={tree} />
        {step ? <span class="pill">{madeAt(step)}</span> : null}
        {here ? <span class="pill accent">here</span> : null}
      </div>
      <div role="gridcell" class="history-tools branch-tools">
        {button("edit", "Rename", tree.rename)}
        {parent ? button("table", "Compare with its parent", tree.compare) : null}
        {button("cross", "Delete", tree.remove)}
      </div>
      <div role="gridcell" class="branch-changes">
        {changed ? <p class={words.length ? "" : "dim"}>{changed}</p> : null}
        <Outcome found={tree.found(branch)} here={here} tree={tree} />
      </div>
    </div>
  );
}

function Outcome({ found, here, tree }: { found: Found | undefined; here: boolean; tree: Tree }) {
  if (!found) return null;
  if ("error" in found) return <p class="dim">{found.error}</p>;
  const { first } = found;
  return (
    <>
      <p class="branch-outcome">{standing(found)}</p>
      {found.parent || found.why ? <p class="dim">{parting(found)}</p> : null}
      {first?.step && here ? (
        <button type="button" class="btn quiet small" tabIndex={-1} onClick={() => tree.goto(first.index)}>
          {`To cycle ${count(first.index)}`}
          <Icon name="right" />
        </button>
      ) : null}
    </>
  );
}

// A branch and its parent beside each other.

import { openDialog } from "../../kit/dialog.tsx";
import { Icon } from "../../kit/icon.tsx";
import { toast } from "../../lib/dom.ts";
import type { Branch, BranchComparison, Standing } from "../../lib/protocol.js";
import { count } from "../../lib/quantity.ts";
import { parting } from "./words.ts";

/** What a branch led to, or why that is not known. */
export type Found = BranchComparison | { error: string };

const ROWS: [name: string, key: "cycles" | "placed" | "pending"][] = [
  ["cycles", "cycles"],
  ["pods placed", "placed"],
  ["pods pending", "pending"],
];

/** Both beside each other, with all that was changed. */
export function showBeside(branch: Branch, found: Found) {
  if ("error" in found) toast(found.error, { name: "warn", ms: 6000 });
  else openDialog(`${branch.title || "Untitled"}, beside its parent`, () => <Beside branch={branch} found={found} />);
}

function Beside({ branch, found }: { branch: Branch; found: BranchComparison }) {
  const { here, parent, words, first } = found;
  const [kind, id] = branch.parent.split(":");
  const there = first && parent && first.index <= parent.cycles && kind !== "run";
  const figure = (standing: Standing, key: (typeof ROWS)[number][1]) => <td class="num">{count(standing[key])}</td>;
  return (
    <div class="branch-compare">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col" />
            <th scope="col" class="num">
              branch
            </th>
            <th scope="col" class="num">
              parent
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, key]) => (
            <tr>
              <th scope="row">{name}</th>
              {figure(here, key)}
              {parent ? figure(parent, key) : <td class="num">–</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <h3>Changes</h3>
      {words.length ? (
        <ul>
          {words.map((text) => (
            <li>{text}</li>
          ))}
        </ul>
      ) : (
        <p class="dim">Nothing yet.</p>
      )}
      <p>{parting(found)}</p>
      <div class="edit-bar">
        {id ? (
          <a class="btn primary" href={`/compare/?left=${kind}%3A${id}&right=draft%3A${branch.draft}`}>
            <Icon name="table" />
            Step through both
          </a>
        ) : null}
        {first?.step ? (
          <a class="btn" href={`/p/${branch.draft}/?step=${first.index}`}>
            <Icon name="right" />
            {`Cycle ${count(first.index)} of the branch`}
          </a>
        ) : null}
        {there ? (
          <a class="btn" href={`/${kind === "draft" ? "p" : "s"}/${id}/?step=${first.index}`}>
            <Icon name="right" />
            {`Cycle ${count(first.index)} of the parent`}
          </a>
        ) : null}
      </div>
    </div>
  );
}

// The menu behind ⋯: which controls there are, files, comparisons and documents, each a command of the table.

import { openMenu, type Entry } from "../../kit/menu.tsx";
import { COMMANDS, available } from "./commands.ts";
import type { Context } from "./context.ts";

const SECTIONS: [heading: string, ids: string[]][] = [
  ["View", ["presentation", "theme", "palette"]],
  ["As a file", ["download", "export-view", "export-deck", "export-film"]],
  ["Compare and review", ["compare", "report", "greed", "sweep", "worker"]],
  ["Help", ["help", "docs", "words", "reference", "learn"]],
];

export function moreMenu(button: HTMLElement | null, context: Context) {
  button?.addEventListener("click", () => {
    const sections = SECTIONS.map(([heading, ids]) => ({
      heading,
      entries: ids.flatMap((id) => entryOf(id, context)),
    }));
    sections[0]?.entries.unshift(context.controls.entry);
    openMenu(
      "More",
      sections.filter(({ entries }) => entries.length),
      button,
    );
  });
}

function entryOf(id: string, context: Context): Entry[] {
  const row = COMMANDS.find((one) => one.id === id);
  if (!row || !available(row, context)) return [];
  return [{ text: row.name, run: () => row.run(context, { since: performance.now(), target: null }) }];
}

// Renaming and deleting a branch; another tab may have changed it meanwhile.

import { announce, dialog, fill, h, icon, toast } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";

/** Ask for another name of a branch; `save(title)` saves it. */
export function renameDialog(branch, save) {
  const field = h("input", {
    class: "field",
    maxlength: "120",
    value: branch.title,
    "aria-label": "Name of the branch",
  });
  const box = dialog(
    "Rename the branch",
    h(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          try {
            await save(field.value);
            box.close();
            announce(`Renamed: ${branch.title || "Untitled"}.`);
          } catch (error) {
            const stale = error.code === "draft.stale";
            if (stale) branch.revision = error.body.revision; // pressing it again renames this revision
            toast(
              stale
                ? `Another tab has renamed it to “${error.body.title || "Untitled"}”. `
                    + "Press Rename again to use your name anyway."
                : `It could not be renamed: ${error.message}`,
              { name: "warn", ms: 8000 },
            );
          }
        },
      },
      h("div", { class: "copy-row" }, field, h("button", { class: "btn primary", text: "Rename" })),
    ),
  );
  field.select();
}

/** Ask whether to delete a branch, one's `own` or another, with so many `children`; `drop()` deletes it. */
export function deleteDialog(branch, { children, own, drop: act }) {
  const overtaken = h("p", { class: "stale-text", role: "alert" });
  const drop = h(
    "button",
    {
      type: "button",
      class: "btn danger",
      onclick: async () => {
        drop.disabled = true;
        try {
          await act(() => box.close());
        } catch (error) {
          drop.disabled = false;
          if (error.code === "draft.stale") {
            branch.revision = error.body.revision;
            fill(
              overtaken,
              icon("warn"),
              "It has been changed in another tab since this list was made. Nothing is deleted yet.",
            );
          } else toast(`It could not be deleted: ${error.message}`, { name: "warn", ms: 6000 });
        }
      },
    },
    icon("cross"),
    "Delete it",
  );
  const orphans = children
    ? ` ${plural(children, "branch", "branches")} of it ${children === 1 ? "stays" : "stay"}, as its parent's.`
    : "";
  const here = own ? " It is what you look at: its parent opens then." : "";
  const box = dialog(
    `Delete ${branch.title || "Untitled"}?`,
    h("p", { text: `This cannot be undone.${orphans}${here} Links that you shared remain.` }),
    overtaken,
    h(
      "div",
      { class: "edit-bar" },
      drop,
      h("button", { type: "button", class: "btn quiet", onclick: () => box.close(), text: "Keep it" }),
    ),
  );
  drop.focus();
}

// The dialog of what happens and when.

import type { ComponentChildren } from "preact";
import { openDialog } from "../../kit/dialog.tsx";

/** Open it; `run` is what its first button does, and Ctrl Enter anywhere in it. */
export function eventPanel(title: string, run: () => unknown, content: (close: () => void) => ComponentChildren) {
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  const box = openDialog(title, (close) => (
    <form class="form-fields" noValidate onSubmit={submit}>
      {content(close)}
    </form>
  ));
  box.classList.add("edit-panel", "event-panel");
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  return box;
}

import { render, type ComponentChild } from "preact";
import { dialog } from "../lib/dom.js";

/** Open a modal dialog; `content` gets what closes it. It is removed when it is closed. */
export function openDialog(title: string, content: (close: () => void) => ComponentChild): HTMLDialogElement {
  const box = dialog(title);
  const body = box.querySelector(".dialog-body") as HTMLElement;
  render(
    content(() => box.close()),
    body,
  );
  box.addEventListener("close", () => render(null, body));
  return box;
}

import { render, type ComponentChild } from "preact";
import { dialog } from "../lib/dom.ts";

type Content = (close: () => void) => ComponentChild;

/** Draw `content`, which gets what closes it, in a modal dialog; it is removed when it is closed. */
function draw(box: HTMLDialogElement, body: HTMLElement, content: Content) {
  render(
    content(() => box.close()),
    body,
  );
  box.addEventListener("close", () => render(null, body));
  return box;
}

/** Open a modal dialog under a heading with a button that closes it. */
export function openDialog(title: string, content: Content): HTMLDialogElement {
  const box = dialog(title);
  return draw(box, box.querySelector(".dialog-body") as HTMLElement, content);
}

/** Open a modal dialog of a class whose content is all of it, as that of a sheet; `name` is read with it. */
export function openPanel(className: string, name: string, content: Content): HTMLDialogElement {
  const box = document.createElement("dialog");
  box.className = className;
  box.ariaLabel = name;
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return draw(box, box, content);
}

import { render, type ComponentChild } from "preact";

const taken = new WeakSet<Element>();

/** Draw in an element, in place of what the server drew there: `render` alone would leave that beside it. */
export function place(child: ComponentChild, host: Element) {
  if (!taken.has(host)) host.replaceChildren();
  taken.add(host);
  render(child, host);
}

import { render, type ComponentChild } from "preact";

/** What a component draws, for a module that builds its DOM by hand; it is not drawn again. */
export function nodesOf(child: ComponentChild): Node[] {
  const host = document.createElement("div");
  render(child, host);
  return [...host.childNodes];
}

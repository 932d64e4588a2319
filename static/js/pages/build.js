// "Build one": a generated cluster becomes a draft, and the workbench opens on it.

import { toast } from "../lib/dom.ts";
import { link } from "./link.ts";

export function buildOne(button) {
  if (!button) return;
  button.setAttribute("role", "button");
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    try {
      const { Generator } = await import("../workbench/add/generate.tsx");
      await new Generator(link(), [["Open the workbench", (made) => made.create()]]).open();
    } catch (error) {
      toast(`Not available right now: ${error.message}`, { name: "warn", ms: 6000 });
    }
  });
  button.addEventListener("keydown", (event) => {
    if (event.key === " ") {
      event.preventDefault();
      button.click();
    }
  });
}

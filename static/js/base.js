// What every page does: the theme button.
import { $$ } from "./lib/dom.ts";
import { toggleTheme } from "./lib/theme.ts";

for (const button of $$("[data-theme-toggle]")) button.addEventListener("click", toggleTheme);

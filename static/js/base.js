// What every page does: the theme button.
import { $$ } from "./lib/dom.js";
import { toggleTheme } from "./lib/theme.js";

for (const button of $$("[data-theme-toggle]")) button.addEventListener("click", toggleTheme);

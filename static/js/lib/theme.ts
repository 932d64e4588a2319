// Dark and light: the system's until the visitor chooses, then theirs.

const KEY = "podstep.theme";

export const THEMES = ["dark", "light"];
export const theme = () => document.documentElement.dataset.theme;

export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    /* storage is off: for this page only */
  }
  dispatchEvent(new CustomEvent("podstep:theme", { detail: next }));
}

matchMedia("(prefers-color-scheme: light)").addEventListener("change", (event) => {
  let kept;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    kept = null;
  }
  if (kept) return;
  document.documentElement.dataset.theme = event.matches ? "light" : "dark";
  dispatchEvent(new CustomEvent("podstep:theme", { detail: theme() }));
});

// Paper is light, whatever the screen is.
let shown: string | undefined;
matchMedia("print").addEventListener("change", ({ matches }) => {
  if (matches) shown = theme();
  document.documentElement.dataset.theme = matches ? "light" : (shown ?? theme());
  dispatchEvent(new CustomEvent("podstep:theme", { detail: theme() }));
});

/** The value of a design token, for canvases. */
export function token(name: string) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The values of design tokens in a theme that need not be the page's. */
export function tokensOf(name: string, names: string[]) {
  const probe = document.createElement("div");
  probe.dataset.theme = name;
  document.body.append(probe); // only what is in the page has a computed style
  const style = getComputedStyle(probe);
  const values = names.map((one) => style.getPropertyValue(one).trim());
  probe.remove();
  return values;
}

const SMALLEST = 13;

/** How large text is on this screen, in pixels: at least 13. */
export function textSize() {
  return Math.max(SMALLEST, parseFloat(getComputedStyle(document.body).fontSize) || 0);
}

/** How much larger text is than on a small screen: 1 or more. */
export const textScale = () => textSize() / SMALLEST;

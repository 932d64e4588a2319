// Whether the focus is where it is by Tab: known from the page's first key on, however late an editor is loaded.

let tabbed = false;
addEventListener(
  "keydown",
  ({ key }) => {
    tabbed = key === "Tab";
  },
  { capture: true },
);
addEventListener(
  "pointerdown",
  () => {
    tabbed = false;
  },
  { capture: true },
);

export const cameByTab = () => tabbed;

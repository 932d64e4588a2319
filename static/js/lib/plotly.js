// Plotly, loaded once and only where a chart is shown; its files are our own server's.

import { h } from "./dom.js";

// Elements with these ids keep Plotly from writing <style> elements, which the Content-Security-Policy refuses: its own
// rules are in css/plotly.css, those of its maps are not needed. A new Plotly may have another id: then pages log a
// violation.
const STYLED = ["plotly.js-style-global", "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"];

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Resolve with Plotly, from the address that the page gives.
 *
 * @param {string} src
 */
export function plotly(src) {
  loading ??= load(src).catch(() => {
    loading = null;
    throw new Error("The charts could not be loaded.");
  });
  return loading;
}

/** @param {string} src */
async function load(src) {
  for (const id of STYLED)
    if (!document.getElementById(id)) document.head.append(h("meta", { id, class: "no-inline-styles" }));
  await Promise.all([
    loaded("link", { rel: "stylesheet", href: new URL("../css/plotly.css", new URL(src, location.href)).href }),
    loaded("script", { src }),
  ]);
  return /** @type {any} */ (window).Plotly;
}

/**
 * Put an element into the head, and resolve when its file is there.
 *
 * @template {"link" | "script"} K
 * @param {K} tag
 * @param {Record<string, string>} props
 */
function loaded(tag, props) {
  return new Promise((resolve, reject) => {
    const element = /** @type {HTMLElement} */ (h(tag, /** @type {{}} */ (props)));
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(new Error(props.src ?? props.href));
    };
    document.head.append(element);
  });
}

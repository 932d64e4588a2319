// Plotly, loaded once and only where a chart is shown; the file is our own server's.

import { h } from "./dom.js";

let loading = null;

/** Resolve with Plotly, from the address that the page gives. */
export function plotly(src) {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { loading = null; script.remove(); reject(new Error("The charts could not be loaded.")); };
    document.head.append(script);
  });
  return loading;
}

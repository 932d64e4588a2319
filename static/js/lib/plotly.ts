// Plotly, loaded once and only where a chart is shown; its files are our own server's.

import { announce, h, toast } from "./dom.ts";
import { token } from "./theme.ts";

// Elements with these ids keep Plotly from writing <style> elements, which the Content-Security-Policy refuses: its own
// rules are in css/plotly.css, those of its maps are not needed. A new Plotly may have another id: then pages log a
// violation.
const STYLED = ["plotly.js-style-global", "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"];

const PICTURE = { width: 960, height: 480 };
const SHARPER = 2; // a PNG has so many pixels for each of them

let loading: Promise<any> | null = null;

/** Resolve with Plotly, from the address that the page gives. */
export function plotly(src: string) {
  loading ??= load(src).catch(() => {
    loading = null;
    throw new Error("The charts could not be loaded.");
  });
  return loading;
}

async function load(src: string) {
  for (const id of STYLED)
    if (!document.getElementById(id)) document.head.append(h("meta", { id, class: "no-inline-styles" }));
  if (window.podstepCharts) await window.podstepCharts();
  else
    await Promise.all([
      loaded("link", { rel: "stylesheet", href: new URL("../css/plotly.css", new URL(src, location.href)).href }),
      loaded("script", { src }),
    ]);
  return (window as any).Plotly;
}

/** Put an element into the head, and resolve when its file is there. */
function loaded<K extends "link" | "script">(tag: K, props: Record<string, string>) {
  return new Promise((resolve, reject) => {
    const element = h(tag, props as {}) as HTMLElement;
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(new Error(props.src ?? props.href));
    };
    document.head.append(element);
  });
}

/** Download a figure as a picture that stands alone: on the ground of the page, with its title and a legend. */
export async function download(
  library: string,
  { data, layout, title, name }: { data: any[]; layout: any; title: string; name: string },
  format: "svg" | "png",
) {
  const alone = {
    ...layout,
    ...PICTURE,
    margin: { l: 64, r: 48, t: 84, b: 56 },
    paper_bgcolor: token("--panel"),
    plot_bgcolor: token("--panel"),
    showlegend: layout.showlegend ?? data.length > 1,
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: token("--dim"), size: 12 } },
    title: {
      text: title,
      x: 0.02,
      y: 0.965,
      xanchor: "left",
      yanchor: "top",
      font: { color: token("--ink"), family: token("--font"), size: 17 },
    },
  };
  try {
    const scale = format === "png" ? SHARPER : 1;
    const Plotly = await plotly(library);
    await Plotly.downloadImage({ data, layout: alone }, { format, ...PICTURE, scale, filename: name });
    announce(`${name}.${format} is downloaded.`);
  } catch {
    toast("The chart could not be made a picture. Its numbers are in its table.", { name: "warn" });
  }
}

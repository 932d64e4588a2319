// What is wrong with a node.

/**
 * In a word or two each: it is not ready, cordoned, or has a condition that it should not have. Nothing is known of a
 * silent node, which one word says.
 *
 * @param conditions those that are not as they should be, `Ready=Unknown`
 */
export function ailments(conditions: string[], unschedulable: boolean | undefined) {
  const silent = conditions.includes("Ready=Unknown");
  const telling = conditions.filter((text) => text.startsWith("Ready=") || !silent || !text.endsWith("=Unknown"));
  const found = telling.map((text) => {
    const [type, status] = text.split("=");
    return type === "Ready" ? "NotReady" : status === "True" ? type : `${type}?`;
  });
  return unschedulable ? [...found, "cordoned"] : found;
}

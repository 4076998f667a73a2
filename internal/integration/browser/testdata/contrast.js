// Runs within the page: the contrast of each text that can be seen with what lies
// behind it, and of each control's edge; those too low are listed.
const parse = (color) => {
  const m = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(color);
  if (!m) throw new Error(`a colour of another kind: ${color}`);
  return [Number(m[1]), Number(m[2]), Number(m[3]), m[4] === undefined ? 1 : Number(m[4])];
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
  return (x + 0.05) / (y + 0.05);
};
// The ground is the first one that is not transparent; half transparent ones there are none.
const ground = (node) => {
  for (let n = node; n; n = n.parentElement) {
    const c = parse(getComputedStyle(n).backgroundColor);
    if (c[3] === 1) return c;
    if (c[3] > 0) throw new Error(`a half transparent ground: ${n.outerHTML.slice(0, 80)}`);
  }
  return parse(getComputedStyle(document.documentElement).backgroundColor);
};
const low = [];
let seen = 0;
const hold = (what, front, back, least) => {
  seen++;
  const c = contrast(front, back);
  if (c < least) low.push(`${what}: ${c.toFixed(2)}`);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.checkVisibility() || ["SCRIPT", "NOSCRIPT", "OPTION"].includes(node.tagName)) continue;
  hold(`“${walker.currentNode.data.trim().slice(0, 40)}”`, parse(getComputedStyle(node).color), ground(node), 4.5);
}
for (const node of document.querySelectorAll("input, select, textarea, button")) {
  if (!node.checkVisibility()) continue;
  const style = getComputedStyle(node);
  hold(`the text of ${node.id || node.textContent}`, parse(style.color), ground(node), 4.5);
  if (node.placeholder) hold(`the placeholder of ${node.id}`, parse(getComputedStyle(node, "::placeholder").color), ground(node), 4.5);
  if (parseFloat(style.borderTopWidth) > 0 && !["checkbox", "radio"].includes(node.type)) hold(`the edge of ${node.id || node.textContent}`, parse(style.borderTopColor), ground(node.parentElement), 3);
}
return { Seen: seen, Low: low };

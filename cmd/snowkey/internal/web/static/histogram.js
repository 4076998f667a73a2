// Two pictures of many ids: when they were made, and by which workers.
import { formatSpan, utc } from "./times.js";
import { el, grouped } from "./dom.js";

const bins = 48;
const mostWorkers = 8;

// overTime draws bars of equal time.
export function overTime(times, first, last) {
  const low = Number(first);
  const width = Math.max(1, (Number(last) - low + 1) / bins);
  const counts = new Array(bins).fill(0);
  for (const t of times) counts[Math.min(bins - 1, Math.floor((t - low) / width))]++;
  const most = Math.max(...counts);
  const at = (i) => utc(BigInt(Math.floor(low + i * width))).slice(0, 19);
  const bars = counts.map((n, i) => {
    const bar = el("span", { class: n > 0 ? "column" : "column none", title: `${at(i)}: ${grouped(n)}` });
    bar.style.height = `${n > 0 ? Math.max(2, (n / most) * 100) : 0}%`;
    return bar;
  });
  const each = BigInt(Math.round(width));
  return el("figure", {},
    el("figcaption", {}, "Over time ", el("span", { class: "quiet" }, `each bar ${formatSpan(each > 10_000n ? (each / 1000n) * 1000n : each)}, the highest ${most === 1 ? "1 id" : `${grouped(most)} ids`}`)),
    el("div", { class: "columns", role: "img", "aria-label": `${grouped(times.length)} ids from ${at(0)} to ${utc(last).slice(0, 19)}, at most ${grouped(most)} of them in ${formatSpan(each)}, which begin at ${at(counts.indexOf(most))}` }, bars),
    el("div", { class: "axis quiet", "aria-hidden": "true" }, el("span", {}, at(0)), el("span", {}, utc(last).slice(0, 19))));
}

// byWorker draws a bar for each of the workers with the most ids.
export function byWorker(workers) {
  const all = [...workers].sort((a, b) => b[1] - a[1]);
  const shown = all.slice(0, mostWorkers);
  const others = all.slice(mostWorkers);
  if (others.length > 0) shown.push([`${grouped(others.length)} others`, others.reduce((sum, [, n]) => sum + n, 0)]);
  const most = Math.max(...shown.map(([, n]) => n));
  return el("figure", {},
    el("figcaption", {}, "By worker ID ", el("span", { class: "quiet" }, `${grouped(all.length)} different`)),
    el("dl", { class: "shares" }, shown.map(([name, n]) => {
      const bar = el("span", { class: "share", "aria-hidden": "true" });
      bar.style.width = `${Math.max(1, (n / most) * 100)}%`;
      return el("div", {}, el("dt", {}, name), el("dd", {}, el("span", { class: "track" }, bar), grouped(n)));
    })));
}

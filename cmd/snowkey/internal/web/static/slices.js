// Long work in slices, so that the page answers between them.

const slice = 12; // milliseconds
const pause = () => new Promise((done) => setTimeout(done));

// inSlices calls a function for each index below n. Between slices it reports how many are done, and
// ends with false if the work is no longer wanted.
export async function inSlices(n, each, { wanted = () => true, progress = () => {} } = {}) {
  let until = performance.now() + slice;
  for (let i = 0; i < n; i++) {
    each(i);
    if ((i & 31) !== 31 || performance.now() < until) continue;
    progress(i + 1, n);
    await pause();
    if (!wanted()) return false;
    until = performance.now() + slice;
  }
  return true;
}

// The state of the page stands behind the # of its address: a link carries it, the
// browser's buttons go back and forth in it, and it is not sent to the server.

export const read = () => new URLSearchParams(location.hash.replace(/^#/, ""));

let last = 0;
let lastField = null;

// write puts the state into the address. While somebody goes on typing in one field
// that is one step of the history, not many.
export function write(state) {
  const hash = state.toString();
  if (hash === read().toString()) return;
  const address = hash ? `#${hash}` : location.pathname;
  const goesOn = Date.now() - last < 3000 && lastField === document.activeElement;
  history[goesOn ? "replaceState" : "pushState"](null, "", address);
  last = Date.now();
  lastField = document.activeElement;
}

// follow calls back when the browser goes to another state.
export function follow(apply) {
  addEventListener("popstate", () => {
    last = 0;
    apply(read());
  });
}

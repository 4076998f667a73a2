// The state of the page is in the fragment of its URL, for links and for the browser's
// history. It is not sent to the server.

// A text with more characters is not put into a link.
export const longest = 1 << 16;

export const read = () => new URLSearchParams(location.hash.replace(/^#/, ""));

let last = 0;
let lastField = null;

// write writes the state to the URL. Typing in one field adds one step to the history.
export function write(state) {
  const hash = state.toString();
  if (hash === read().toString()) return;
  const url = hash ? `#${hash}` : location.pathname;
  const typing = Date.now() - last < 3000 && lastField === document.activeElement;
  history[typing ? "replaceState" : "pushState"](null, "", url);
  last = Date.now();
  lastField = document.activeElement;
}

// follow calls back when the browser navigates to another state.
export function follow(apply) {
  addEventListener("popstate", () => {
    last = 0;
    apply(read());
  });
}

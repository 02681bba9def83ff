// Lets the left and right arrow keys vote. Everything works without it.
"use strict";

let sent = false;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.repeat || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (!button) return;
  event.preventDefault();
  button.form.requestSubmit(button);
});

document.addEventListener("submit", (event) => {
  // A second click while the first is on its way would only be refused.
  if (sent) event.preventDefault();
  sent = true;
  event.target.classList.add("chosen");
});

window.addEventListener("pageshow", () => {
  sent = false;
});

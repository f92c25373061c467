/** A file that is dropped beside the places for files must not take the page away with what is on it. */

/** Browsers open such a file in the tab. Call it before anything else listens to drops. */
export function keepPageOnDrop() {
  for (const name of ["dragover", "drop"]) addEventListener(name, refuse);
}

function refuse(event) {
  const { dataTransfer, target } = event;
  if (event.defaultPrevented || !dataTransfer?.types.includes("Files")) return;
  if (target instanceof Element && target.closest("input[type=file]")) return; // it takes them
  event.preventDefault();
  dataTransfer.dropEffect = "none";
}

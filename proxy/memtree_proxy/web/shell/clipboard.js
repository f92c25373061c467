/** Copying text, also where the page is served over plain http in a LAN. */

/** @param {string} text @returns {Promise<boolean>} whether it is in the clipboard */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text); // absent without a secure context
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text) {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.setAttribute("aria-hidden", "true");
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus?.();
  return done;
}

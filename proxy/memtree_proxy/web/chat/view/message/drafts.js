/**
 * What is being written inside of messages, by the id of the message. It outlives the boxes: those
 * go away when another branch or another chat is shown.
 */

/** @type {Map<string, string>} messages as they are being changed */
export const edits = new Map();

/** @type {Map<string, string>} lines to be remembered, as they are being changed */
export const lines = new Map();

/** @param {string} id @returns {boolean} whether a box is open in a message */
export function isWritten(id) {
  return edits.has(id) || lines.has(id);
}

/**
 * What a screen reader is told of a growing answer: whole sentences, each once.
 *
 * The text is read once, from front to back, however often it is looked at.
 */

const ENDS = ".!?。！？…\n";
const MARKS = /[*_`#>|~]+/g;
const LONGEST = 600;

export class Sentences {
  #told = 0;
  #read = 0;

  /**
   * The sentences that are complete since the last call, without marks of Markdown.
   * @param {string} text all of the answer so far
   * @param {boolean} [ended] no more will come: the rest counts as a sentence
   * @returns {string} "" where there is none
   */
  take(text, ended = false) {
    let end = this.#told;
    for (let at = this.#read; at < text.length; at += 1) {
      if (ENDS.includes(text[at]) && (at + 1 < text.length ? isGap(text[at + 1]) : ended)) {
        end = at + 1;
      }
    }
    this.#read = Math.max(this.#told, text.length - 1);
    if (ended) end = text.length;
    const said = text.slice(this.#told, end);
    this.#told = end;
    const plain = said.replace(MARKS, " ").replace(/\s+/g, " ").trim();
    return plain.length > LONGEST ? `${plain.slice(0, LONGEST)} …` : plain;
  }
}

function isGap(character) {
  return character === " " || character === "\n" || character === "\t";
}

/**
 * The beginning of a text, up to the end of a sentence: the title of a chat.
 * @param {string} text
 * @param {number} most characters
 */
export function beginning(text, most) {
  const line = text.trim().split("\n", 1)[0].replace(/^[#>*\-\s]+/, "").trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const stop = Math.max(cut.lastIndexOf(". "), cut.lastIndexOf("! "), cut.lastIndexOf("? "));
  if (stop > most / 4) return cut.slice(0, stop + 1);
  const gap = cut.lastIndexOf(" ");
  return gap > 0 ? cut.slice(0, gap) : cut;
}

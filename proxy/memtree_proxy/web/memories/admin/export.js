/** All memories as a file. */
import { call } from "../../shell/api.js";
import { download } from "../../shell/download.js";
import { count } from "../../shell/format.js";
import { toast } from "../../shell/toasts.js";
import { problem } from "../list/use_actions.js";

const NAME = "memories.jsonl";
const TAIL = 4_096; // bytes in which the last line is looked for

/** @param {import("../sources.js").Source} source */
export async function saveExport(source) {
  try {
    const { query, headers } = source;
    const { response } = await call("GET", "/memories/export", { query, headers, raw: true });
    const file = await response.blob();
    const end = await lastLine(file);
    if (end?.type !== "end") throw new Error("The file broke off before its end: try again.");
    download(file, NAME);
    toast(`${count(end.memories)} memories saved as ${NAME}.`, { kind: "success" });
  } catch (error) {
    problem("The export failed", error, () => saveExport(source));
  }
}

/** Every export ends with a line of the type `end`. */
async function lastLine(file) {
  const tail = await file.slice(Math.max(0, file.size - TAIL)).text();
  try {
    return JSON.parse(tail.trimEnd().split("\n").at(-1));
  } catch {
    return null;
  }
}

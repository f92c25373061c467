/** Chats out of this browser as a file, and in from one. */
import { html, useRef, useState } from "../../vendor/preact.js";
import { download } from "../../shell/download.js";
import { bytes, count } from "../../shell/format.js";
import { toast } from "../../shell/toasts.js";
import { MAX_BYTES, exported, readExport, storeChats } from "../store/transfer.js";

/**
 * @param {{desk: typeof import("../desk/desk.js").desk,
 *   chats: import("../store/chat_store.js").Chat[], part: boolean}} props `chats`: those that are
 *   listed; `part`: a search leaves some out
 */
export function ChatTransfer({ desk, chats, part }) {
  const field = useRef(null);
  const [busy, setBusy] = useState(false);
  const run = async (work) => {
    setBusy(true);
    try {
      toast(await work(), { kind: "success" });
    } catch (error) {
      toast(error.message, { kind: "problem" });
    }
    setBusy(false);
  };
  const save = () =>
    run(async () => {
      download(await exported(desk.store, chats), "chats.json");
      return `${chatsOf(chats.length)} saved as chats.json.`;
    });
  const take = (event) => {
    const [file] = event.target.files;
    event.target.value = ""; // the same file may be taken again
    if (file) run(() => imported(desk, file));
  };
  return html`<div class="row chat-transfer">
    <button type="button" class="button small quiet" disabled=${busy || chats.length === 0} onClick=${save}>
      ${part ? `Export ${count(chats.length)}` : "Export all"}
    </button>
    <button type="button" class="button small quiet" disabled=${busy} onClick=${() => field.current.click()}>
      Import
    </button>
    <input ref=${field} type="file" accept=".json,application/json" hidden aria-label="File of chats" onChange=${take} />
  </div>`;
}

async function imported(desk, file) {
  if (file.size > MAX_BYTES) throw new Error(`The file is larger than ${bytes(MAX_BYTES)}.`);
  const { chats, left } = readExport(await file.text());
  await storeChats(desk.store, chats);
  const lost = left ? ` ${count(left)} chats or messages could not be read.` : "";
  return `${chatsOf(chats.length)} imported.${lost}`;
}

function chatsOf(number) {
  return number === 1 ? "1 chat" : `${count(number)} chats`;
}

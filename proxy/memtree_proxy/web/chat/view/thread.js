/** One chat: its head, its messages, the box to write in. */
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Problem } from "../../shell/states.js";
import { useConversation } from "../desk/hooks.js";
import { firstModel } from "../desk/models.js";
import { Beginning } from "./beginning.js";
import { Composer } from "./composer.js";
import { Icon } from "./icons.js";
import { MessageList } from "./message_list.js";
import { ModelBox } from "./model_box.js";

/**
 * @param {Object} props
 * @param {import("../conversation/conversation.js").Conversation} props.conversation
 * @param {ReturnType<typeof import("../desk/models.js").useModels>} props.models
 * @param {{count: number | null, countAgain: () => void, open: (ids?: string[] | null) => void,
 *   toggle: () => void, shown: boolean}} props.memories the panel
 * @param {boolean} props.lasting whether the browser stores chats
 * @param {() => void} props.onFirst called with the first message of a chat
 * @param {() => void} props.onChats opens the list of chats, where it is not always seen
 */
export function Thread({ conversation, models, memories, lasting, onFirst, onChats }) {
  useConversation(conversation);
  const composer = useRef(null);
  const [lack, setLack] = useState(false);
  const [held, setHeld] = useState(false); // sent before the models were known
  const { chat, growing } = conversation;
  const offline = models.error?.code === "no_upstream";
  // Some upstreams have no list: who has named a model there needs none.
  const unlisted = !offline && models.error && !(chat.model && models.error.status === 404);

  const chooseFirst = () => {
    if (conversation.chat.model || !models.models.length) return;
    conversation.choose(firstModel(models.models));
  };
  useEffect(chooseFirst, [models.models]);
  useEffect(() => {
    if (!held || (!chat.model && models.loading)) return;
    setHeld(false);
    composer.current.submit();
  }, [held, chat.model, models.loading]);

  const send = (text) => {
    chooseFirst(); // effects run after the paint: Enter may come before this one
    if (!conversation.chat.model) {
      if (models.loading) setHeld(true);
      else setLack(true);
      return false;
    }
    const first = !conversation.stored;
    conversation.send(text);
    if (first) onFirst();
    return true;
  };
  const focusComposer = () => composer.current?.focus();
  return html`<div class="thread">
    <header class="thread-bar">
      <button type="button" class="icon-button chats-button" aria-label="Chats" title="Chats" onClick=${onChats}>
        <${Icon} name="list" />
      </button>
      <h2 class="thread-title">${chat.title || "New chat"}</h2>
      <${ModelBox}
        models=${models}
        value=${chat.model}
        lack=${lack && !chat.model}
        onChoose=${(model) => conversation.choose(model)}
      />
      <${MemoriesButton} memories=${memories} />
    </header>
    <${Notes} conversation=${conversation} lasting=${lasting} offline=${offline} />
    ${unlisted &&
    html`<div class="thread-notes">
      <${Problem} error=${models.error} title="The models could not be listed" retry=${models.retry} />
    </div>`}
    ${conversation.path().length === 0
      ? html`<${Beginning} offline=${offline} onPick=${(text) => composer.current?.fill(text)} />`
      : html`<${MessageList} conversation=${conversation} memories=${memories} onWritten=${focusComposer} />`}
    <${Composer} handle=${composer} conversation=${conversation} growing=${growing} held=${held} onWrite=${() => setHeld(false)} onSend=${send} />
  </div>`;
}

function MemoriesButton({ memories: { count, toggle, shown } }) {
  const said = count === null ? "Memories" : `Memories: ${count}`;
  return html`<button
    type="button"
    class="button small memories-button"
    aria-expanded=${shown}
    aria-label=${said}
    aria-keyshortcuts="Alt+M"
    title="Memories of this chat (Alt+M)"
    onClick=${toggle}
  >
    <${Icon} name="bookmark" />
    <span class="memories-word">Memories</span>
    ${count !== null && html`<span class=${`badge ${count ? "" : "none"}`} key=${count}>${count}</span>`}
  </button>`;
}

function Notes({ conversation, lasting, offline }) {
  const lost = !lasting || conversation.unsaved;
  if (!lost && !offline) return null;
  return html`<div class="thread-notes">
    ${offline &&
    html`<p class="note">
      <strong>No model is connected.</strong> This server was started with${" "}
      <code>--upstream none</code>, so it cannot answer here. The${" "}
      <a href="/ui/tree">tree page</a> works without a model: it shows how a conversation is folded.
    </p>`}
    ${lost &&
    html`<p class="note warning">
      This browser does not store chats (a private window, or no space left). They end with this
      tab.
    </p>`}
  </div>`;
}

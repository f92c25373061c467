/** One chat: its head, its messages, the box to write in. */
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Problem } from "../../shell/states.js";
import { useConversation } from "../desk/hooks.js";
import { configuredModel, firstModel, recentFirst, useFoldsAt } from "../desk/models.js";
import { Beginning } from "./beginning.js";
import { ChatSettings } from "./chat_settings.js";
import { Composer } from "./composer.js";
import { Icon } from "../../shell/icons.js";
import { MessageList } from "./message_list.js";
import { ModelBox } from "./model_box.js";

/**
 * @param {Object} props
 * @param {import("../conversation/conversation.js").Conversation} props.conversation
 * @param {ReturnType<typeof import("../desk/models.js").useModels>} props.models
 * @param {string[]} props.recent models of the chats, the last used first
 * @param {{count: number | null, countAgain: () => void, open: (ids?: string[] | null) => void,
 *   toggle: () => void, shown: boolean}} props.memories the panel
 * @param {boolean} props.lasting whether the browser stores chats
 * @param {() => void} props.onFirst called with the first message of a chat
 * @param {() => void} props.onChats opens the list of chats, where it is not always seen
 */
export function Thread({ conversation, models, recent, memories, lasting, onFirst, onChats }) {
  useConversation(conversation);
  const composer = useRef(null);
  const [lack, setLack] = useState(false);
  const [held, setHeld] = useState(false); // sent before the models were known
  const [settings, setSettings] = useState(false);
  const { chat, growing } = conversation;
  const foldsAt = useFoldsAt(chat.model);
  const offline = models.error?.code === "no_upstream";
  // Some upstreams have no list: who has named a model there needs none.
  const unlisted = !offline && models.error && !(chat.model && models.error.status === 404);

  const chooseFirst = () => {
    const first = firstModel(models.models, configuredModel());
    if (first && !conversation.chat.model) conversation.choose(first);
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
      <h2 class="thread-title" dir="auto">${chat.title || "New chat"}</h2>
      <${ModelBox}
        models=${{ ...models, models: recentFirst(models.models, recent) }}
        value=${chat.model}
        lack=${lack && !chat.model}
        onChoose=${(model) => conversation.choose(model)}
      />
      <${SettingsButton} chat=${chat} onOpen=${() => setSettings(true)} />
      <${MemoriesButton} memories=${memories} />
    </header>
    <${Notes} conversation=${conversation} lasting=${lasting} offline=${offline} />
    ${unlisted &&
    html`<div class="thread-notes">
      <${Problem} error=${models.error} title="The models could not be listed" retry=${models.retry} />
    </div>`}
    ${conversation.path().length === 0
      ? html`<${Beginning} offline=${offline} foldsAt=${foldsAt} onPick=${(text) => composer.current?.fill(text)} />`
      : html`<${MessageList} conversation=${conversation} memories=${{ ...memories, foldsAt }} onWritten=${focusComposer} />`}
    <${Composer} handle=${composer} conversation=${conversation} growing=${growing} held=${held} onWrite=${() => setHeld(false)} onSend=${send} />
    ${settings && html`<${ChatSettings} conversation=${conversation} onClose=${() => setSettings(false)} />`}
  </div>`;
}

function SettingsButton({ chat, onOpen }) {
  const changed = Boolean(chat.system) || (chat.temperature ?? null) !== null;
  const said = changed ? "Settings of this chat (changed)" : "Settings of this chat";
  return html`<button type="button" class=${`icon-button ${changed ? "set" : ""}`} title=${said} aria-label=${said} onClick=${onOpen}>
    <${Icon} name="settings" />
  </button>`;
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
      <a href="/ui/tree">tree page</a> works without a model: it shows how a long
      conversation is folded, that is, sent as summaries and excerpts of its older messages.
    </p>`}
    ${lost &&
    html`<p class="note warning">
      This browser does not store chats (a private window, or no space left). They end with this
      tab.
    </p>`}
  </div>`;
}

/** The page: chats at the left, the shown one in the middle, its memories at the right. */
import { html, useEffect, useLayoutEffect, useState } from "../../vendor/preact.js";
import { MemoriesPanel } from "../../memories/panel.js";
import { useShortcut } from "../../shell/shortcuts.js";
import { Loading, Problem } from "../../shell/states.js";
import { useConversation, useDesk, useMedia, useMemoryCount } from "../desk/hooks.js";
import { useModels } from "../desk/models.js";
import { ChatList } from "./chat_list.js";
import { Drawer } from "./drawer.js";
import { Thread } from "./thread.js";

export function ChatPage() {
  const desk = useDesk();
  const conversation = useConversation(desk.current);
  const [failure, setFailure] = useState(null);
  const [drawer, setDrawer] = useState(false);
  const [panel, setPanel] = useState(false);
  const [used, setUsed] = useState(null);
  const narrow = useMedia("(max-width: 899px)");
  const models = useModels();
  const id = conversation?.chat.id ?? null;
  const [count, countAgain] = useMemoryCount(conversation);

  useEffect(() => {
    desk.begin().catch(setFailure);
  }, []);
  useLayoutEffect(() => setUsed(null), [id]);

  const closePanel = () => {
    setPanel(false);
    setUsed(null);
  };
  const openPanel = (ids = null) => {
    setUsed(ids);
    setPanel(true);
  };
  const togglePanel = () => (panel ? closePanel() : openPanel());
  useShortcut("Alt+M", togglePanel);

  if (failure) return html`<${Problem} error=${failure} title="The chats cannot be read" />`;
  const list = html`<${ChatList} desk=${desk} shown=${id} onPick=${() => setDrawer(false)} />`;
  const memories =
    panel &&
    id &&
    html`<${MemoriesPanel}
      key=${id}
      chatId=${id}
      used=${used}
      onUsedClear=${() => setUsed(null)}
      onClose=${closePanel}
    />`;
  return html`<div class=${`chat ${panel && !narrow ? "with-panel" : ""}`}>
    <nav class="chat-side" aria-label="Chats">${list}</nav>
    ${narrow &&
    drawer &&
    html`<${Drawer} label="Chats" side="left" onClose=${() => setDrawer(false)}>${list}<//>`}
    ${conversation
      ? html`<${Thread}
          key=${id}
          conversation=${conversation}
          models=${models}
          recent=${desk.chats.map((chat) => chat.model)}
          memories=${{ count, countAgain, open: openPanel, toggle: togglePanel, shown: panel }}
          lasting=${desk.store.lasting}
          onFirst=${() => desk.settle()}
          onChats=${() => setDrawer(true)}
        />`
      : html`<div class="thread"><div class="thread-loading"><${Loading} rows=${4} label="Loading the chat" /></div></div>`}
    ${memories && !narrow && html`<section class="chat-panel" aria-label="Memories of this chat">${memories}</section>`}
    ${memories && narrow && html`<${Drawer} label="Memories of this chat" side="right" onClose=${closePanel}>${memories}<//>`}
  </div>`;
}

/** The chat page. */
import { start } from "../shell/frame.js";
import { ChatPage } from "./view/chat_page.js";

start({ page: "chat", title: "Chat", Page: ChatPage });

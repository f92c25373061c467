/** `/ui/tree`: see what the model sees of a conversation, and what it would have seen for another question. */

import { html, useEffect, useLayoutEffect, useMemo, useState } from "../vendor/preact.js";
import { confirmDialog } from "../shell/dialog.js";
import { Folded } from "../shell/folded.js";
import { start } from "../shell/frame.js";
import { count, counted } from "../shell/format.js";
import { Empty, Loading, Problem } from "../shell/states.js";
import { toast } from "../shell/toasts.js";
import { useAnswer } from "./asking.js";
import { forget, fromHash, parse, rename, toHash, useConversation } from "./conversation.js";
import { Explorer } from "./explorer.js";
import { History } from "./model/history.js";
import { ofAnswer, ofPlan } from "./model/picture.js";
import { usePins } from "./model/pins.js";
import { AnswerLine, DEFAULT_TARGET, DEMO_TARGET, EpochLine, QuestionBar } from "./question_bar.js";
import { chooseConversation, Sources, useFileDrop, useKnown } from "./sources.js";
import { LONGEST_TITLE, Title } from "./title.js";

function Page() {
  const [{ source, message }, setPlace] = useState(() => fromHash(location.hash));
  const [version, setVersion] = useState(0);
  const known = useKnown(version);
  const open = (next) => setPlace({ source: next, message: null });
  useAddress(source, setPlace);
  const [reading, setReading] = useState(false);
  const onFile = async (file) => {
    setReading(true);
    try {
      const next = await opened(file, source, known.rows, () => setReading(false));
      if (next) open(next);
    } catch (error) {
      told(error);
    }
    setReading(false);
  };
  const over = useFileDrop(onFile);
  const loaded = useConversation(source);
  const added = loaded.status === "ready" && source.kind !== "known";
  useEffect(() => {
    if (added) setVersion((number) => number + 1); // it is a known conversation now
  }, [added, source]);
  const forgotten = () => {
    open({ kind: "none" });
    setVersion((number) => number + 1);
  };
  const renamed = () => setVersion((number) => number + 1);
  return html`<div class=${`tree-page${loaded.status === "empty" ? " nothing" : ""}`}>
    <aside class="tree-sources" aria-label="Conversations">
      <${Folded} title="Conversations" closed=${loaded.status !== "empty"}
        ><${Sources} ...${{ source, known, onOpen: open, onFile }}
      /><//>
    </aside>
    ${loaded.status === "empty" && html`<${Nothing} onOpen=${open} />`}
    ${
      loaded.status === "loading" &&
      html`<div class="tree-wait">
        <p class="soft">
          ${
            source.kind === "known"
              ? "Reading the tree ..."
              : "Building the tree. A million tokens may take some seconds the first time."
          }
        </p>
        <${Loading} rows=${6} label="Reading the tree" />
      </div>`
    }
    ${
      loaded.status === "failed" &&
      html`<div class="tree-wait">
        <${Problem}
          error=${loaded.error}
          title="The tree could not be read"
          retry=${loaded.retry}
        />
      </div>`
    }
    ${
      loaded.status === "ready" &&
      html`<${Conversation}
        key=${identity(source)}
        ...${{ loaded, message, known, onForgotten: forgotten, onRenamed: renamed }}
      />`
    }
    ${
      (over || reading) &&
      html`<div class="tree-over" role="status">
        <p>${over ? "Drop the file to open it" : "Reading the file ..."}</p>
      </div>`
    }
  </div>`;
}

const numbers = new WeakMap();
let lastNumber = 0;

/** A source that is opened anew is drawn anew. */
function identity(source) {
  if (!numbers.has(source)) numbers.set(source, ++lastNumber);
  return numbers.get(source);
}

/** The address of the page names what is shown, so that it can be kept and shared; so do Back and Forward. */
function useAddress(source, setPlace) {
  useEffect(() => {
    const wanted = toHash(source);
    if (toHash(fromHash(location.hash).source) !== wanted)
      history.pushState(null, "", wanted === "#" ? location.pathname : wanted);
  }, [source]);
  useLayoutEffect(() => {
    const moved = () => setPlace(fromHash(location.hash));
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, []);
}

function Nothing({ onOpen }) {
  return html`<section class="tree-nothing" aria-label="Start">
    <${Empty} title="See what the model sees">
      <p>
        Open a conversation: its tree of summaries, what is quoted of it and why, and what would
        have been seen for another question or with fewer tokens.
      </p>
      <p>
        <button type="button" class="button primary" onClick=${() => onOpen({ kind: "demo" })}>
          Open the demo session
        </button>
      </p>
    <//>
  </section>`;
}

/** What is asked before anybody asks: for the newest user message, or the first question of the demo. */
function firstQuestion(history) {
  const query = history?.questions[0] ?? "";
  return { query, target: history?.origin === "demo" ? DEMO_TARGET : DEFAULT_TARGET };
}

const FOLDED = new Set(["packed", "provisional"]);

/** One conversation: the bar on top, and the tree below it. */
function Conversation({ loaded, message, known, onForgotten, onRenamed }) {
  const { model, history, plan, address, partial } = loaded;
  const [question, setQuestion] = useState(() => firstQuestion(history));
  const asked = useAnswer(history, question);
  const folded = FOLDED.has(asked.answer?.memory.state);
  const pins = usePins(folded ? asked.answer.memory.address : null);
  const picture = useMemo(() => {
    if (!history) return ofPlan(model, plan);
    return asked.answer ? ofAnswer(model, history, asked.answer) : null;
  }, [model, plan, asked.answer]);
  const at = address ?? asked.answer?.memory.address;
  const row = known.rows.find((each) => each.address === at);
  const title = useTitle({ history, row, at, known, onRenamed });
  const first = message === null ? (model.count ? 0 : -1) : Math.max(0, model.leafAt(message));
  // A new question shows its best excerpt; another target leaves the selection where it is.
  const focusOn = useMemo(
    () => (message === null && asked.about?.query ? { query: asked.about.query } : null),
    [asked.about?.query],
  );
  const remove = async () => {
    if (await forgetConfirmed({ history, address })) onForgotten();
  };
  return html` <section class="tree-top" aria-label="What is shown">
      <div class="tree-title-row">
        <${Title} ...${{ name: title || model.nodes[0]?.headline || "untitled", address: row?.address, onRenamed }} />
        ${
          history &&
          html`<span class="soft small-text tree-indexed"
            >Opening it indexed it under your key: summaries are stored, its messages are not.</span
          >`
        }
        <button type="button" class="button small" onClick=${remove}>
          Forget this conversation
        </button>
      </div>
      ${
        history
          ? html`<${Folded} title="Ask another question"
                ><${QuestionBar} ...${{ history, question }} onChange=${setQuestion}
              /><//>
              <${Answered} ...${{ asked, picture, history, plan }} />`
          : html`<${KnownBar} ...${{ row, plan, picture }} />`
      }
      ${partial && html`<${PartialNote} retry=${loaded.retry} />`}
    </section>
    ${
      model.count
        ? html`<${Explorer} ...${{ model, picture, history, first, focusOn, pins }} />`
        : html`<div class="tree-wait">
            <${Empty} title="No summaries yet"><p>There are too few messages for a tree.</p><//>
          </div>`
    }`;
}

/**
 * One title wherever the conversation is named: the server's. One that it learns from what was opened
 * gets the title that it has there, if it has one.
 */
function useTitle({ history, row, at, known, onRenamed }) {
  const [before] = useState(known); // what the server knew before it was opened
  const own = history?.title && !before.loading && !before.rows.some(({ address }) => address === at);
  const given = own && row ? history.title.slice(0, LONGEST_TITLE).trim() : "";
  useEffect(() => {
    if (given && given !== row.title) rename(at, given).then(onRenamed, () => {}); // not every title is taken
  }, [given]);
  return given || row?.title || history?.title || history?.file;
}

function PartialNote({ retry }) {
  return html`<p class="note warning">
    The server has not finished this tree: its newest part is missing.${" "}
    <button type="button" class="button small" onClick=${retry}>Look again</button>
  </p>`;
}

function Answered({ asked, picture, history, plan }) {
  if (asked.error) {
    return html`<${Problem}
      error=${asked.error}
      title="The question was not answered"
      retry=${asked.retry}
    />`;
  }
  return html`<${AnswerLine} ...${{ asked, picture, history }} />
    ${plan && html`<${EpochLine} plan=${plan} />`}`;
}

/** Which program posted it, and what project it is about. */
function placeOf({ client, project }) {
  const by = client && client !== "other" ? `, by ${client}` : "";
  return `${by}${project ? `, in ${project}` : ""}`;
}

function KnownBar({ row, plan, picture }) {
  const nodes = counted(plan.nodes.length, "summary", "summaries");
  const shown = `${nodes} and ${counted(picture.excerpts.length, "excerpt", "excerpts")}`;
  return html`<p class="tree-status">
      ${
        row &&
        html`<strong class="tree-numbers-big">${count(row.tokens)} tokens</strong>
          <span class="soft">${` in ${count(row.messages)} messages${placeOf(row)}. `}</span>`
      }
      ${plan.epoch && `The model sees ${shown} of it.`}
    </p>
    <${EpochLine} plan=${plan} />
    ${
      row &&
      html`<p class="tree-epoch">
        <a href=${`/ui/requests#conversation=${row.address}`}>Requests of this conversation</a>
      </p>`
    }
    <p class="soft small-text tree-kept">
      The server keeps no text of messages, so excerpts are places here. Drop the file of this
      conversation on the page to read them and to ask questions.
    </p>`;
}

/**
 * A file becomes a source: one of its conversations, with the address that it belongs to. null
 * where somebody thinks better of it. `onRead`: the server has read it, and there may be questions.
 */
async function opened(file, source, rows, onRead) {
  const address = source.kind === "known" ? source.address : null;
  const conversations = await parse(file, address);
  onRead();
  if (!conversations.length) throw new Error("There are no messages in this file.");
  const own = conversations.findIndex(({ belongs }) => belongs !== null && belongs !== undefined);
  let at = own;
  if (address && own < 0) {
    const title = rows.find((row) => row.address === address)?.title || "the open conversation";
    const anyway = await confirmDialog({
      title: "Another conversation",
      text: `"${file.name}" does not belong to "${title}". It can be opened on its own.`,
      confirm: "Open it on its own",
    });
    if (!anyway) return null;
  }
  if (at < 0) at = conversations.length === 1 ? 0 : await chooseConversation(conversations);
  if (at < 0) return null;
  const { title, messages, belongs, notes = [] } = conversations[at];
  if (notes.length) toast(`Not all of the file could be read as it stands: ${notes.join("; ")}.`);
  if (own >= 0)
    toast(
      `The file belongs to this conversation: its first ${count(belongs)} messages are those that the server knows.`,
      { kind: "success" },
    );
  return {
    kind: "history",
    history: new History(messages, { title, file: file.name, origin: "file" }),
    address: own >= 0 ? address : null,
  };
}

async function forgetConfirmed(target) {
  const sure = await confirmDialog({
    title: "Forget this conversation?",
    text: "Its summaries, its index and what was folded of it go. Your own copy of the messages stays as it is.",
    confirm: "Forget it",
    danger: true,
  });
  if (!sure) return false;
  try {
    const receipt = await forget(target);
    toast(`Forgotten: ${count(receipt.nodes)} nodes are gone.`, { kind: "success" });
    return true;
  } catch (error) {
    told(error);
    return false;
  }
}

function told(error) {
  if (error?.name !== "AbortError") toast(error.message, { kind: "problem" });
}

start({ page: "tree", title: "Tree", Page });

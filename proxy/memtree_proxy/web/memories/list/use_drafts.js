/**
 * What a person is writing, kept apart from the cards and their list: a card that scrolls out of
 * sight, or whose memory somebody else changes or deletes, loses nothing of it, nor does a list
 * that is closed.
 *
 * @typedef {object} Draft
 * @property {import("../rows.js").Memory} base What the memory was when the edit began.
 * @property {{text: string, category: string, tags: string, expires: string}} fields
 * @property {boolean} saving
 * @property {Error|null} error Why the last attempt failed; the text is still here.
 * @property {import("../rows.js").Memory|null} theirs What somebody else made of it meanwhile.
 * @property {boolean} gone Somebody deleted it meanwhile.
 * @property {string|null} [begunWith] The key that the memory was read with.
 * @property {boolean} [fresh] The edit was begun just now: its field takes the focus.
 */
import { useCallback, useLayoutEffect, useReducer } from "../../vendor/preact.js";
import { draftsOf, keepDraft, onDrafts } from "./drafts.js";

/** @returns {Draft} */
export function draftOf(memory) {
  const fields = {
    text: memory.text,
    category: memory.category,
    tags: memory.tags.join(", "),
    expires: (memory.expires || "").slice(0, 10),
  };
  return { base: memory, fields, saving: false, error: null, theirs: null, gone: false };
}

/** What a draft changes of its memory; an empty object where nothing. */
export function changesOf({ base, fields }, source) {
  const before = draftOf(base).fields;
  const changes = {};
  const text = fields.text.trim();
  if (text !== before.text.trim()) changes.text = text;
  if (source.kind !== "agent" && fields.category && fields.category !== before.category) {
    changes.category = fields.category.trim();
  }
  if (fields.tags !== before.tags) changes.tags = tagsOf(fields.tags);
  if (source.kind !== "chat" && fields.expires !== before.expires) {
    changes.expires = fields.expires || null;
  }
  return changes;
}

/** Tags as they are typed, with commas between them. */
export function tagsOf(text) {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
}

/** Drafts by the id of their memory. */
export function useDrafts(source, { put, drop }) {
  const [, redraw] = useReducer((turn) => turn + 1, 0);
  useLayoutEffect(() => onDrafts(redraw), []);

  const set = useCallback(
    (id, draft) => {
      const was = draftsOf(source).get(id);
      keepDraft(source, id, typeof draft === "function" ? draft(was) : draft);
    },
    [source.key],
  );

  /** `version`: another one than the draft began with, which the person has seen. */
  const save = useCallback(
    async (id, version) => {
      const kept = draftsOf(source).get(id);
      if (!kept || kept.saving) return null;
      const draft = version ? { ...kept, base: { ...kept.base, version }, theirs: null } : kept;
      const changes = changesOf(draft, source);
      if (!Object.keys(changes).length) {
        set(id, null);
        return draft.base;
      }
      set(id, { ...draft, saving: true, error: null });
      try {
        const memory = await source.change(draft.base, changes);
        if (memory.id !== id) drop([id]);
        put(memory);
        set(id, null);
        return memory;
      } catch (error) {
        const found = await whatHappened(source, id, error);
        if (found.theirs) put(found.theirs);
        set(id, (was) => was && { ...was, saving: false, ...found });
        return null;
      }
    },
    [source.key],
  );
  return { drafts: draftsOf(source), set, save };
}

/** Somebody was faster, or it failed for another reason. */
async function whatHappened(source, id, error) {
  if (error.status === 404) return { gone: true, error: null };
  if (error.code !== "version_conflict") return { error };
  try {
    return { theirs: await source.get(id), error: null };
  } catch (second) {
    return second.status === 404 ? { gone: true, error: null } : { error: second };
  }
}

/**
 * What a person does with memories: each at once on the screen, then on the server, and back where
 * that fails.
 *
 * @typedef {Record<string, (...args: any[]) => any>} Actions Each is given the memory first.
 */
import { useMemo, useRef } from "../../vendor/preact.js";
import { count } from "../../shell/format.js";
import { key } from "../../shell/key.js";
import { toast } from "../../shell/toasts.js";
import { excerpt } from "../card/labels.js";
import { withdrawReplacement } from "../remember.js";
import { changesOf, draftOf } from "./use_drafts.js";

const UNDO = 10; // seconds
const TOGETHER = 1_000; // ids in one request

/**
 * @param {import("../sources.js").Source} source
 * @param {object} memories As `useMemories` gives them.
 * @param {object} edits As `useDrafts` gives them.
 * @param {{toggle: (memory: object) => void, history: (memory: object) => void,
 *   focus: (id: string) => void, neighbour: (ids: string[]) => string|null}} view
 * @returns {Actions}
 */
export function useActions(source, memories, edits, view) {
  const latest = useRef(null);
  latest.current = { memories, edits, view };
  return useMemo(() => {
    const of = () => latest.current;
    return {
      toggle: (memory) => of().view.toggle(memory),
      history: (memory) => of().view.history(memory),
      ...editing(source, of),
      ...deleting(source, of),
      ...judging(source, of),
    };
  }, [source.key]);
}

function editing(source, of) {
  return {
    async edit(memory) {
      const { edits } = of();
      if (edits.drafts.has(memory.id)) return;
      try {
        const base = memory.version === null ? await source.get(memory.id) : memory;
        edits.set(memory.id, { ...draftOf(base), begunWith: key(), fresh: true });
      } catch (error) {
        problem("It cannot be edited", error);
      }
    },
    /** The field of an edit has the focus: it takes it once, not whenever it is drawn again. */
    begun: (memory) => of().edits.set(memory.id, (was) => was && { ...was, fresh: false }),
    write: (memory, fields) =>
      of().edits.set(memory.id, (was) => ({ ...was, fields: { ...was.fields, ...fields } })),
    cancel(memory) {
      if (of().edits.drafts.get(memory.id)?.gone) of().memories.drop([memory.id]);
      of().edits.set(memory.id, null);
      of().view.focus(memory.id);
    },
    /** `theirs`: what somebody else made of it, which the person has seen and writes over. */
    async save(memory, theirs) {
      const { edits, view } = of();
      const saved = await edits.save(memory.id, theirs?.version);
      if (saved) view.focus(saved.id);
    },
    async saveAsNew(memory) {
      const draft = of().edits.drafts.get(memory.id);
      const { text, category, tags } = { ...draft.base, ...changesOf(draft, source) };
      of().edits.set(memory.id, (was) => ({ ...was, saving: true, error: null }));
      try {
        const made = await source.create(text, { category, tags });
        of().edits.set(memory.id, null);
        of().memories.drop([memory.id]);
        of().memories.put(made.memory);
        of().view.focus(made.memory.id);
      } catch (error) {
        of().edits.set(memory.id, (was) => was && { ...was, saving: false, error });
      }
    },
  };
}

function deleting(source, of) {
  const undelete = async (rows) => {
    try {
      const back = [];
      for (let at = 0; at < rows.length; at += TOGETHER) {
        back.push(...(await source.undelete(rows.slice(at, at + TOGETHER))));
      }
      back.forEach((memory) => of().memories.put(memory));
      if (back.length < rows.length) {
        toast("Some of them are erased and cannot be brought back.", { kind: "problem" });
      } else if (rows.length === 1) of().view.focus(rows[0].id);
      of().memories.setTotal(await source.count());
    } catch (error) {
      of().memories.reload();
      problem("They cannot be brought back", error, () => undelete(rows));
    }
  };
  const withdraw = (rows) => rows.forEach((row) => withdrawReplacement(source, row.id));
  const removeMany = async (rows) => {
    const next = of().view.neighbour(rows.map((row) => row.id));
    of().memories.drop(rows.map((row) => row.id));
    try {
      if (rows.length === 1) await source.remove(rows[0].id);
      for (let at = 0; rows.length > 1 && at < rows.length; at += TOGETHER) {
        const ids = rows.slice(at, at + TOGETHER).map((row) => row.id);
        await source.removeMany({ ids });
      }
    } catch (error) {
      if (error.status === 404) return withdraw(rows);
      rows.forEach((row) => of().memories.put(row));
      problem("It was not deleted", error, () => removeMany(rows));
      return;
    }
    of().memories.forget(rows.map((row) => row.id)); // a list that was asked for before may hold them
    withdraw(rows);
    const text =
      rows.length === 1
        ? `Deleted: ${excerpt(rows[0].text, 40)}`
        : `${count(rows.length)} memories deleted.`;
    const action = { label: "Undo", run: () => undelete(rows) };
    toast(text, { kind: "success", seconds: UNDO, action });
    if (next) of().view.focus(next);
    of().memories.setTotal(await source.count().catch(() => null));
  };
  const back = (rows) => {
    of().memories.drop(rows.map((row) => row.id));
    return undelete(rows);
  };
  return {
    remove: (memory) => removeMany([memory]),
    removeMany,
    undelete: (memory) => back([memory]),
    undeleteMany: (rows) => back(rows),
  };
}

function judging(source, of) {
  return {
    async confirm(memory) {
      try {
        of().memories.put(await source.confirm(memory.id));
        of().view.focus(memory.id);
      } catch (error) {
        problem("It was not confirmed", error);
      }
    },
    async replace(memory, older) {
      try {
        const merged = await source.replace(memory.id, older.id);
        withdrawReplacement(source, older.id);
        of().memories.drop([older.id]);
        of().memories.put(merged);
        of().view.focus(merged.id);
        toast("Replaced. What the older one said stays in the history.", { kind: "success" });
      } catch (error) {
        if (error.status === 404) withdrawReplacement(source, older.id);
        problem("It was not replaced", error);
      }
    },
    async keepBoth(memory, older) {
      try {
        of().memories.put(await source.keepBoth(memory.id, older.id));
        of().view.focus(memory.id);
      } catch (error) {
        if (error.status === 404) withdrawReplacement(source, older.id);
        problem("That was not kept", error);
      }
    },
    async pin(memory) {
      try {
        of().memories.put(await source.pin(memory, !memory.standing));
        of().view.focus(memory.id);
      } catch (error) {
        problem("It was not changed", error);
      }
    },
  };
}

/** Say what failed; `again` tries it once more. */
export function problem(what, error, again) {
  const action = again ? { label: "Try again", run: again } : null;
  toast(`${what}. ${error.message}`, { kind: "problem", seconds: 12, action });
}

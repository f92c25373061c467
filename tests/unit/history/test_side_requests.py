"""Check what clients ask for themselves, and what stands before a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memtree.errors import BadRequest
from memtree.history import side_requests
from memtree.history.chat_history import read
from memtree.history.conversation_beginning import NONE, preamble
from memtree.history.message import Message, Volatile
from memtree.history.side_requests import is_side
from memtree.text import tokens

# ------------------------------------------------------------------------------------------------
# Check what clients ask for themselves, in the shapes they send it, and turns that look alike.
#
# The orders are shortened: the sentences that carry them stand as the clients send them (as read in
# their sources or captured), the rest is cut.


AGENT = "You are a coding agent. Use the tools. When the task is completed, summarize what you did."
TRANSCRIPT = "\n".join(
    f"[User]: step {n}\n[Assistant]: done {n}, see src/app.py" for n in range(900)
)


def turn(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


HISTORY = [
    turn("user", "Find the bug in the parser."),
    turn("assistant", "It is in line 40."),
    turn("user", "Fix it, then explain."),
    turn("assistant", "Done: a guard against zero."),
]


def asked(
    newest: Any, *, system: str | None = AGENT, history: bool = True, tools: bool = False
) -> bool:
    first = [turn("system", system)] if system else []
    between = HISTORY if history else []
    last = [turn("user", newest)] if newest is not None else []
    return is_side([Message.of(one) for one in (*first, *between, *last)], tools=tools)


# ------------------------------------------------------------ an order in the newest message

DETAILED = (
    "Your task is to create a detailed summary of the conversation so far, paying close attention "
    "to the user's explicit requests and your previous actions.\nThis summary should be thorough "
    "in capturing technical details that would be essential for continuing development work "
    "without losing context.\n\nBefore providing your final summary, wrap your analysis in "
    "<analysis> tags.\nYour summary should include the following sections:\n"
    "1. Primary Request and Intent: ...\n2. Key Technical Concepts: ..."
)
NEWEST = {
    "Claude Code": "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- Do NOT use Read, "
    f"Bash or ANY other tool.\n- Tool calls will be REJECTED.\n\n{DETAILED}",
    "Zed": DETAILED,
    "Codex": "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for "
    "another LLM that will resume the task.\n\nInclude:\n- Current progress",
    "opencode 1": "Provide a detailed prompt for continuing our conversation above. Focus on what "
    "we did, considering new session will not have access to our conversation.",
    "opencode 2": "Create a new anchored summary from the conversation history above.\n\nOutput "
    "exactly the Markdown structure shown inside <template>.\n## Goal\n## Key Decisions\n"
    "## Next Steps\n\nRules:\n- Preserve exact file paths.",
    "opencode 3": "Update the anchored summary below using the conversation history above.\n"
    "Preserve still-true details.\n<previous-summary>\n## Goal\n</previous-summary>",
    "Continue": "Create a comprehensive summary of this conversation that captures all essential "
    "information needed to continue the work seamlessly. Structure your response to preserve "
    "technical accuracy.\n\nYour summary should include:\n\n1. **Conversation Overview**: ...",
    "Continue CLI": "Please provide a concise summary of our conversation so far, capturing the "
    "key context, decisions made, and current state. Format this as a single comprehensive "
    "message that preserves all important information needed to continue our work.",
    "crush": "The conversation context above needs to be compacted. Summarize the key information "
    "into a detailed context summary so work can continue without losing important details.\n\n"
    "**Critical**: This summary will be the ONLY context available when the conversation resumes.",
    "Qwen Code, gemini-cli": "First, reason in your scratchpad. Then, generate the "
    "<state_snapshot>.",
    "gemini-cli, who speaks next": "Analyze *only* the content and structure of your immediately "
    "preceding response. Based *strictly* on it, determine who should logically speak next: the "
    "'user' or the 'model'.",
    "LangChain": "Distill the above chat messages into a single summary message. Include as many "
    "specific details as you can.",
    "SillyTavern": "Ignore previous instructions. Summarize the most important facts and events "
    "in the story so far. Limit the summary to 200 words or less. Your response should include "
    "nothing but the summary.",
    "NextChat": "Summarize the discussion briefly in 200 words or less to use as a prompt for "
    "future context.",
    "NextChat, title": "Please generate a four to five word title summarizing our conversation "
    "without any lead-in, punctuation, quotation marks, periods, symbols, or additional text.",
    "Zed, title": "Generate a concise 3-7 word title for this conversation, omitting punctuation. "
    "Go straight to the title, without any preamble.",
    "LibreChat, title": "Provide a concise, 5-word-or-less title for the conversation, using title "
    "case conventions. Only return the title itself.",
    "a user who wants to go on elsewhere": "Please summarize our conversation so that I can paste "
    "it into a new chat and another model can continue the work.",
}


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("client", NEWEST)
def test_an_order_in_the_newest_message(client: str, tools: bool) -> None:
    assert asked(NEWEST[client], tools=tools)


@pytest.mark.parametrize("client", NEWEST)
def test_it_may_stand_in_a_part_of_its_own(client: str) -> None:
    reminder = "<system-reminder>\nThe date is today.\n</system-reminder>"
    parts = [{"type": "text", "text": text} for text in (reminder, NEWEST[client])]
    assert asked(parts, tools=True)
    assert asked(f"{reminder}\n{NEWEST[client]}", tools=True)


def test_it_may_stand_in_a_part_of_the_responses_api() -> None:
    order = "Summarize our conversation. Another agent will continue from your summary."
    asked = turn("user", [{"type": "input_text", "text": order}])
    assert is_side([Message.of(one) for one in (*HISTORY, asked)], tools=False)
    plain = turn("user", [{"type": "input_text", "text": "Fix it, please."}])
    assert not is_side([Message.of(one) for one in (*HISTORY, plain)], tools=False)


def test_cline_puts_it_behind_what_tools_gave() -> None:
    order = (
        '<explicit_instructions type="summarize_task">\nThe current conversation is rapidly '
        "running out of context. Now, your urgent task is to create a detailed, comprehensive "
        "summary of the conversation so far.\n</explicit_instructions>"
    )
    parts = [
        {"type": "text", "text": "[read_file for 'src/app.py'] Result:\n" + "x = 1\n" * 3_000},
        {"type": "text", "text": order},
        {"type": "text", "text": "<environment_details>\n# Time\nnoon\n</environment_details>"},
    ]
    assert asked(parts, tools=True)


def test_an_order_behind_the_history_as_a_system_message() -> None:
    posted = [turn("system", "You are Ada."), *HISTORY, turn("system", NEWEST["SillyTavern"])]
    assert is_side([Message.of(one) for one in posted], tools=False)


# ------------------------------------------------------------ a history inside of one message

ALONE = {
    "Cline CLI": "Summarize this session for continuation. Be concise and factual.\n\n## Goal\nOne "
    f"sentence.\n\nConversation:\n{TRANSCRIPT}",
    "pi": f"<conversation>\n{TRANSCRIPT}\n</conversation>\n\nThe messages above are a conversation "
    "to summarize. Create a structured context checkpoint summary that another LLM will use to "
    "continue the work.\n\nUse this EXACT format:\n\n## Goal\n## Next Steps",
    "pi, the second time": f"<conversation>\n{TRANSCRIPT}\n</conversation>\n\n<previous-summary>\n"
    "...\n</previous-summary>\n\nThe messages above are NEW conversation messages to incorporate "
    "into the existing summary provided in <previous-summary> tags.\n\nUpdate the existing "
    "structured summary with new information.",
    "opencode": f"Here is the conversation so far:\n\n<conversation>\n{TRANSCRIPT}\n"
    "</conversation>\n\nCreate a new anchored summary from the conversation history in the "
    "<conversation> tags above so another coding agent can continue the work.",
    "OpenHands": "You are maintaining a context-aware state summary for an interactive agent.\nYou "
    "will be given a list of events, and the most recent previous summary if one exists.\n\n"
    f"<EVENT id=1>\n{TRANSCRIPT}\n</EVENT>",
    "Open WebUI, title": "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing "
    f"the chat history.\n### Chat History:\n<chat_history>\n{TRANSCRIPT}\n</chat_history>",
    "Open WebUI, follow-ups": "### Task:\nSuggest 3-5 relevant follow-up questions that the user "
    f"might naturally ask next.\n### Chat History:\n<chat_history>\n{TRANSCRIPT}\n</chat_history>",
    "Open WebUI, queries": "### Task:\nAnalyze the chat history to determine the necessity of "
    f"generating search queries.\n<chat_history>\n{TRANSCRIPT}\n</chat_history>",
    "LangChain, old": "Progressively summarize the lines of conversation provided, adding onto the "
    f"previous summary returning a new summary.\n\nNew lines of conversation:\n{TRANSCRIPT}",
    "LibreChat, title": "Provide a concise, 5-word-or-less title for the conversation, using title "
    f"case conventions. Only return the title itself.\n\nConversation:\n{TRANSCRIPT}",
    "Roo, Kilo, commit message": "Generate a conventional commit message for the following staged "
    f"changes:\n\n{TRANSCRIPT}",
    "a better prompt": "Generate an enhanced version of this prompt (reply with only the enhanced "
    f"prompt):\n\n{TRANSCRIPT}",
}


@pytest.mark.parametrize("client", ALONE)
def test_a_history_in_one_message(client: str) -> None:
    assert asked(ALONE[client], system=None, history=False)
    assert asked(ALONE[client], history=False)


# ------------------------------------------------------------ an order in the system prompt

SYSTEM = {
    "Roo Code": (DETAILED, "Summarize the conversation so far, as described in the prompt."),
    "Cline CLI": (
        "Summarize the provided coding session into a concise continuation note.",
        TRANSCRIPT,
    ),
    "pi": (
        "You are a context summarization assistant. Your task is to read a conversation between a "
        "user and an AI coding assistant, then produce a structured summary.",
        TRANSCRIPT,
    ),
    "opencode": (
        "You are a helpful AI assistant tasked with summarizing conversations.\n\nWhen asked to "
        "summarize, provide a detailed but concise summary of the conversation.",
        "What did we do so far?",
    ),
    "opencode, anchored": (
        "You are an anchored context summarization assistant for coding sessions.",
        TRANSCRIPT,
    ),
    "opencode, title": (
        "You are a title generator. You output ONLY a thread title. Nothing else.",
        "Generate a title for this conversation:\n",
    ),
    "aider": (
        "*Briefly* summarize this partial conversation about programming.\nInclude less detail "
        "about older parts.",
        f"# USER\n{TRANSCRIPT}",
    ),
    "aider, commit message": (
        "You are an expert software engineer.\nReview the provided context and diffs which are "
        "about to be committed to a git repo.\nGenerate a commit message for those changes.",
        TRANSCRIPT,
    ),
    "goose": ("## Summary Task\nGenerate detailed summary of conversation to date.", TRANSCRIPT),
    "crush": (
        "You are summarizing a conversation to preserve context for continuing work later.",
        "Provide a detailed summary of our conversation above.",
    ),
    "Qwen Code, gemini-cli": (
        "You are the component that summarizes internal chat history into a given structure.",
        "Go.",
    ),
    "LangGraph": ("<role>\nContext Extraction Assistant\n</role>", TRANSCRIPT),
    "Letta": (
        "Your job is to summarize a history of previous messages in a conversation between an AI "
        "persona and a human.",
        TRANSCRIPT,
    ),
    "chat templates": (
        "you will generate a short title based on the first message a user begins a conversation "
        "with",
        "Hello there",
    ),
    "VS Code": (
        "Your task is to create a comprehensive, detailed summary of the entire conversation.",
        "Summarize the conversation history so far.",
    ),
}


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("client", SYSTEM)
def test_an_order_in_the_system_prompt(client: str, history: bool) -> None:
    system, newest = SYSTEM[client]
    assert asked(newest, system=system, history=history)


def test_a_history_that_ends_with_the_assistant_under_such_a_system_prompt() -> None:
    system, _ = SYSTEM["opencode"]
    assert asked(None, system=system)


# ------------------------------------------------------------ turns like any other

DOCUMENTS = [
    f"Write a summary of this document for my boss.\n\n{TRANSCRIPT}",
    f"{TRANSCRIPT}\n\nSummarize the chat above, who said what?",
    f"What is wrong here?\n\n{TRANSCRIPT}",
    f"Translate this conversation into French:\n{TRANSCRIPT}",
]


@pytest.mark.parametrize("words", DOCUMENTS)
def test_a_first_message_with_a_long_text(words: str) -> None:
    assert not asked(words, history=False)
    assert not asked(words)
    assert not asked(words, system=None, history=False)


TURNS = [
    "Summarize what we did today.",
    "Please summarize our conversation.",
    "Can you summarize the discussion in three bullet points?",
    "Summarize the chat so far and tell me what is left to do.",
    "tl;dr of this conversation please",
    "Give me a recap of this session, then fix the next bug.",
    "Create a summary of the previous messages and save it to NOTES.md.",
    "Summarize the history of the Roman Empire in 200 words, without any quotes.",
    "Write a commit message for these changes.",
    "Commit this with a good commit message and push, then continue with the task.",
    "Write a title for my blog post about conversations with old people, 5 words at most.",
    "What would be a good title for this conversation?",
    "Continue.",
    "continue the conversation between Ada and Ben",
    "Write a prompt that asks another LLM to create a detailed summary of the conversation so far, "
    "so that it can continue the work without losing context.",
    "How does Claude Code compact its context? I read that it says 'your task is to create a "
    "detailed summary of the conversation so far'.",
    "Implement the compaction: when the context window is full, summarize the conversation and "
    "replace the history with the summary, without losing context.",
    "Fix the bug in summarize(): it must return JSON only, a single line.",
    "Compress the images in assets/ and update the history page. Preserve their names.",
    "Condense the session handling into one class; must include tests, next steps in TODO.md.",
    "What are the next steps? Summarize them in the following format: ## Goal ## Done",
    "### Task:\nRespond to the user query using the provided context, incorporating inline "
    "citations.\n<context>\n<source id=1>the chat history of mankind</source>\n</context>\nWhy?",
    "### Task: refactor the chat history panel\nMove it to its own file.",
    "Extract the names of all people in this conversation.",
    "Generate names for the chat rooms of my game, JSON, 10 of them.",
    "Create tags for the messages table and a topic index, then run the migrations.",
    "",
]


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("words", TURNS)
def test_a_turn_like_any_other(words: str, tools: bool) -> None:
    assert not asked(words, tools=tools)
    assert not asked([{"type": "text", "text": words}], tools=tools)


SYSTEMS = [
    AGENT,
    "You are Ada, a kind friend. Continue the conversation in her voice.",
    "You are a helpful AI assistant demonstrating an extension.\nThis agent compacts long "
    "conversations on its own to stay within the limits.",
    "You are an assistant for a summary writing course. Help the students with their essays.",
    "You are a headline writer. Generate titles for blog posts.",
    "You help with git. When the user asks, create a commit message in the imperative.",
    "You are an interactive CLI agent.\n# Compaction\nOlder messages are summarized for you when "
    "the conversation gets long. Continue as if nothing had happened.",
    "The conversation so far was summarized; the summary follows.\n## Goal\nShip it.",
]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_prompt_of_an_ordinary_chat(system: str) -> None:
    assert not asked("And then?", system=system)
    assert not asked("And then?", system=system, tools=True)


def test_an_agent_at_work_is_no_side_request() -> None:
    posted = [
        turn("system", AGENT),
        turn("user", "Fix it."),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": DETAILED},
    ]
    assert not is_side([Message.of(one) for one in posted], tools=True)


def test_an_order_of_long_ago_does_not_count() -> None:
    posted = [turn("system", AGENT), turn("user", DETAILED), turn("assistant", "1. ...")]
    posted += [*HISTORY, turn("user", "Go on with it.")]
    assert not is_side([Message.of(one) for one in posted], tools=True)


def test_odd_histories() -> None:
    assert not is_side([], tools=False)
    assert not is_side([Message.of(turn("system", AGENT))], tools=False)
    assert not is_side([Message.of(turn("assistant", DETAILED))], tools=False)
    assert not is_side([Message.of(turn("user", None))], tools=False)


def test_few_messages_are_read_whatever_the_length() -> None:
    posted = [Message.of(turn("system", AGENT))]
    posted += [Message.of(turn("user", f"step {n}")) for n in range(5_000)]
    assert not is_side(posted, tools=False)
    read = [at for at, message in enumerate(posted) if message._fields is not None]
    assert len(read) <= side_requests.LEADING + 1


@pytest.mark.parametrize("bad", [b"{", b'"\xff"'])
def test_a_message_that_cannot_be_read_is_named(bad: bytes) -> None:
    with pytest.raises(BadRequest, match=r"messages\[1\]"):
        is_side([Message.of(turn("user", "hi")), Message(bad)], tools=False)


# ------------------------------------------------------------------------------------------------
# Standing context of the first user message: what is carried when that message is folded.


RULES = "<system-reminder>\nAlways use tabs.\n</system-reminder>"
STATUS = "<system-reminder>On branch main</system-reminder>"
AGENTS = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nUse tabs\n</INSTRUCTIONS>"
CODEX = "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>"
DETAILS = "<environment_details>12:00</environment_details>"


def history(*contents, first="user"):
    roles = [first] + ["user"] * len(contents)
    posted = [Message.of({"role": "system", "content": "S"})]
    posted += [Message.of({"role": r, "content": c}) for r, c in zip(roles, contents, strict=False)]
    posted.append(Message.of({"role": "assistant", "content": "Well."}))
    return read("t", posted, Volatile())


def tagged(posted, *tags):
    return replace(posted, volatile=Volatile(carried=tags))


def text(value):
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("content", "carried"),
    [
        (f"{RULES}\nDo it.", RULES),
        (f"{RULES}\n{STATUS}\n\nDo it.", f"{RULES}\n\n{STATUS}"),
        (f"  {AGENTS}\n{CODEX} Go.", f"{AGENTS}\n\n{CODEX}"),
        (f"{DETAILS}{RULES}Do it.{STATUS}", RULES),
        (f"Do it.\n{RULES}", ""),
        ("<system-reminder>never closed. Do it.", ""),
        ("<INSTRUCTIONS>mine</INSTRUCTIONS> Do it.", ""),
        (DETAILS, ""),
        ("", ""),
        (None, ""),
    ],
)
def test_blocks_before_the_first_other_text_of_a_string(content, carried):
    found = preamble(history(content))
    assert (found.text, found.parts) == (carried, ())
    assert found.tokens == tokens.count(carried)
    assert bool(found) == bool(carried)


def test_parts_that_hold_nothing_else():
    image = {"type": "image_url", "image_url": {}}
    parts = [RULES, "Do it.", f"{STATUS}\n", DETAILS, f"{STATUS} now"]
    found = preamble(history([*map(text, parts), image]))
    assert found.parts == ((1, 0), (1, 2))
    assert found.text == ""


def test_messages_that_hold_nothing_but_blocks_are_passed_over():
    assert preamble(history([text(AGENTS), text(CODEX)], [text(RULES), text("Go.")], [text(STATUS)])
                    ).parts == ((1, 0), (1, 1), (2, 0))  # fmt: skip
    assert preamble(history(AGENTS, f"{CODEX}\nGo.", RULES)).text == f"{AGENTS}\n\n{CODEX}"
    assert preamble(history(AGENTS, [text(CODEX)])).text == AGENTS


def test_the_first_message_of_the_user_may_come_later():
    assert preamble(history("Hello!", f"{RULES} Go.", first="assistant")).text == RULES


def test_only_folded_messages_are_read():
    posted = history(AGENTS, f"{CODEX}\nGo.")
    assert preamble(posted, end=1).text == AGENTS
    assert preamble(posted, end=0) == NONE
    assert preamble(posted, start=1).text == CODEX


def test_tags_are_a_setting():
    posted = history(f"{RULES}{CODEX}{DETAILS}Go.")
    assert preamble(tagged(posted, "environment_details")).text == DETAILS
    assert preamble(tagged(posted)) == NONE


def test_a_changed_block_changes_no_address():
    assert history(f"{RULES} Go.").addresses == history(f"{STATUS} Go.").addresses
    assert history(f"{AGENTS} Go.").addresses == history(" Go.").addresses


def test_a_history_without_a_user():
    posted = [Message.of({"role": "assistant", "content": RULES})]
    assert preamble(read("t", posted, Volatile())) == NONE

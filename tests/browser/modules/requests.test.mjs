import assert from "node:assert/strict";
import test from "node:test";

process.env.TZ = "America/New_York"; // five hours behind, four in summer
const web = "../../../proxy/memtree_proxy/web/requests";
const { begin, bounds, dayOf, readHash, writeHash } = await import(`${web}/place.js`);
const { byConversation, merged, parts, percentile, withRow } = await import(`${web}/row_sums.js`);
const { byGroup } = await import(`${web}/../state/days/state_groups.js`);

const NOW = new Date("2026-03-10T02:30:00Z"); // the evening before, over there

test("days are those of the browser's time zone", () => {
  assert.equal(dayOf(NOW), "2026-03-09");
  const { since, until } = bounds({ period: "day", day: "2026-03-08" }, NOW); // clocks go forward
  assert.equal(since.toISOString(), "2026-03-08T05:00:00.000Z");
  assert.equal(until.toISOString(), "2026-03-09T04:00:00.000Z");
  assert.equal(parts([], { since, until }).length, 23);
  assert.equal(dayOf(begin("2026-03-01", -1)), "2026-02-28");
});

test("what is shown is in the address, and comes back", () => {
  const today = { period: "day", day: "2026-03-09", filter: {}, request: null };
  assert.deepEqual(readHash("", NOW), today);
  assert.equal(writeHash(today, NOW), "");
  for (const hash of ["#day=2026-03-01&state=packed&request=0a", "#period=hour&client=codex"])
    assert.equal(writeHash(readHash(hash, NOW), NOW), hash);
  assert.equal(readHash("#conversation=ab", NOW).period, "all");
  for (const day of ["2026-02-31", "x", "2026-13-01"])
    assert.equal(readHash(`#day=${day}`, NOW).day, "2026-03-09");
});

const row = (id, time, fields = {}) => ({
  id, time, title: "", address: null, epoch: null, state: "packed",
  posted_tokens: null, sent_tokens: null, saved_tokens: 0, ...fields,
});

test("rows are listed once, the newest first", () => {
  const known = [row("b", "2026-03-09T12:00:00Z")];
  const all = merged(known, [row("a", "2026-03-09T11:00:00Z"), row("b", "2026-03-09T12:00:00Z"), row("c", "2026-03-09T13:00:00Z")]);
  assert.deepEqual(all.map(({ id }) => id), ["c", "b", "a"]);
});

test("conversations add up to the whole", () => {
  const rows = [
    row("a", "2026-03-09T12:00:00Z", { title: "One", address: "1", posted_tokens: 10, sent_tokens: 4, saved_tokens: 5, epoch: "e" }),
    row("b", "2026-03-09T12:00:01Z", { title: "One", address: "2", posted_tokens: 20, sent_tokens: 5, saved_tokens: -2 }),
    row("c", "2026-03-09T12:00:02Z"),
  ];
  const none = { requests: 0, folded: 0, posted_tokens: 0, sent_tokens: 0, saved_tokens: 0 };
  const sum = rows.reduce(withRow, none);
  assert.deepEqual(sum, { requests: 3, folded: 2, posted_tokens: 30, sent_tokens: 9, saved_tokens: 3 });
  const young = ["3", "4", "5"].map((address) => row(address, "2026-03-09T12:00:03Z", { address, conversation: "3" }));
  assert.deepEqual(byConversation([...young, ...rows]).map(({ requests }) => requests), [2, 3, 1]);
  const groups = byConversation(rows);
  assert.deepEqual(groups.map(({ requests }) => requests), [2, 1]);
  for (const name of Object.keys(none))
    assert.equal(groups.reduce((total, group) => total + group[name], 0), sum[name]);
});

test("an hour in parts of five minutes", () => {
  const since = new Date("2026-03-09T12:00:00Z");
  const until = new Date("2026-03-09T13:00:00Z");
  const rows = [row("a", "2026-03-09T12:04:59Z"), row("b", "2026-03-09T12:05:00Z", { state: null }), row("c", "2026-03-09T14:00:00Z"),
    row("d", "2026-03-09T12:11:00Z", { state: null, status: 499 }), row("e", "2026-03-09T12:12:00Z", { status: 499 })];
  const found = parts(rows, { since, until });
  assert.equal(found.length, 12);
  const [first, second, third] = found.map(({ requests }) => requests);
  assert.deepEqual([first, second, third], [{ packed: 1 }, { none: 1 }, { cancelled: 1, packed: 1 }]);
  assert.equal(byGroup(third).refused, 0);
});

test("percentiles", () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile([null, 7], 0.95), 7);
  const numbers = Array.from({ length: 100 }, (_, at) => 100 - at);
  assert.deepEqual([percentile(numbers, 0.5), percentile(numbers, 0.95)], [50, 95]);
});

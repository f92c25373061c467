"""Lua scripts for changes that Redis must make atomically. They need a single server, since they
construct keys from names.

    memtree:ledger:STAGE:TENANT   hash: job -> entry (JSON: numbers and addresses), `rev`
    memtree:line:STAGE:TENANT:P   sorted set: jobs that wait, by turn; P: i, or b (backfill)
    memtree:out:STAGE:TENANT      hash: job -> its ticket: P, and `r` behind it once a worker began
    memtree:later:STAGE           sorted set: "TENANT JOB" by the time before which it must not run
    memtree:tenants:STAGE         set: tenants with a ledger
    memtree:payload:JOB           what `payloads.py` packs; memtree:work:JOB: its works' short ids
    memtree:lease:JOB             the worker that holds it; expires when that worker dies
    memtree:life                  a random name, which lasts as long as Redis keeps its data

A ticket is an RQ job. Of one tenant and priority at most `TICKETS` are out, so that the first place
in RQ's queue is never many slices away from anybody else.
"""

TICKETS = 4
KEEP_LEDGER = 172_800  # seconds without any change: two days

# Begins every script.
COMMON = (
    f"local TICKETS, KEEP = {TICKETS}, {KEEP_LEDGER}\n"
    + """
local stage, tenant = ARGV[1], ARGV[2]
local ledger = 'memtree:ledger:' .. stage .. ':' .. tenant
local out = 'memtree:out:' .. stage .. ':' .. tenant
local tenants, later = 'memtree:tenants:' .. stage, 'memtree:later:' .. stage
local function line(p) return 'memtree:line:' .. stage .. ':' .. tenant .. ':' .. p end
local function turn() return redis.call('INCR', 'memtree:clock') end
local function changed()
  redis.call('HSET', ledger, 'rev', turn())
  redis.call('EXPIRE', ledger, KEEP)
end
local function entry(id)
  local found = redis.call('HGET', ledger, id)
  return found and cjson.decode(found)
end
local function keep(id, one)
  redis.call('HSET', ledger, id, cjson.encode(one))
  redis.call('SADD', tenants, tenant)
  changed()
end
local function letter(one) return one.backfill and 'b' or 'i' end
local function unline(id)
  redis.call('ZREM', line('i'), id)
  redis.call('ZREM', line('b'), id)
  redis.call('ZREM', later, tenant .. ' ' .. id)
end
local function queue(id, one, at) redis.call('ZADD', line(letter(one)), at or turn(), id) end
local function empty(id) redis.call('DEL', 'memtree:payload:' .. id, 'memtree:work:' .. id) end
local function remove(id)
  unline(id)
  empty(id)
  redis.call('HDEL', out, id)
  local gone = redis.call('HDEL', ledger, id)
  if redis.call('HLEN', ledger) <= 1 then
    redis.call('DEL', ledger)
    redis.call('SREM', tenants, tenant)
  else
    changed()
  end
  return gone
end
local function promote()
  local given = {}
  for _, p in ipairs({'i', 'b'}) do
    local count = 0
    for _, ticket in ipairs(redis.call('HVALS', out)) do
      if string.sub(ticket, 1, 1) == p then count = count + 1 end
    end
    while count < TICKETS do
      local first = redis.call('ZRANGE', line(p), 0, 0)[1]
      if not first then break end
      redis.call('ZREM', line(p), first)
      redis.call('HSET', out, first, p)
      count = count + 1
      given[#given + 1] = first
      given[#given + 1] = p
    end
  end
  if #given > 0 then
    redis.call('EXPIRE', out, KEEP)
    if redis.call('EXISTS', ledger) == 1 then changed() end
  end
  return given
end
"""
)

SCRIPTS = {
    # ARGV: job, its entry, the `rev` it was decided by, jobs it replaces (JSON), payload, works,
    # seconds until both expire, now, seconds until it is due, a name for a new life. Returns nil if
    # the ledger has changed since, else [1 if a ticket must be moved to the other queue, tickets to
    # issue, version, life]. The job inherits the replaced jobs' waits after failures, except of
    # those that were given up. A job that waits for more work is due when the first one would have
    # been.
    "ADD": """
local id, rev = ARGV[3], ARGV[5]
if (redis.call('HGET', ledger, 'rev') or '') ~= rev then return nil end
redis.call('SET', 'memtree:life', ARGV[12], 'NX')
local new, place, retry, gather = cjson.decode(ARGV[4]), nil, 0, nil
new.version = turn()
for _, other in ipairs(cjson.decode(ARGV[6])) do
  local one = entry(other)
  if one and not one.owed then
    for _, p in ipairs({'i', 'b'}) do
      local at = redis.call('ZSCORE', line(p), other)
      if at and (not place or tonumber(at) < place) then place = tonumber(at) end
    end
    local due = tonumber(redis.call('ZSCORE', later, tenant .. ' ' .. other))
    if due and (one.tries or 0) > 0 then
      retry = math.max(retry, due)
    elseif due then
      gather = math.min(gather or due, due)
    end
    new.tries = math.max(new.tries or 0, one.tries or 0)
  end
  if one and other ~= id then remove(other) end
end
keep(id, new)
redis.call('SET', 'memtree:payload:' .. id, ARGV[7], 'EX', ARGV[9])
redis.call('SET', 'memtree:work:' .. id, ARGV[8], 'EX', ARGV[9])
local ticket, move = redis.call('HGET', out, id), 0
if ticket == 'b' and not new.backfill then
  redis.call('HSET', out, id, 'i')
  move = 1
elseif not ticket then
  local now, wait, due = tonumber(ARGV[10]), tonumber(ARGV[11]), 0
  unline(id)
  if wait > 0 and not place then due = gather or now + wait end
  due = math.max(due, retry)
  if due > now then
    redis.call('ZADD', later, due, tenant .. ' ' .. id)
  else
    queue(id, new, place)
  end
end
return {move, promote(), new.version, redis.call('GET', 'memtree:life')}
""",
    # ARGV: job, who, seconds of the lease. Returns [result, entry, payload, tickets to issue].
    "BEGIN": """
local id, one = ARGV[3], entry(ARGV[3])
local payload = one and not one.owed and redis.call('GET', 'memtree:payload:' .. id)
if not payload then
  if one and not one.owed then remove(id) end
  redis.call('HDEL', out, id)
  return {'gone', '', '', promote()}
end
local lease = 'memtree:lease:' .. id
if redis.call('GET', lease) ~= ARGV[4] then -- its own: asked again, since the answer was lost
  if not redis.call('SET', lease, ARGV[4], 'NX', 'EX', ARGV[5]) then return {'busy', '', '', {}} end
end
unline(id)
redis.call('HSET', out, id, letter(one) .. 'r')
return {'ok', cjson.encode(one), payload, promote()}
""",
    # ARGV: job, who, version, tokens and works left. Returns 1 to continue, 0 if another worker
    # holds the job or it is gone.
    "PROGRESS": """
local id, one = ARGV[3], entry(ARGV[3])
if not one or redis.call('GET', 'memtree:lease:' .. id) ~= ARGV[4] then return 0 end
if one.version == tonumber(ARGV[5]) then
  one.tokens, one.count = tonumber(ARGV[6]), tonumber(ARGV[7])
  redis.call('HSET', ledger, id, cjson.encode(one))
end
return 1
""",
    # ARGV: job, who, version, tokens and works left, tries, owed (1: given up until its history is
    # posted again), now, seconds before it may continue. Returns tickets to issue.
    "RELEASE": """
local id, one = ARGV[3], entry(ARGV[3])
if redis.call('GET', 'memtree:lease:' .. id) ~= ARGV[4] then return {} end
redis.call('DEL', 'memtree:lease:' .. id)
redis.call('HDEL', out, id)
if not one then return promote() end
local same, wait = one.version == tonumber(ARGV[5]), tonumber(ARGV[11])
if same and ARGV[7] == '0' then
  remove(id)
  return promote()
end
one.tries = tonumber(ARGV[8])
if same then one.tokens, one.count = tonumber(ARGV[6]), tonumber(ARGV[7]) end
if same and ARGV[9] == '1' then
  one.owed, one.tokens = true, 0
  empty(id)
  keep(id, one)
  return promote()
end
keep(id, one)
if wait > 0 then
  redis.call('ZADD', later, tonumber(ARGV[10]) + wait, tenant .. ' ' .. id)
else
  queue(id, one)
end
return promote()
""",
    # ARGV: job, most deaths. Its worker died, or its ticket was lost: queue it again. A job whose
    # workers keep dying is given up. Returns tickets to issue.
    "RECOVER": """
local id, one = ARGV[3], entry(ARGV[3])
local ticket = redis.call('HGET', out, id)
if not ticket or redis.call('EXISTS', 'memtree:lease:' .. id) == 1 then return {} end
redis.call('HDEL', out, id)
if one and not one.owed then
  if #ticket > 1 then one.deaths = (one.deaths or 0) + 1 end
  if (one.deaths or 0) >= tonumber(ARGV[4]) then
    one.owed, one.tokens = true, 0
    empty(id)
    keep(id, one)
  else
    keep(id, one)
    queue(id, one, 0)
  end
end
return promote()
""",
    # ARGV: job, which is due. Returns tickets to issue.
    "DUE": """
local id, one = ARGV[3], entry(ARGV[3])
if redis.call('ZREM', later, tenant .. ' ' .. id) == 1 and one and not one.owed then
  queue(id, one)
end
return promote()
""",
    # ARGV: all (1 or 0), then addresses (hex). Returns [removed jobs, tickets to issue].
    "FORGET": """
local wanted, gone = {}, {}
for i = 4, #ARGV do wanted[ARGV[i]] = true end
local found = redis.call('HGETALL', ledger)
for i = 1, #found, 2 do
  if found[i] ~= 'rev' then
    local one = cjson.decode(found[i + 1])
    if ARGV[3] == '1' or wanted[one['end']] then
      remove(found[i])
      if not one.owed then gone[#gone + 1] = found[i] end
    end
  end
end
redis.call('SET', 'memtree:forgot:' .. tenant, turn(), 'EX', KEEP)
return {gone, promote()}
""",
    # ARGV: job, who, seconds. Extends the worker's own lease; returns 1 if it holds it.
    "HOLD": """
local lease = 'memtree:lease:' .. ARGV[3]
if redis.call('GET', lease) ~= ARGV[4] then return 0 end
redis.call('EXPIRE', lease, ARGV[5])
return 1
""",
    # Removes everything of a tenant whose ledger has expired.
    "TIDY": """
if redis.call('EXISTS', ledger) == 0 then
  redis.call('DEL', out, line('i'), line('b'))
  redis.call('SREM', tenants, tenant)
end
""",
}

-- KEYS session, records, the two of once.lua unless there is a turn, and if all keys may be on one
--   server: the index of sessions and its expiries, then the same two for each kind to add it to
-- ARGV as Arguments writes them
-- Returns the outcome and the time to live of the session ('' if it never expires, -1 if there is none).
-- The outcome is COMMITTED with version, turn and first item, REPEATED with version and turn, CONFLICT
-- with version, PART, HEAD, CHECKPOINT or PAUSED with what was refused, or INDEX if indexes have to be
-- written first, with whether that of the sessions is one of them, and the kinds of the others.
local next_argument = 0
local function text()
	next_argument = next_argument + 1
	return ARGV[next_argument]
end
local function number() return tonumber(text()) end
local function given() local value = text() return value ~= '' and value or nil end

local commit = {expect = text(), version = number(), incarnation = text(), owner = text(), id = text(),
	first_ttl = number()}
local index = {lag = number(), slack = number(), sessions = text() == '1', at = number(), kinds = {}}
for i = 1, number() do index.kinds[i] = text() end
local change = {title = given(), tags = given(), state = given(), ttl = number(), branch = text(), head = number(),
	cp = number(), cpId = text()}
local write = {id = given(), part = number(), completed = text() == '1', open = text() == '1', status = text(),
	parent = number(), branch = text(), started = number(), ended = number() or '', origin = text(), outcome = text(),
	tokens = number(), count = number() or 0}
local items_at = next_argument
next_argument = next_argument + 3 * write.count
local deletes = {}
for i = 1, number() do deletes[i] = number() end
local records = {}
for i = 1, number() do
	records[i] = read_write(next_argument + 1)
	next_argument = next_argument + 7
end

local now = clock()
local values = stored_header(now)
local header = values and named(values) or {version = 0}
local created = not values
local there_number = write.id and values and tonumber(redis.call('HGET', SESSION, 'i:' .. write.id) or nil)
local there = there_number and turn(there_number)

local function ended(what, ...)
	return answer({what, values and (header.ttl or '') or -1, ...})
end

-- check the request against what is stored

local again = not write.id and recalled()
if again then return answer(again) end
if there and write.part < there[PARTS] then
	if there[WRITTEN_BY] ~= WRITE then return ended('REPEATED', header.version, there_number) end
	return ended('COMMITTED', there[VERSION], there_number, there[FROM])
end

local function is_as_expected()
	if commit.expect == 'ABSENT' then
		if values then return false end
	elseif commit.expect == 'UNCHANGED' then
		if not values or header.version ~= commit.version or header.incarnation ~= commit.incarnation then return false end
	elseif not values and not (write.id and write.part == 0) then
		return false -- a later part belongs to a turn that was deleted with its session
	end
	if there and there[OPEN] ~= 1 then return false end -- it has ended: another writer was faster
	for _, each_record in ipairs(records) do
		local expected = created and each_record.expected <= 0 or not created and as_expected(each_record, now)
		if not expected then return false end
	end
	return true
end
if not is_as_expected() then return ended('CONFLICT', header.version) end

local parts = there and there[PARTS] or 0
if write.id and write.part ~= parts then return ended('PART', parts) end

-- the path to the beginning

local BEGINNING = {}
BEGINNING[LO], BEGINNING[PAR], BEGINNING[CP], BEGINNING[CPID], BEGINNING[STATE] = 1, 0, 0, '', ''

if created then
	header = {version = 0, turns = 0, items = 0, head = 0, runLo = 1, runParent = 0, openTurn = 0, cp = 0,
		viewTurns = 0, viewItems = 0, viewTokens = 0, created = now, updated = now, indexed = now,
		ttl = commit.first_ttl, branch = 'main', cpId = '', title = '', tags = '', state = '',
		incarnation = commit.incarnation}
end

local function be_at(at, place)
	header.head, header.runLo, header.runParent = at, place[LO], place[PAR]
	header.cp, header.cpId, header.state = place[CP], place[CPID], place[STATE]
end

local function count_view()
	header.viewTurns, header.viewItems, header.viewTokens = 0, 0, 0
	walk(header.head, header.runLo, header.runParent, header.cp, function(low, high)
		each('t:', low, high, SLICE, function(_, packed)
			local counted = cmsgpack.unpack(packed)
			header.viewTurns = header.viewTurns + 1
			header.viewItems = header.viewItems + counted[ITEMS]
			header.viewTokens = header.viewTokens + counted[TOKENS]
		end)
	end)
end

local function is_on_path(wanted)
	local head, lo, parent = header.head, header.runLo, header.runParent
	while lo > wanted do
		local before = turn(parent)
		if not before then return false end
		head, lo, parent = parent, before[LO], before[PAR]
	end
	return wanted > 0 and wanted <= head
end

local head_before = header.head
if change.head then
	local target = turn(change.head)
	if change.head ~= 0 and not target then return ended('HEAD', 'absent') end
	if change.head ~= 0 and target[STATUS] ~= 'COMPLETED' then return ended('HEAD', 'not completed') end
	header.branch = change.branch
	be_at(change.head, target or BEGINNING)
end
if change.cp and change.cp ~= 0 and not is_on_path(change.cp) then return ended('CHECKPOINT', header.head) end

-- the items to delete

-- Returns the items of a turn without one of them, and the tokens of that one; nil if it is not there.
local function without(packed, sequence)
	local at = 1
	while packed and at <= #packed do
		local _, stop, found, tokens, size = string.find(packed, '^(%d+) %-?%d+ (%d+) (%d+)\n', at)
		local last = stop + size
		if tonumber(found) == sequence then
			return string.sub(packed, 1, at - 1) .. string.sub(packed, last + 1), tonumber(tokens)
		end
		at = last + 1
	end
end

-- Returns the last turn whose first item is not after the sequence: turns are numbered in the order of
-- their first items.
local function begun_before(sequence)
	local low, high = 1, header.turns
	while low <= high do
		local middle = math.floor((low + high) / 2)
		if turn(middle)[FIRST] <= sequence then low = middle + 1 else high = middle - 1 end
	end
	return high
end

-- Returns the turn that has an item; nil if there is no such item.
local function turn_with(sequence)
	local at = begun_before(sequence)
	if at > 0 and without(redis.call('HGET', SESSION, 'm:' .. at), sequence) then return at end
	for several in string.gmatch(redis.call('HGET', SESSION, 'multi') or '', '%d+') do
		if without(redis.call('HGET', SESSION, 'm:' .. several), sequence) then return tonumber(several) end
	end
end

-- Returns whether the deletions leave a turn without items.
local function are_last_of(at)
	local packed, deleting, any = redis.call('HGET', SESSION, 'm:' .. at), {}, false
	for _, sequence in ipairs(deletes) do
		deleting[sequence] = true
		any = any or turn_with(sequence) ~= nil
	end
	local from = 1
	while packed and from <= #packed do
		local _, stop, sequence, size = string.find(packed, '^(%d+) %-?%d+ %d+ (%d+)\n', from)
		if not deleting[tonumber(sequence)] then return false end
		from = stop + size + 1
	end
	return any
end

-- Returns whether the commit would move the head while a turn is open: that turn follows the head and
-- must still do so when it ends.
local function moves_head_of_open_turn()
	local open = header.openTurn
	if open == 0 or there_number == open and not write.open then return false end
	return write.id and there_number ~= open and (write.open or write.completed)
		or change.head and change.head ~= head_before
		or #deletes > 0 and head_before > 0 and are_last_of(head_before)
end
if moves_head_of_open_turn() then return ended('PAUSED', header.openTurn) end

local changes = change.title or change.tags or change.state or change.ttl or change.head or change.cp
local ttl = change.ttl or header.ttl
if ttl == 0 then ttl = nil end

-- the indexes that have to be written first

local kinds = created and {} or noted_kinds()

-- Returns the kinds whose indexes must list the session: those of the records that are written, and,
-- because the session lives longer with each turn, those of earlier records.
local function kinds_to_note()
	local wanted = {}
	for _, each_record in ipairs(records) do
		if is_old(kinds[each_record.kind], now, index.lag) then wanted[each_record.kind] = true end
	end
	for kind, at in pairs(kinds) do
		if change.ttl or ttl and is_old(at, now, index.lag) then wanted[kind] = true end
	end
	for _, kind in ipairs(index.kinds) do wanted[kind] = nil end
	return names(wanted)
end

local notes_session = not index.sessions and (created or change.ttl or is_old(header.indexed, now, index.lag))
local to_note = kinds_to_note()
if notes_session or #to_note > 0 then
	return answer({'INDEX', ttl or '', notes_session and 1 or 0, to_note})
end

local first_index = write.id and 3 or 5
local inline = KEYS[first_index] ~= nil

local wrong = wrong_type('hash', {RECORDS}) or wrong_type('zset', {unpack(KEYS, first_index)})
if wrong then return wrong end

-- the script writes from here on

if created then
	redis.call('UNLINK', SESSION, RECORDS)
	redis.call('HSET', SESSION, 'owner', commit.owner, 'id', commit.id)
end
if change.head then count_view() end

local function save_turn(at, changed)
	redis.call('HSET', SESSION, 't:' .. at, cmsgpack.pack(changed))
end

local function begin()
	local at = header.turns + 1
	header.turns = at
	local parent, branch = header.head, header.branch
	local lo, run_parent = header.runLo, header.runParent
	if not write.completed then
		branch = write.branch
		parent = write.parent
		if parent ~= header.head then
			local before = turn(parent) -- one that was deleted with an earlier session is no parent here
			if not before then parent = 0 end
			before = before or BEGINNING
			lo, run_parent = before[LO], before[PAR]
		end
	end
	if parent ~= at - 1 then lo, run_parent = at, parent end
	redis.call('HSET', SESSION, 'i:' .. write.id, at)
	return at, {parent, lo, run_parent, 0, '', branch, write.status, 0, 0, 0, 0, header.items + 1, write.started, '',
		'', write.origin, '', write.id}
end

local function add_items(at, adding)
	local packed = {}
	for i = 1, write.count do
		local from = items_at + 3 * (i - 1)
		local body = ARGV[from + 3]
		packed[i] = digits(header.items + i) .. ' ' .. ARGV[from + 1] .. ' ' .. ARGV[from + 2] .. ' ' .. #body .. '\n'
			.. body
	end
	header.items = header.items + write.count
	if write.count > 0 then
		local stored = write.part > 0 and redis.call('HGET', SESSION, 'm:' .. at) or ''
		redis.call('HSET', SESSION, 'm:' .. at, stored .. table.concat(packed))
	end
	if write.part == 1 then
		redis.call('HSET', SESSION, 'multi', (redis.call('HGET', SESSION, 'multi') or '') .. at .. ' ')
	end
	adding[PARTS] = adding[PARTS] + 1
	adding[ITEMS] = adding[ITEMS] + write.count
	adding[TOKENS] = adding[TOKENS] + write.tokens
end

local function become_head(at, completed)
	if completed[PARENT] == header.head then
		header.head, header.runLo, header.runParent = at, completed[LO], completed[PAR]
		header.viewTurns = header.viewTurns + 1
		header.viewItems = header.viewItems + completed[ITEMS]
		header.viewTokens = header.viewTokens + completed[TOKENS]
		completed[CP], completed[CPID], completed[STATE] = header.cp, header.cpId, header.state
	else
		-- it was opened before other turns were added: the head returns to where it was
		local before = turn(completed[PARENT]) or BEGINNING
		completed[CP], completed[CPID], completed[STATE] = before[CP], before[CPID], before[STATE]
		be_at(at, completed)
	end
end

local first = write.count > 0 and header.items + 1 or 0
local moves = changes or #records > 0 or write.id and write.completed or header.version == 0
local version = header.version + (moves and 1 or 0)
local written = 0
if write.id then
	local at, changed = there_number, there
	if not there then at, changed = begin() end
	add_items(at, changed)
	changed[STATUS], changed[OPEN], changed[ENDED], changed[OUTCOME] =
		write.status, write.open and 1 or 0, write.ended, write.outcome
	changed[WRITTEN_BY], changed[VERSION], changed[FROM] = WRITE, version, first
	if write.open then
		header.openTurn = at
	elseif header.openTurn == at then
		header.openTurn = 0
	end
	local follows = changed[PARENT] == header.head
	if write.completed then become_head(at, changed) end
	save_turn(at, changed)
	if write.completed and not follows then count_view() end
	written = at
end

-- delete items

local function delete_from(at, sequence)
	local rest, tokens = without(redis.call('HGET', SESSION, 'm:' .. at), sequence)
	if not rest then return false end
	local from = turn(at)
	from[ITEMS], from[TOKENS] = from[ITEMS] - 1, from[TOKENS] - tokens
	save_turn(at, from)
	if rest == '' then
		redis.call('HDEL', SESSION, 'm:' .. at)
	else
		redis.call('HSET', SESSION, 'm:' .. at, rest)
	end
	if at > header.cp and is_on_path(at) then
		header.viewItems, header.viewTokens = header.viewItems - 1, header.viewTokens - tokens
	end
	return true
end

local function delete(sequence)
	local at = turn_with(sequence)
	return at and delete_from(at, sequence)
end

local function leave_empty_head()
	local at, head, left = header.head, turn(header.head), 0
	if not head or head[ITEMS] > 0 then return end
	while head and head[ITEMS] == 0 do
		if at > header.cp then left = left + 1 end
		at = head[PARENT]
		head = turn(at)
	end
	local same_view = head and head[CP] == header.cp and at > header.cp
	be_at(head and at or 0, head or BEGINNING)
	if same_view then
		header.viewTurns = header.viewTurns - left
	else
		count_view()
	end
end

local deleted = false
for _, sequence in ipairs(deletes) do
	if delete(sequence) then deleted = true end
end
if deleted then leave_empty_head() end
if deleted and not moves then
	version = version + 1
	local beside = turn(written)
	if beside then
		beside[VERSION] = version
		save_turn(written, beside)
	end
end

-- the other changes

if change.state or change.cp then
	header.state = change.state or header.state
	if change.cp then
		header.cp, header.cpId = change.cp, change.cp > 0 and change.cpId or ''
	end
	local head = turn(header.head)
	if head then
		head[CP], head[CPID], head[STATE] = header.cp, header.cpId, header.state
		save_turn(header.head, head)
	end
	if change.cp then count_view() end
end
header.title = change.title or header.title
header.tags = change.tags or header.tags
header.ttl = ttl

for _, each_record in ipairs(records) do write_record(each_record, now) end

header.version = version
if moves or deleted or write.id then
	header.updated = now
	header.expires = header.ttl and now + header.ttl
end
local noted_at = math.min(index.at or now, now)
if index.sessions then header.indexed = noted_at end
if #index.kinds > 0 then
	for _, kind in ipairs(index.kinds) do kinds[kind] = noted_at end
	redis.call('HSET', SESSION, 'kinds', cmsgpack.pack(kinds))
end

local saved = {}
for i, name in ipairs(FIELDS) do
	saved[2 * i - 1] = name
	local value = header[name]
	saved[2 * i] = (i <= #NUMBERS and value) and digits(value) or value or ''
end
redis.call('HSET', SESSION, unpack(saved))
expire(header.expires)
if inline then
	for i = first_index, #KEYS, 2 do touch(KEYS[i], KEYS[i + 1], commit.id, now, ttl, index.slack) end
end
local result = {'COMMITTED', ttl or '', version, written, first}
return answer(write.id and result or remember(result, now))

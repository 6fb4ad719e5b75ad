-- KEYS the four of session.lua, the two of once.lua unless there is a turn, and if all keys may be on one
--   server: the index of sessions and its expiries, then the same two for each kind to add it to, and the two of
--   write.lua
-- ARGV as Arguments writes them
-- Returns the outcome and the time to live of the session ('' if it never expires, -1 if there is none).
-- The outcome is COMMITTED with version, turn and first item, REPEATED with version and turn, CONFLICT
-- with version, OLDEST, PART, HEAD, SUMMARY or PAUSED with what was refused, or INDEX if indexes have to be
-- written first, with whether that of the sessions is one of them, and the kinds of the others.
local next_argument = 0
local function text()
	next_argument = next_argument + 1
	return ARGV[next_argument]
end
local function number() return tonumber(text()) end
local function given() local value = text() return value ~= '' and value or nil end

local commit = {expect = text(), version = number(), incarnation = text(), owner = text(), id = text(),
	first_ttl = number(), stamp = text(), step = number()}
local index = {lag = number(), session_lag = number(), slack = number(), sessions = text() == '1', at = number(), kinds = {}}
for i = 1, number() do index.kinds[i] = text() end
local change = {title = given(), tags = given(), settings = given(), attributes = given(), ttl = number(),
	branch = text(), head = number(), summaryTurn = number(), summaryId = text()}

local function read_turn_write()
	local read = {id = text(), part = number(), completed = text() == '1', beside = text() == '1', open = text() == '1',
		status = text(), parent = number(), branch = text(), started = text(), ended = text(), origin = text(),
		outcome = text(), attributes = given(), tokens = number(), place = number(), number = number(), count = number()}
	read.becomes_head = read.completed and not read.beside
	read.items_at = next_argument
	next_argument = next_argument + 3 * read.count
	return read
end
local writes = {}
for i = 1, number() do writes[i] = read_turn_write() end
-- the turn by which the commit is known; the others come before it
local write = writes[#writes] or {}
local deletes = {}
for i = 1, number() do deletes[i] = number() end
local oldest = {from = number(), before = number()}
local records = {}
for i = 1, number() do
	records[i] = read_write(next_argument + 1)
	next_argument = next_argument + 7
end

local now = clock()
local values = stored_header(now)
local header = values and named(values) or {version = 0}
local created = not values
local wrong = wrong_type_of_session()
if wrong then return wrong end
if values and redis.call('LLEN', TURNS) ~= listed then lost() end

-- Returns the turn with the id that is to be written: the one at the place that the id names, or one whose id is
-- kept since it is at another place.
local function turn_with_that_id()
	local named_one = turn(write.place)
	if named_one and named_one.id == write.id then return named_one end
	return turn(tonumber(redis.call('HGET', IDS, write.id) or 0))
end
local there = write.id and values and turn_with_that_id()
local there_number = there and there.number

local function ended(what, ...)
	return answer({what, values and (header.ttl or '') or -1, ...})
end

-- check the request against what is stored

local again = not write.id and recalled()
if again then return answer(again) end
if there and write.part < there.parts then
	if there.by ~= WRITE then return ended('REPEATED', header.version, there_number) end
	return ended('COMMITTED', there.version, there_number, there.from)
end

local function is_as_expected()
	if commit.expect == 'ABSENT' then
		if values then return false end
	elseif commit.expect == 'UNCHANGED' then
		if not values or header.version ~= commit.version or header.incarnation ~= commit.incarnation then return false end
	elseif not values and not (write.id and write.part == 0) then
		return false -- a later part belongs to a turn that was deleted with its session
	end
	if there and not there.open then return false end -- it has ended: another writer was faster
	local expected = not there and write.number or 0 -- the number that a new turn has to get
	if expected ~= 0 and expected ~= (values and header.turns or 0) + 1 then return false end
	for _, each_record in ipairs(records) do
		local expected = created and each_record.expected <= 0 or not created and as_expected(each_record, now)
		if not expected then return false end
	end
	return true
end
if not is_as_expected() then return ended('CONFLICT', header.version) end

local parts = there and there.parts or 0
if write.id and write.part ~= parts then return ended('PART', parts) end

if created then
	header = {version = 0, turns = 0, items = 0, head = 0, lo = 1, run_parent = 0, openTurn = 0, summaryTurn = 0,
		viewTurns = 0, viewItems = 0, viewTokens = 0, created = now, updated = now, due = now + index.session_lag,
		ttl = commit.first_ttl, branch = 'main', summaryId = '', title = '', tags = '', settings = '', attributes = '',
		owner = commit.owner, id = commit.id, kinds = {}, incarnation = commit.incarnation}
	listed = 0
end

-- the place to move to; nil if the head stays
local target
if change.head then
	target = place_of(change.head)
	if change.head ~= target.head then return ended('HEAD', 'absent') end
	if change.head ~= 0 and target.status ~= 'COMPLETED' then return ended('HEAD', 'not completed') end
end
if change.summaryTurn and change.summaryTurn ~= 0 and not is_on_path(change.summaryTurn, target or header) then
	return ended('SUMMARY', (target or header).head)
end
if oldest.before and (oldest.before > header.head or header.openTurn > 0 and header.openTurn < oldest.before) then
	return ended('OLDEST')
end

-- the items to delete

-- Returns the items of a turn without one of them, and the tokens of that one; nil if it is not there.
local function without(packed, sequence)
	local at = 1
	while packed and at <= #packed do
		local _, stop, found, tokens, size = string.find(packed, '^(%d+) %-?%d+ (%-?%d+) (%d+)\n', at)
		local last = stop + size
		if tonumber(found) == sequence then
			return string.sub(packed, 1, at - 1) .. string.sub(packed, last + 1), tonumber(tokens)
		end
		at = last + 1
	end
end

-- Calls visit for the texts with the items of a turn, each with the name of its field, nil for those in the
-- list, until it returns something, and returns that.
local function each_body(number, visit)
	local found = turn(number)
	if not found then return nil end
	if not found.apart then return visit(found.body) end
	for _, field in ipairs(fields_apart(number, found.parts, '')) do
		local result = visit(redis.call('HGET', RECORDS, field) or '', field)
		if result ~= nil then return result end
	end
end

local function has_item(number, sequence)
	return each_body(number, function(body) return without(body, sequence) and true or nil end)
end

-- Returns the turn that has an item; nil if there is no such item.
local function turn_with(sequence)
	local at = begun_by(sequence, 1, listed)
	if at > 0 and has_item(at, sequence) then return at end
	for several in string.gmatch(redis.call('HGET', RECORDS, 'multi') or '', '%d+') do
		if has_item(tonumber(several), sequence) then return tonumber(several) end
	end
end

-- Returns whether the deletions leave a turn without items.
local function are_last_of(at)
	local deleting, any = {}, false
	for _, sequence in ipairs(deletes) do
		deleting[sequence] = true
		any = any or turn_with(sequence) == at
	end
	local keeps = each_body(at, function(body)
		local from = 1
		while from <= #body do
			local _, stop, sequence, size = string.find(body, '^(%d+) %-?%d+ %-?%d+ (%d+)\n', from)
			if not deleting[tonumber(sequence)] then return true end
			from = stop + size + 1
		end
	end)
	return any and not keeps
end

-- Returns the last turn that the summary covers which is in force when the commit has written its records and moved
-- the head; 0 for none.
local function summary_after()
	if not target then return header.summaryTurn end
	local gone = {}
	for _, each_record in ipairs(records) do
		if each_record.kind == SUMMARY and not each_record.payload then gone[each_record.id] = true end
	end
	local covered = newest_summary(target, now, gone)
	return covered
end

-- Returns whether the commit would move the head while a turn is open: that turn follows the head and
-- must still do so when it ends.
local function moves_head_of_open_turn()
	local open = header.openTurn
	if open == 0 or there_number == open and not write.open then return false end
	return write.id and there_number ~= open and (write.open or write.becomes_head)
		or change.head and change.head ~= header.head
		or #deletes > 0 and header.head > 0 and header.head ~= summary_after() and are_last_of(header.head)
end
if moves_head_of_open_turn() then return ended('PAUSED', header.openTurn) end

local changes = change.title or change.tags or change.settings or change.attributes or change.ttl or change.head
	or change.summaryTurn
local ttl = change.ttl or header.ttl
if ttl == 0 then ttl = nil end

-- the indexes that have to be written first

local kinds = header.kinds

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

local notes_session = not index.sessions and (created or change.ttl or now > header.due)
local to_note = kinds_to_note()
if notes_session or #to_note > 0 then
	return answer({'INDEX', ttl or '', notes_session and 1 or 0, to_note})
end

local first_index = write.id and 5 or 7
local inline = KEYS[first_index] ~= nil

wrong = wrong_type('zset', {unpack(KEYS, first_index)})
if wrong then return wrong end

-- the script writes from here on

-- a server that is full refuses only the first command of a script that writes, and takes this one
if created and redis.call('EXISTS', HEADER, TURNS, RECORDS, IDS) > 0 then
	redis.call('UNLINK', HEADER, TURNS, RECORDS, IDS)
end

local function count_view(known)
	local totals = totals_at(header, header.summaryTurn, known)
	header.viewTurns, header.viewItems, header.viewTokens = totals.viewTurns, totals.viewItems, totals.viewTokens
end

-- Returns where the head is and what its view has.
local function place_of_head()
	return {head = header.head, lo = header.lo, run_parent = header.run_parent, summaryTurn = header.summaryTurn,
		viewTurns = header.viewTurns, viewItems = header.viewItems, viewTokens = header.viewTokens}
end

local function move_to(there)
	local before = place_of_head()
	local within = there.head >= header.lo and there.head <= header.head
	if not within then header.lo, header.run_parent = there.lo, there.run_parent end
	header.head, header.attributes = there.head, there.attributes
	header.summaryTurn, header.summaryId = newest_summary(header, now)
	count_view(before)
end

-- first, since a move finds the newest summary among the records
for _, each_record in ipairs(records) do
	write_record(each_record, now, commit)
	header.has_records = true
end
if target then
	header.branch = change.branch
	move_to(target)
end

-- Returns the turn that the commit begins, which is not written yet.
local function begin(write)
	local at = header.turns + 1
	header.turns = at
	local parent, branch = header.head, header.branch
	local lo, run_parent = header.lo, header.run_parent
	if not write.becomes_head then
		branch = write.branch
		if write.parent ~= header.head then
			-- one that was deleted with an earlier session is no parent here
			local before = place_of(write.parent)
			parent, lo, run_parent = before.head, before.lo, before.run_parent
		end
	end
	if parent ~= at - 1 then lo, run_parent = at, parent end
	if write.place ~= at then
		redis.call('HSET', IDS, write.id, at)
		header.has_ids = true
	end
	return {number = at, apart = write.open, parent = parent, lo = lo, run_parent = run_parent, branch = branch,
		status = write.status, open = write.open, parts = 0, items = 0, tokens = 0, first = header.items + 1,
		started = write.started, ended = '', attributes = '', origin = write.origin, outcome = '', id = write.id, body = ''}
end

-- Stores a turn. One that the commit begins becomes the first of the list.
local function store(changed)
	local begins = changed.number > listed
	if begins then
		redis.call('LPUSH', TURNS, changed.apart and APART or packed_turn(changed))
		listed = changed.number
	end
	if changed.apart or not begins then save_turn(changed) end
end

-- Returns how many bytes two texts have in common from their start.
local function same_start(one, other)
	local same, most = 0, math.min(#one, #other)
	while same < most do
		local middle = math.ceil((same + most) / 2)
		if string.sub(one, same + 1, middle) == string.sub(other, same + 1, middle) then
			same = middle
		else
			most = middle - 1
		end
	end
	return same
end

-- Adds the items of this part. Of a turn that stays open nothing is read or written again but what changes.
local function add_items(adding, write)
	local packed = {}
	for i = 1, write.count do
		local from = write.items_at + 3 * (i - 1)
		local body = ARGV[from + 3]
		packed[i] = digits(header.items + i) .. ' ' .. ARGV[from + 1] .. ' ' .. ARGV[from + 2] .. ' ' .. #body .. '\n'
			.. body
	end
	header.items = header.items + write.count
	if write.open then
		local kept = same_start(outcome_apart(adding.number, adding.parts), write.outcome)
		redis.call('HSET', RECORDS, apart(adding.number, write.part), table.concat(packed),
			apart(adding.number, 'v' .. write.part), digits(kept) .. ' ' .. string.sub(write.outcome, kept + 1))
		if write.part == 0 then
			if write.origin ~= '' then redis.call('HSET', RECORDS, apart(adding.number, 'o'), write.origin) end
			adding.origin = ''
		end
		header.has_records = true
	else
		if adding.apart then
			local all = whole(adding.number)
			adding.origin, adding.body, adding.apart = all.origin, all.body, false
			redis.call('HDEL', RECORDS, apart(adding.number), apart(adding.number, 'o'))
			for _, what in ipairs({'', 'v'}) do
				local fields = fields_apart(adding.number, adding.parts, what)
				for from = 1, #fields, SLICE do
					redis.call('HDEL', RECORDS, unpack(fields, from, math.min(#fields, from + SLICE - 1)))
				end
			end
		end
		adding.body = adding.body .. table.concat(packed)
	end
	if write.part == 1 then
		redis.call('HSET', RECORDS, 'multi', (redis.call('HGET', RECORDS, 'multi') or '') .. digits(adding.number) .. ' ')
		header.has_records = true
	end
	adding.parts = adding.parts + 1
	adding.items = adding.items + write.count
	adding.tokens = adding.tokens + write.tokens
end

-- Stores a turn that is completed, and makes it the head unless it is kept beside the history.
local function complete(completed, write)
	local follows = completed.parent == header.head
	completed.attributes = write.attributes
		or (follows and not write.beside and header or place_of(completed.parent)).attributes
	store(completed)
	if write.beside then return end
	completed.head = completed.number
	if not follows then
		-- it was opened before other turns were added: the head returns to where it was
		return move_to(completed)
	end
	header.head, header.lo, header.run_parent, header.attributes =
		completed.head, completed.lo, completed.run_parent, completed.attributes
	header.viewTurns = header.viewTurns + (completed.items > 0 and 1 or 0)
	header.viewItems = header.viewItems + completed.items
	header.viewTokens = header.viewTokens + completed.tokens
end

local moves = changes or #records > 0 or oldest.before or write.becomes_head or header.version == 0
local version = header.version + (moves and (header.version == 0 and 1 or commit.step) or 0)

-- Writes a turn, or the next part of one that is there. Returns its number and the first item of the part, 0 for none.
local function write_turn(write, found)
	local first = write.count > 0 and header.items + 1 or 0
	local changed = found or begin(write)
	add_items(changed, write)
	changed.status, changed.open, changed.ended, changed.outcome =
		write.status, write.open, write.ended, write.outcome
	changed.by, changed.version, changed.from = WRITE, version, first
	if write.open then
		header.openTurn = changed.number
	elseif header.openTurn == changed.number then
		header.openTurn = 0
	end
	if write.completed then complete(changed, write) else store(changed) end
	return changed.number, first
end

local written, first = 0, 0
for i, each_write in ipairs(writes) do
	written, first = write_turn(each_write, i == #writes and there)
end

-- delete items

local function delete_from(at, sequence)
	local from = turn(at)
	local tokens = each_body(at, function(body, field)
		local rest, size = without(body, sequence)
		if not rest then return nil end
		if field then redis.call('HSET', RECORDS, field, rest) else from.body = rest end
		return size
	end)
	if not tokens then return false end
	from.items, from.tokens = from.items - 1, from.tokens - tokens
	save_turn(from)
	if at > header.summaryTurn and is_on_path(at, header) then
		header.viewTurns = header.viewTurns - (from.items == 0 and 1 or 0)
		header.viewItems, header.viewTokens = header.viewItems - 1, header.viewTokens - tokens
	end
	return true
end

local function delete(sequence)
	local at = turn_with(sequence)
	return at and delete_from(at, sequence)
end

local function leave_empty_head()
	local left = place_of(header.head)
	if left.items > 0 or left.head == header.summaryTurn then return end
	while left.head > 0 and left.items == 0 and left.head ~= header.summaryTurn do left = place_of(left.parent) end
	move_to(left)
end

local deleted = false
local had_items = #deletes > 0 and header.head > 0 and place_of(header.head).items > 0
for _, sequence in ipairs(deletes) do
	if delete(sequence) then deleted = true end
end
if had_items then leave_empty_head() end
if deleted and not moves then
	version = version + commit.step
	local beside = turn(written)
	if beside then
		beside.version = version
		save_turn(beside)
	end
end

-- delete the oldest turns

-- Returns the last turn that the newest summary covers on the way from a place to the beginning, 0 for none.
local function covered_before(from)
	local covered = newest_summary(from, now)
	return covered
end

-- Cuts the path of the head behind the oldest turns: the last one of them becomes a run of its own, which follows the
-- newest summary before it. So reading all of the path costs what is left.
local function cut_path(before)
	local first = header
	while first.lo > before and first.run_parent >= before do first = place_of(first.run_parent) end
	local number = first.lo < before and before - 1 or first.run_parent
	first.run_parent = number
	first.lo = math.max(first.lo, before)
	if first ~= header then save_turn(first) end
	local last = turn(number)
	if not last then return end
	local below = last.lo < number and {head = number - 1, lo = last.lo, run_parent = last.run_parent}
		or place_of(last.run_parent)
	last.run_parent = covered_before(below)
	last.lo = number
	save_turn(last)
end

if oldest.before then
	for from = oldest.from, oldest.before - 1, SLICE do
		each(from, math.min(from + SLICE, oldest.before) - 1, SLICE, function(number, packed)
			local gone = read_turn(packed, number)
			gone.items, gone.tokens, gone.body, gone.origin, gone.attributes = 0, 0, '', '', ''
			save_turn(gone)
		end)
	end
	cut_path(oldest.before)
	local totals = {viewTurns = 0, viewItems = 0, viewTokens = 0}
	walk(header.head, header.lo, header.run_parent, header.summaryTurn,
		function(low, high) add_turns(totals, 1, low, high) end)
	header.viewTurns, header.viewItems, header.viewTokens = totals.viewTurns, totals.viewItems, totals.viewTokens
end

-- the other changes

if change.attributes then
	header.attributes = change.attributes
	local head = turn(header.head)
	if head then
		head.attributes = header.attributes
		save_turn(head)
	end
end
if change.summaryTurn then
	local before = place_of_head()
	header.summaryTurn, header.summaryId = change.summaryTurn, change.summaryTurn > 0 and change.summaryId or ''
	count_view(before)
	if change.summaryTurn > 0 then cover(change.summaryTurn, change.summaryId, now) end
end
header.title = change.title or header.title
header.tags = change.tags or header.tags
header.settings = change.settings or header.settings
header.ttl = ttl

header.version = version
header.before, header.stamp = NO_STAMPS, commit.stamp
if moves or deleted or write.id then
	header.updated = now
	header.expires = header.ttl and now + header.ttl
end
local noted_at = math.min(index.at or now, now)
if index.sessions then header.due = noted_at + index.session_lag end
for _, kind in ipairs(index.kinds) do kinds[kind] = noted_at end
save_header(header, index.lag)
expire(header.expires)
if inline then
	for i = first_index, #KEYS - 2, 2 do touch(KEYS[i], KEYS[i + 1], commit.id, now, ttl, index.slack) end
end
local result = {'COMMITTED', ttl or '', version, written, first}
return answer(write.id and result or remember(result, now))

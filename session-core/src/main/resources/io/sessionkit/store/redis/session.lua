-- Functions shared by the scripts of a session. KEYS[1] to KEYS[4] are its keys:
--   KEYS[1] the header, one text:
--     at fixed places: the time of the commit that wrote it (16 digits), the expiry (20, all 0 for never), the stamps of the
--     last three commits before it, the oldest first (16 hexadecimal digits each; all 0 unless each one that followed
--     did nothing but append a turn), the stamp of that commit (16);
--     the state: incarnation, version, turns, items, open turn, head, turns, items and tokens of the view, a
--     line feed; a client that has opened the session knows all of it;
--     at fixed places behind it: when the entry in the index of sessions is to be written again (16 digits), when one
--     in an index of records is (16, all 9 for never), whether there may be a hash of records (r or -), whether all
--     turns are one run up to the head, without a summary, and have items (s or -), and whether there may be ids in KEYS[4] (i or -);
--     the turn that a summary covers and the size of its id, the path of the head, which a turn that follows has too,
--     that id;
--     the rest: created, time to live ('' for none), the sizes of branch, title, tags, settings, owner, id
--     and kinds, a
--     line feed, and these texts. The kinds are those of the records whose indexes list the session, packed,
--     each with the time of its entry.
--   KEYS[2] the turns, a list with the newest one first, each one text:
--     its path; then status, whether it is open, parts, items, tokens, parent, as the distance to it, first item,
--     start, end ('' for none), the answer to the write that stored its last part: the version, less the number
--     of the turn, and the first item, 1 for that of the turn, 0 for none; the sizes of branch, id, id of that
--     write, origin, outcome and items, a line feed, and these texts. The items follow one another: sequence, time, tokens and size in digits, a line feed, then the encoded message.
--     Of an open turn there is one character instead: it is kept in the hash, part by part.
--   KEYS[3] a hash: <kind> NUL <id> a record, packed; NUL <number> an open turn without origin, outcome and items,
--     NUL <number>:o its origin, NUL <number>:<part> the items of a part, NUL <number>:v<part> how many bytes of the
--     outcome are as the part before left them, a space, and the rest; 'multi' the numbers of the turns that were
--     written in several parts; 'covers' the summaries that a commit has named: the last turn that each covers, its
--     id and its expiry, packed as one list, the lowest turn first. Every write of a summary keeps it exact, so that
--     finding the summary of a path reads no records; 'expires' the time before which no record expires that need
--     not stay (see LISTED), if one has a time to live.
--   KEYS[4] a hash: the id of each turn whose number is not the one that the id names, and that number. An id that
--     begins with a number and a hyphen names this number; only clients read it.
-- A path is the unbroken run of turn numbers up to here, as its first turn and what that one follows, then the size
-- of the attributes, a line feed, and these. Which summary is in force at a turn is not stored with it: that depends
-- on what was named since.
-- Times are microseconds by the clock of this server. Sizes are bytes. A missing text is ''.
local HEADER, TURNS, RECORDS, IDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- places in a packed record
local REVISION, WRITTEN, EXPIRES, PAYLOAD = 1, 2, 3, 4

-- the turns in one command, when not all of them are needed
local SLICE = 1000

-- The kinds of records that indexes of all owners list, one for each kind: the last two keys of the scripts that write
-- records, by their place from the end. In a Cluster there are fewer keys.
local LISTED = {approval = 2, notice = 1}

-- Returns the index of all owners that lists the records of a kind; nil for none.
local function shared_index(kind)
	return LISTED[kind] and #KEYS >= 8 and KEYS[#KEYS + 1 - LISTED[kind]] or nil
end

-- what the list has of an open turn
local APART = 'P'

local NEVER_EXPIRES, NEVER_DUE = string.rep('0', 20), string.rep('9', 16)

-- the stamps before a commit that does more than append a turn
local NO_STAMPS = string.rep('0', 48)

-- the number of turns in the list
local listed = 0

local function clock()
	local time = redis.call('TIME')
	return time[1] * 1000000 + time[2]
end

-- Returns a number as text; concatenating it with a text would round it.
local function digits(number)
	return string.format('%.0f', number)
end

-- Returns the header as it is stored; nil if the session is absent or has expired.
local function stored_header(now)
	local text = redis.call('GET', HEADER)
	if not text then return nil end
	local expires = tonumber(string.sub(text, 17, 36))
	if expires and expires > 0 and expires <= now then return nil end
	return text
end

-- Cuts texts of the given sizes, from a place on. Returns them and the place behind them.
local function cut(text, at, sizes)
	local found = {}
	for i, size in ipairs(sizes) do
		found[i] = string.sub(text, at, at + size - 1)
		at = at + size
	end
	return found, at
end

local function read_path(text, at, into)
	local _, stop, lo, parent, size = string.find(text, '^(%d+) (%d+) (%d+)\n', at)
	local behind = stop + 1 + tonumber(size)
	into.lo, into.run_parent, into.attributes = tonumber(lo), tonumber(parent), string.sub(text, stop + 1, behind - 1)
	return behind
end

local function packed_path(of)
	return digits(of.lo) .. ' ' .. digits(of.run_parent) .. ' ' .. #of.attributes .. '\n' .. of.attributes
end

-- Returns the header by name; missing numbers are nil.
local function named(text)
	local _, stop, incarnation, version, turns, items, open, head, view_turns, view_items, view_tokens =
		string.find(text, '^(%S*) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+)\n', 101)
	if not stop then error('WRONGTYPE The key of the header holds something else') end
	local header = {updated = tonumber(string.sub(text, 1, 16)), expires = tonumber(string.sub(text, 17, 36)),
		before = string.sub(text, 37, 84), stamp = string.sub(text, 85, 100), due = tonumber(string.sub(text, stop + 1, stop + 16)),
		has_records = string.sub(text, stop + 33, stop + 33) == 'r', has_ids = string.sub(text, stop + 35, stop + 35) == 'i'}
	if header.expires == 0 then header.expires = nil end
	header.incarnation, header.version, header.turns, header.items, header.openTurn, header.head, header.viewTurns,
		header.viewItems, header.viewTokens = incarnation, tonumber(version), tonumber(turns), tonumber(items),
		tonumber(open), tonumber(head), tonumber(view_turns), tonumber(view_items), tonumber(view_tokens)
	local _, before, summary_turn, summary_id_size = string.find(text, '^(%d+) (%d+) ', stop + 36)
	local behind = read_path(text, before + 1, header)
	local at = behind + tonumber(summary_id_size)
	header.summaryTurn, header.summaryId = tonumber(summary_turn), string.sub(text, behind, at - 1)
	local _, last, created, ttl, branch, title, tags, settings, owner, id, kinds =
		string.find(text, '^(%d+) (%d*) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)\n', at)
	local texts = cut(text, last + 1, {tonumber(branch), tonumber(title), tonumber(tags), tonumber(settings),
		tonumber(owner), tonumber(id), tonumber(kinds)})
	header.created, header.ttl = tonumber(created), tonumber(ttl)
	header.branch, header.title, header.tags, header.settings = texts[1], texts[2], texts[3], texts[4]
	header.owner, header.id = texts[5], texts[6]
	header.kinds = texts[7] ~= '' and cmsgpack.unpack(texts[7]) or {}
	listed = header.turns
	return header
end

-- Returns when one of the indexes of records is to be written again, as text.
local function kinds_due(header, lag)
	if not header.ttl then return NEVER_DUE end
	local oldest
	for _, at in pairs(header.kinds) do oldest = math.min(oldest or at, at) end
	return oldest and string.format('%016.0f', oldest + lag) or NEVER_DUE
end

-- Writes the header, with its expiry.
local function save_header(header, lag)
	local kinds = next(header.kinds) and cmsgpack.pack(header.kinds) or ''
	local text = string.format('%016.0f', header.updated)
		.. (header.expires and string.format('%020.0f', header.expires) or NEVER_EXPIRES) .. header.before .. header.stamp
		.. header.incarnation .. ' ' .. digits(header.version) .. ' ' .. digits(header.turns) .. ' '
		.. digits(header.items) .. ' ' .. digits(header.openTurn) .. ' ' .. digits(header.head) .. ' '
		.. digits(header.viewTurns) .. ' ' .. digits(header.viewItems) .. ' ' .. digits(header.viewTokens) .. '\n'
		.. string.format('%016.0f', header.due) .. kinds_due(header, lag) .. (header.has_records and 'r' or '-')
		.. (header.lo == 1 and header.head == header.turns and header.summaryTurn == 0 and header.viewTurns == header.turns
			and 's' or '-')
		.. (header.has_ids and 'i' or '-')
		.. digits(header.summaryTurn) .. ' ' .. #header.summaryId .. ' ' .. packed_path(header) .. header.summaryId
		.. digits(header.created) .. ' ' .. (header.ttl and digits(header.ttl) or '') .. ' ' .. #header.branch .. ' '
		.. #header.title .. ' ' .. #header.tags .. ' ' .. #header.settings .. ' ' .. #header.owner .. ' ' .. #header.id .. ' ' .. #kinds .. '\n'
		.. header.branch .. header.title .. header.tags .. header.settings .. header.owner .. header.id .. kinds
	if header.expires then
		redis.call('SET', HEADER, text, 'PXAT', digits(math.ceil(header.expires / 1000)))
	else
		redis.call('SET', HEADER, text)
	end
end

-- Returns the place of a turn in the list, from the nearer end.
local function place(number)
	return number > listed / 2 and listed - number or -number
end

local TURN = '^([%u_]+) ([01]) (%d+) (%d+) (%-?%d+) (%d+) (%d+) (%-?%d+) (%-?%d*) (%-?%d+) (%d+) '
	.. '(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)\n'

local function read_turn(text, number)
	local found = {}
	local at = read_path(text, 1, found)
	local _, stop, status, open, parts, items, tokens, parent, first, started, ended, version, from, branch, id, by,
		origin, outcome, body = string.find(text, TURN, at)
	local texts = cut(text, stop + 1, {tonumber(branch), tonumber(id), tonumber(by), tonumber(origin),
		tonumber(outcome), tonumber(body)})
	found.status, found.open, found.parts, found.items, found.tokens = status, open == '1', tonumber(parts),
		tonumber(items), tonumber(tokens)
	found.number, found.parent, found.first, found.started, found.ended, found.version = number,
		number - tonumber(parent), tonumber(first), started, ended, number + tonumber(version)
	found.from = from ~= '0' and found.first + tonumber(from) - 1 or 0
	found.branch, found.id, found.by, found.origin, found.outcome, found.body = texts[1], texts[2], texts[3], texts[4],
		texts[5], texts[6]
	return found
end

local function packed_turn(of)
	return packed_path(of) .. of.status .. (of.open and ' 1 ' or ' 0 ') .. of.parts .. ' ' .. of.items .. ' '
		.. digits(of.tokens) .. ' ' .. digits(of.number - of.parent) .. ' ' .. digits(of.first) .. ' ' .. of.started .. ' ' .. of.ended
		.. ' ' .. digits(of.version - of.number) .. ' ' .. (of.from > 0 and digits(of.from - of.first + 1) or '0') .. ' '
		.. #of.branch .. ' ' .. #of.id .. ' ' .. #of.by .. ' '
		.. #of.origin .. ' ' .. #of.outcome .. ' ' .. #of.body .. '\n'
		.. of.branch .. of.id .. of.by .. of.origin .. of.outcome .. of.body
end

-- Returns the text of a turn up to where its items begin.
local function without_items(text)
	local body = string.match(text, ' (%d+)\n', read_path(text, 1, {}))
	return string.sub(text, 1, #text - body)
end

-- Returns the name of a field of an open turn.
local function apart(number, what)
	return '\0' .. digits(number) .. (what and ':' .. what or '')
end

-- Returns the names of the fields of the parts of an open turn.
local function fields_apart(number, parts, what)
	local fields = {}
	for part = 0, parts - 1 do fields[part + 1] = apart(number, what .. part) end
	return fields
end

-- Returns the values of such fields.
local function values_apart(number, parts, what)
	local values, fields = {}, fields_apart(number, parts, what)
	for from = 1, parts, SLICE do
		for i, value in ipairs(redis.call('HMGET', RECORDS, unpack(fields, from, math.min(parts, from + SLICE - 1)))) do
			values[from + i - 1] = value or ''
		end
	end
	return values
end

local function outcome_apart(number, parts)
	local outcome = ''
	for _, value in ipairs(values_apart(number, parts, 'v')) do
		local kept, rest = string.match(value, '^(%d+) (.*)$')
		outcome = string.sub(outcome, 1, tonumber(kept or 0)) .. (rest or '')
	end
	return outcome
end

-- Returns a turn; nil if there is none. Of one that is kept apart, origin, outcome and items are ''.
local function turn(number)
	if number < 1 or number > listed then return nil end
	local text = redis.call('LINDEX', TURNS, place(number))
	local is_apart = text == APART
	if is_apart then text = redis.call('HGET', RECORDS, apart(number)) end
	if not text then return nil end
	local found = read_turn(text, number)
	found.apart = is_apart
	return found
end

local function save_turn(changed)
	if changed.apart then
		changed.outcome = ''
		redis.call('HSET', RECORDS, apart(changed.number), packed_turn(changed))
	else
		redis.call('LSET', TURNS, place(changed.number), packed_turn(changed))
	end
end

-- Returns a turn that is kept apart, with all there is of it.
local function whole(number)
	local found = turn(number)
	if not found then return nil end
	found.origin = redis.call('HGET', RECORDS, apart(number, 'o')) or ''
	found.outcome = outcome_apart(number, found.parts)
	found.body = table.concat(values_apart(number, found.parts, ''))
	return found
end

-- Ends a script that finds less than the header says: a server may evict keys one by one.
local function lost()
	error('TURNSLOST')
end

-- Returns the text of a turn that is kept apart, as if it were in the list.
local function packed_apart(number)
	local found = whole(number)
	return found and packed_turn(found) or lost()
end

-- Calls visit for the turns from high to low, newest first, until it returns false.
local function each(low, high, slice, visit)
	while high >= low do
		local from = math.max(low, high - slice + 1)
		local texts = redis.call('LRANGE', TURNS, digits(listed - high), digits(listed - from))
		if #texts ~= high - from + 1 then lost() end
		for i, text in ipairs(texts) do
			if text == APART then text = packed_apart(high - i + 1) end
			if visit(high - i + 1, text) == false then return false end
		end
		high = from - 1
	end
	return true
end

-- Calls visit for the unbroken runs of turn numbers on the path from a head down to a floor, the newest
-- first, until it returns false.
local function walk(head, lo, parent, floor, visit)
	while head > floor do
		if visit(math.max(lo, floor + 1), head) == false or parent <= floor then return end
		local next = turn(parent)
		if not next then return end
		head, lo, parent = parent, next.lo, next.run_parent
	end
end

-- Returns the newest turn from low to high whose first item is not after the sequence: turns are numbered in
-- the order of their first items. Returns low - 1 for none. It looks near the newest turn first.
local function begun_by(sequence, low, high)
	local step, top = 1, high
	while top >= low and turn(top).first > sequence do
		high = top - 1
		top, step = top - step, step * 2
	end
	low = math.max(low, top + 1)
	while low <= high do
		local middle = math.floor((low + high) / 2)
		if turn(middle).first <= sequence then low = middle + 1 else high = middle - 1 end
	end
	return high
end

-- Returns a record that has not expired; nil if there is none.
local function record(kind, id, now)
	local packed = redis.call('HGET', RECORDS, kind .. '\0' .. id)
	local found = packed and cmsgpack.unpack(packed)
	if found and found[EXPIRES] ~= '' and found[EXPIRES] <= now then return nil end
	return found or nil
end

local function names(of)
	local all = {}
	for name in pairs(of) do all[#all + 1] = name end
	return all
end

-- Sets the expiry of the keys beside the header to that of the session.
local function expire(expires)
	for _, key in ipairs({TURNS, RECORDS, IDS}) do
		if expires then
			redis.call('PEXPIREAT', key, digits(math.ceil(expires / 1000)))
		else
			redis.call('PERSIST', key)
		end
	end
end

-- Returns the error to answer, before anything is written, if one of the keys is of another type.
local function wrong_type(kind, keys)
	for _, key in ipairs(keys) do
		local found = redis.call('TYPE', key).ok
		if found ~= 'none' and found ~= kind then
			return redis.error_reply('WRONGTYPE The key ' .. key .. ' is a ' .. found .. ', not a ' .. kind)
		end
	end
end

local function wrong_type_of_session()
	return wrong_type('list', {TURNS}) or wrong_type('hash', {RECORDS}) or wrong_type('hash', {IDS})
end


-- Functions shared by the scripts of a session. KEYS[1] is the session, a hash:
--   the fields of the header by name;
--   t:<number>  a turn, packed: its place in the tree, its status, its sizes, its encoded texts;
--   m:<number>  the items of a turn, one after another: sequence, time, tokens and size in digits,
--               a line feed, then the encoded message;
--   i:<turn id> the number of a turn;
--   multi       the numbers of the turns that were written in several parts;
--   kinds       the kinds of records whose indexes list the session, packed, each with the time of its entry.
-- KEYS[2] is the hash of its records: <kind> NUL <id>, packed.
-- Times are microseconds by the clock of this server. A missing text is ''.
local SESSION, RECORDS = KEYS[1], KEYS[2]

-- in the order in which Reply reads them: numbers first
local NUMBERS = {'version', 'turns', 'items', 'head', 'runLo', 'runParent', 'openTurn', 'cp', 'viewTurns', 'viewItems',
	'viewTokens', 'created', 'updated', 'indexed', 'ttl', 'expires'}
local TEXTS = {'branch', 'cpId', 'title', 'tags', 'state', 'incarnation'}
local FIELDS = {}
for _, name in ipairs(NUMBERS) do FIELDS[#FIELDS + 1] = name end
for _, name in ipairs(TEXTS) do FIELDS[#FIELDS + 1] = name end

-- places in a packed turn
local PARENT, LO, PAR, CP, CPID, BRANCH, STATUS, OPEN, PARTS, ITEMS, TOKENS, FIRST, STARTED, ENDED, STATE, ORIGIN,
	OUTCOME, ID = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
-- and the answer to the write that stored its last part
local WRITTEN_BY, VERSION, FROM = 19, 20, 21

-- places in a packed record
local REVISION, WRITTEN, EXPIRES, PAYLOAD = 1, 2, 3, 4

-- the number of fields in one command: Lua cannot pass many more values at once
local SLICE = 1000

local function clock()
	local time = redis.call('TIME')
	return time[1] * 1000000 + time[2]
end

-- Returns a number as text; concatenating it with a text would round it.
local function digits(number)
	return string.format('%.0f', number)
end

-- Returns the header as it is stored, in the order of FIELDS; nil if the session is absent or has expired.
local function stored_header(now)
	local values = redis.call('HMGET', SESSION, unpack(FIELDS))
	if not values[1] then return nil end
	local expires = tonumber(values[#NUMBERS])
	if expires and expires <= now then return nil end
	return values
end

-- Returns the incarnation of the stored session, expired or not; '' for none.
local function identity()
	return redis.call('HGET', SESSION, 'incarnation') or ''
end

-- Returns the header by name; missing numbers are nil.
local function named(values)
	local header = {}
	for i, name in ipairs(FIELDS) do
		header[name] = (i <= #NUMBERS) and tonumber(values[i]) or values[i]
		if header[name] == '' and i <= #NUMBERS then header[name] = nil end
	end
	return header
end

local function turn(number)
	local packed = (number > 0) and redis.call('HGET', SESSION, 't:' .. number)
	return packed and cmsgpack.unpack(packed)
end

-- Calls visit for the fields <prefix><number> from high to low, newest first, until it returns false.
local function each(prefix, low, high, slice, visit)
	while high >= low do
		local from, names = math.max(low, high - slice + 1), {}
		for number = from, high do names[#names + 1] = prefix .. number end
		local values = redis.call('HMGET', SESSION, unpack(names))
		for i = #values, 1, -1 do
			if visit(from + i - 1, values[i]) == false then return false end
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
		head, lo, parent = parent, next[LO], next[PAR]
	end
end

-- Returns a record that has not expired; nil if there is none.
local function record(kind, id, now)
	local packed = redis.call('HGET', RECORDS, kind .. '\0' .. id)
	local found = packed and cmsgpack.unpack(packed)
	if found and found[EXPIRES] ~= '' and found[EXPIRES] <= now then return nil end
	return found or nil
end

-- Returns for each kind of records the time of the entry in the owner's index of that kind, or a later one.
local function noted_kinds()
	local packed = redis.call('HGET', SESSION, 'kinds')
	return packed and cmsgpack.unpack(packed) or {}
end

local function names(of)
	local all = {}
	for name in pairs(of) do all[#all + 1] = name end
	return all
end

-- Sets the expiry of both keys to that of the session.
local function expire(expires)
	for _, key in ipairs({SESSION, RECORDS}) do
		if expires then
			redis.call('PEXPIREAT', key, math.ceil(expires / 1000))
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

-- KEYS the four of session.lua
-- ARGV how the end of the path is named: HEAD, TURN or PARENT, and the number of the turn; turns and items of the view,
--   '' for no limit; the number before which turns of the path are read, and how many, '' for no limit; kinds...
-- Returns nothing if the session is absent; the header, and 0 if there is no such end or 1 if it is not completed;
-- else the header, 2, the end: head, lo, run_parent, the turn and the id of the summary, turns, items and tokens of the
--   view, and attributes; the summary; the turns of the view, then those of the path without their items, both as pairs
--   of a turn and a list of its text, the newest first; the records; and the turn of the active branch behind the end, 0
--   for none.
local now = clock()
local header_text = stored_header(now)
if not header_text then return answer({}) end
local header = named(header_text)
if redis.call('LLEN', TURNS) ~= listed then lost() end

-- Returns the place at which the path ends; nil if there is none, with 0 or 1.
local function end_named(kind, number)
	if kind == 'HEAD' then return header end
	if kind == 'TURN' and number == 0 then return BEGINNING end
	local found = turn(number)
	if not found then return nil, 0 end
	if kind == 'PARENT' then return place_of(found.parent) end
	if found.status ~= 'COMPLETED' then return nil, 1 end
	found.head = number
	return found
end

-- Sets what a view from there begins with, and its totals.
local function place_view(there)
	there.summaryTurn, there.summaryId = newest_summary(there, now)
	for name, value in pairs(totals_at(there, there.summaryTurn, header)) do there[name] = value end
end

local function newest_of_view(there, turns, items)
	local found = {}
	if turns == 0 or items == 0 then return found end
	local function add(number, text)
		local size = counts(text)
		if size == 0 then return true end
		if items then
			items = items - size
			if items < 0 then return false end
		end
		found[#found + 1] = number
		found[#found + 1] = {text}
		if turns then turns = turns - 1 end
		return turns ~= 0
	end
	walk(there.head, there.lo, there.run_parent, there.summaryTurn, function(low, high)
		return each(low, high, items and 100 or math.min(turns or SLICE, SLICE), add)
	end)
	return found
end

local function newest_of_path(there, before, left)
	local found = {}
	if left == 0 then return found end
	local function add(number, text)
		found[#found + 1] = number
		found[#found + 1] = {without_items(text)}
	end
	walk(there.head, there.lo, there.run_parent, 0, function(low, high)
		if before then high = math.min(high, before - 1) end
		if left and low <= high then
			low = math.max(low, high - left + 1)
			left = left - (high - low + 1)
		end
		return each(low, high, SLICE, add) and left ~= 0
	end)
	return found
end

local there, fault = end_named(ARGV[1], tonumber(ARGV[2]))
if not there then return answer({header_text, fault}) end
if there ~= header then place_view(there) end
local kinds = {}
for i = 7, #ARGV - 1 do kinds[ARGV[i]] = true end
return answer({header_text, 2,
	{there.head, there.lo, there.run_parent, there.summaryTurn, there.summaryId, there.viewTurns, there.viewItems,
		there.viewTokens, there.attributes},
	there.summaryId ~= '' and record(SUMMARY, there.summaryId, now) or {},
	newest_of_view(there, tonumber(ARGV[3]), tonumber(ARGV[4])),
	newest_of_path(there, tonumber(ARGV[5]), tonumber(ARGV[6])),
	next(kinds) and records_of(kinds, now) or {}, next_on_path(there.head, header)})

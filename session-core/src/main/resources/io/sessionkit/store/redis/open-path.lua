-- The end of open.lua, for the other sessions.
local _, stop, turns, head, summary_turn, id_size, lo, parent, attributes_size = string.find(text,
	'^%S* %d+ (%d+) %d+ %d+ (%d+) %d+ %d+ %-?%d+\n%d+[r-][s-][i-](%d+) (%d+) (%d+) (%d+) (%d+)\n', 101)
if not stop then return answer({text, 0, {}}) end
local summary = {}
if id_size ~= '0' then
	time = time or redis.call('TIME')
	local packed = redis.call('HGET', KEYS[3], 'summary\0'
		.. string.sub(text, stop + attributes_size + 1, stop + attributes_size + id_size))
	summary = packed and cmsgpack.unpack(packed) or {}
	if summary[1] and summary[3] ~= '' and summary[3] <= time[1] * 1000000 + time[2] then summary = {} end
	local same = (summary[1] or 0) == tonumber(ARGV[4]) and (summary[2] or 0) == tonumber(ARGV[5])
	known, added = known and same, same and added
end
if known then return answer({text, 1}) end
local wanted, items = tonumber(ARGV[1]), tonumber(ARGV[2])
turns, head, lo, parent, summary_turn =
	tonumber(turns), tonumber(head), tonumber(lo), tonumber(parent), tonumber(summary_turn)

-- Returns texts of turns, newest first. A server may evict keys one by one: what is missing is noticed.
local function texts(high, low)
	local found = redis.call('LRANGE', KEYS[2], turns - high, turns - low)
	if #found ~= high - low + 1 then error('TURNSLOST') end
	return found
end

if wanted == 0 or items == 0 or head <= summary_turn then return answer({text, 0, summary}) end

local found = {text, 0, summary}
if added then
	found = {text, 2, {}}
	summary_turn = head - added
end

-- Returns how many items a turn has.
local function size_of(each)
	local _, last, attributes = string.find(each, '^%d+ %d+ (%d+)\n')
	return tonumber(string.match(each, '^[%u_]+ [01] %d+ (%d+) ', last + attributes + 1))
end

-- Returns those of some turns that are wanted, and whether all are. The first that does not fit as a whole excludes
-- all older ones; those without items do not count.
local function newest_of(turns_found)
	if not wanted and not items then return turns_found, true end
	local fitting = {}
	for i, each in ipairs(turns_found) do
		local size = size_of(each)
		if items then
			if size > items then return fitting, false end
			items = items - size
		end
		fitting[i] = each
		if wanted and size > 0 then wanted = wanted - 1 end
		if wanted == 0 then return fitting, false end
	end
	return fitting, true
end

-- Adds the newest turns of a run. Returns whether older ones are wanted too.
local function add_newest(low, high)
	while high >= low do
		local from = math.max(low, high - math.min(wanted or 1000, items and 100 or 1000) + 1)
		local fitting, all = newest_of(texts(high, from))
		if #fitting > 0 then
			found[#found + 1] = high
			found[#found + 1] = fitting
		end
		if not all then return false end
		high = from - 1
	end
	return true
end

while head > summary_turn do
	if not add_newest(math.max(lo, summary_turn + 1), head) or parent <= summary_turn then break end
	local next = redis.call('LINDEX', KEYS[2], parent > turns / 2 and turns - parent or -parent)
	if not next then break end
	head = parent
	lo, parent = string.match(next, '^(%d+) (%d+) ')
	lo, parent = tonumber(lo), tonumber(parent)
	if not lo then break end
end
return answer(found)

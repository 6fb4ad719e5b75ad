-- The end of open.lua, for the other sessions.
local _, stop, turns, head, cp, id_size, lo, parent, state_size = string.find(text,
	'^%S* %d+ (%d+) %d+ %d+ (%d+) %d+ %d+ %-?%d+\n%d+[r-][s-][i-](%d+) (%d+) (%d+) (%d+) (%d+)\n', 53)
if not stop then return answer({text, 0, {}}) end
local summary = {}
if id_size ~= '0' then
	time = time or redis.call('TIME')
	local packed = redis.call('HGET', KEYS[3], 'checkpoint\0'
		.. string.sub(text, stop + state_size + 1, stop + state_size + id_size))
	summary = packed and cmsgpack.unpack(packed) or {}
	if summary[1] and summary[3] ~= '' and summary[3] <= time[1] * 1000000 + time[2] then summary = {} end
	known = known and (summary[1] or 0) == tonumber(ARGV[4]) and (summary[2] or 0) == tonumber(ARGV[5])
end
if known then return answer({text, 1}) end
local wanted, items = tonumber(ARGV[1]), tonumber(ARGV[2])
turns, head, lo, parent, cp = tonumber(turns), tonumber(head), tonumber(lo), tonumber(parent), tonumber(cp)

-- Returns texts of turns, newest first. A server may evict keys one by one: what is missing is noticed.
local function texts(high, low)
	local found = redis.call('LRANGE', KEYS[2], turns - high, turns - low)
	if #found ~= high - low + 1 then error('TURNSLOST') end
	return found
end

if wanted == 0 or items == 0 or head <= cp then return answer({text, 0, summary}) end

local found = {text, 0, summary}

-- Returns the oldest turn that fits as a whole: counting back from the newest, the first that does not excludes
-- all older ones.
local function oldest_that_fits(low, high)
	local oldest = high + 1
	while high >= low do
		local from = math.max(low, high - 99)
		for i, each in ipairs(texts(high, from)) do
			local _, last, attributes = string.find(each, '^%d+ %d+ (%d+)\n')
			local size = tonumber(string.match(each, '^[%u_]+ [01] %d+ (%d+) ', last + attributes + 1))
			if size > items then return oldest end
			items = items - size
			oldest = high - i + 1
		end
		high = from - 1
	end
	return oldest
end

while head > cp do
	local low = math.max(lo, cp + 1)
	if wanted then
		low = math.max(low, head - wanted + 1)
		wanted = wanted - (head - low + 1)
	end
	local from = items and oldest_that_fits(low, head) or low
	if from <= head then
		found[#found + 1] = head
		found[#found + 1] = texts(head, from)
	end
	if from ~= low or wanted == 0 or parent <= cp then break end
	local next = redis.call('LINDEX', KEYS[2], parent > turns / 2 and turns - parent or -parent)
	if not next then break end
	head = parent
	lo, parent = string.match(next, '^(%d+) (%d+) ')
	lo, parent = tonumber(lo), tonumber(parent)
	if not lo then break end
end
return answer(found)

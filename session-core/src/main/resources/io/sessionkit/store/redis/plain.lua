-- Appends a completed turn to a session that is still as it was opened. Everything else is left to commit.lua.
-- KEYS the four of session.lua, and if all keys may be on one server: the index of sessions, its expiries
-- ARGV 1 the state as it was opened, 2 the stamp and the state that follow, 3 the turn without its path, 4 its number,
--   5 '=' and its id if that names its place, else '+' and its id, 6 the time to live or '', 7 how much older and how
--   much longer than its session an entry of an index may be, and the id of the session
-- Returns 1 if the turn is stored, by this request or because the same one arrived before, and 0 if not.
-- For what is at fixed places of a header see session.lua. Nothing is built here that is not needed, not even a
-- function: each new text costs a part of what a command costs, an argument too. The answers are packed as answer.lua would.
local header = redis.call('GET', KEYS[1])
if not header or string.find(header, ARGV[1], 101, true) ~= 101 then
	local there = redis.call('LINDEX', KEYS[2], '-' .. ARGV[4])
	return ARGV[#ARGV] .. (there and string.sub(there, -#ARGV[3]) == ARGV[3] and ' 2\n\145\1' or ' 2\n\145\0')
end
local behind = 101 + #ARGV[1]
local time = redis.call('TIME')
local now = time[1] .. string.sub('00000' .. time[2], -6)
local expires, at = '00000000000000000000', nil
if ARGV[6] ~= '' then
	if tonumber(string.sub(header, 17, 36)) <= tonumber(now) or now >= string.sub(header, behind + 16, behind + 31) then
		return ARGV[#ARGV] .. ' 2\n\145\0'
	end
	expires = string.format('%020.0f', now + ARGV[6])
	at = string.format('%.0f', math.ceil(expires / 1000))
end
local due = now >= string.sub(header, behind, behind + 15)
if due then
	if not KEYS[5] then return ARGV[#ARGV] .. ' 2\n\145\0' end
	-- they fail here if they are of another type
	redis.call('ZCARD', KEYS[5])
	redis.call('ZCARD', KEYS[6])
end
local has_ids = string.byte(header, behind + 34) == 105
if has_ids and redis.call('HEXISTS', KEYS[4], string.sub(ARGV[5], 2)) == 1 then return ARGV[#ARGV] .. ' 2\n\145\0' end

-- the script writes from here on

local _, stop, path, state_size = string.find(header, '^%d+ %d+ ()%d+ %d+ (%d+)\n', behind + 35)
if redis.call('LPUSH', KEYS[2], string.sub(header, path, stop + state_size) .. ARGV[3])
		~= tonumber(ARGV[4]) then
	redis.call('LPOP', KEYS[2])
	return ARGV[#ARGV] .. ' 2\n\145\0'
end
local rest = string.sub(header, behind)
if string.byte(ARGV[5]) == 43 then
	local added = redis.pcall('HSETNX', KEYS[4], string.sub(ARGV[5], 2), ARGV[4])
	if added ~= 1 then
		redis.call('LPOP', KEYS[2])
		return type(added) == 'table' and added or ARGV[#ARGV] .. ' 2\n\145\0'
	end
	if not has_ids then rest = string.sub(rest, 1, 34) .. 'i' .. string.sub(rest, 36) end
	has_ids = true
end
if at then
	redis.call('SET', KEYS[1], now .. expires .. string.sub(header, 53, 100) .. ARGV[2] .. rest, 'PXAT', at)
	redis.call('PEXPIREAT', KEYS[2], at)
	if has_ids then redis.call('PEXPIREAT', KEYS[4], at) end
	if string.byte(header, behind + 32) == 114 then redis.call('PEXPIREAT', KEYS[3], at) end
else
	redis.call('SET', KEYS[1], now .. expires .. string.sub(header, 53, 100) .. ARGV[2] .. rest)
end
if not due then return ARGV[#ARGV] .. ' 2\n\145\1' end


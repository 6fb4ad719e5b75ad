-- Appends a completed turn to a session that is still as it was opened. Everything else is left to commit.lua.
-- KEYS the four of session.lua, and if all keys may be on one server: the index of sessions, its expiries
-- ARGV 1 the state as it was opened, 2 the new one, 3 the new stamp, 4 the turn without its path, 5 its number,
--   6 its id, 7 the time to live or '', 8 session id, 9 how much older and 10 how much longer than its session an
--   entry of an index may be
-- Returns 1 if the turn is stored, by this request or because the same one arrived before, and 0 if not.
-- For what is at fixed places of a header see session.lua. Nothing is built here that is not needed: each table
-- and function costs more than a command. The answers are packed as answer.lua would.
local header, state, number = redis.call('GET', KEYS[1]), ARGV[1], ARGV[5]
local from, stored, left = 87 + #state, ' 2\n\145\1', ' 2\n\145\0'
if not header or string.sub(header, 87, from - 1) ~= state then
	local there = redis.call('LINDEX', KEYS[2], '-' .. number)
	return ARGV[#ARGV] .. (there and string.sub(there, -#ARGV[4]) == ARGV[4] and stored or left)
end
local time = redis.call('TIME')
local now = string.format('%s%06d', time[1], time[2])
if now >= string.sub(header, 69, 84) then return ARGV[#ARGV] .. left end
local due, expires = string.sub(header, 53, 68), '00000000000000000000'
if now >= due then
	if not KEYS[5] then return ARGV[#ARGV] .. left end
	due = nil
end
local at
if ARGV[7] ~= '' then
	if tonumber(string.sub(header, 33, 52)) <= tonumber(now) then return ARGV[#ARGV] .. left end
	expires = string.format('%020.0f', now + ARGV[7])
	at = string.format('%.0f', math.ceil(expires / 1000))
end
if not due then
	-- they fail here if they are of another type
	redis.call('ZCARD', KEYS[5])
	redis.call('ZCARD', KEYS[6])
end

-- the script writes from here on

local _, stop, id_size, state_size = string.find(header, '^%d+ %d+ %d+ (%d+) (%d+)\n', from)
local path = string.sub(header, from, stop + id_size + state_size)
if redis.call('LPUSH', KEYS[2], path .. ARGV[4]) ~= tonumber(number) then
	redis.call('LPOP', KEYS[2])
	return ARGV[#ARGV] .. left
end
local added = redis.pcall('SADD', KEYS[4], ARGV[6])
if added ~= 1 then
	redis.call('LPOP', KEYS[2])
	return type(added) == 'table' and added or ARGV[#ARGV] .. left
end
if not due then
	touch(KEYS[5], KEYS[6], ARGV[8], tonumber(now), tonumber(ARGV[7]), tonumber(ARGV[10]))
	due = string.format('%016.0f', now + ARGV[9])
end
local text = ARGV[3] .. now .. expires .. due .. string.sub(header, 69, 86) .. ARGV[2] .. string.sub(header, from)
if at then
	redis.call('SET', KEYS[1], text, 'PXAT', at)
	redis.call('PEXPIREAT', KEYS[2], at)
	redis.call('PEXPIREAT', KEYS[4], at)
	if string.sub(header, 85, 85) == 'r' then redis.call('PEXPIREAT', KEYS[3], at) end
else
	redis.call('SET', KEYS[1], text)
end
return ARGV[#ARGV] .. stored

-- KEYS two of one hash slot; only the first one is used
-- Writes and removes a key of each type that sessions have, the first one as a turn writes its header. Returns the
-- command that the server refuses and a word for its reason; nothing if it refuses none.
local function reason(message)
	if string.find(message, 'syntax', 1, true) then
		return 'SYNTAX'
	end
	-- before version 7 a right that is missing has no code
	if string.find(message, 'NOPERM', 1, true) or string.find(message, 'ACL failure', 1, true)
			or string.find(message, "executing the script can't", 1, true) then
		return 'NOPERM'
	end
	return string.match(message, '%u%u%u+') or 'ERR'
end

local function refused(command, ...)
	local reply = redis.pcall(command, ...)
	return type(reply) == 'table' and reply.err and {command, reason(reply.err)}
end

local time = redis.pcall('TIME')
local soon = time.err and 1 or time[1] * 1000 + 1000
return answer(time.err and {'TIME', reason(time.err)}
	or refused('SET', KEYS[1], '', 'PXAT', soon) or refused('UNLINK', KEYS[1])
	or refused('LPUSH', KEYS[1], '') or refused('PEXPIREAT', KEYS[1], soon) or refused('UNLINK', KEYS[1])
	or refused('HSET', KEYS[1], 'f', '') or refused('UNLINK', KEYS[1])
	or refused('ZADD', KEYS[1], 0, 'm') or refused('UNLINK', KEYS[1]) or {})

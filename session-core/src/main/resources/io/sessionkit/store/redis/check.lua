-- KEYS two of one hash slot
-- Tries each command of the scripts, the first one that writes as a turn writes its header: what a script has written
-- before a command that is refused stays. Removes what it has written. Returns the command that the server refuses and a
-- word for its reason; nothing if it refuses none. A replica may take writes, and forgets them: INFO, if the user may run it,
-- tells.
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

local time = redis.pcall('TIME')
if time.err then return answer({'TIME', reason(time.err)}) end
local soon = time[1] * 1000 + 1000

local key, other = KEYS[1], KEYS[2]
local commands = {
	{'SET', key, 'v', 'PXAT', soon}, {'UNLINK', key}, {'EXISTS', key}, {'TYPE', key},
	{'SET', key, 'v', 'PXAT', soon}, {'GET', key}, {'SETRANGE', key, 0, 'w'}, {'PERSIST', key}, {'PEXPIRE', key, 1000},
	{'RENAME', key, other}, {'UNLINK', other},
	{'LPUSH', key, 'v'}, {'PEXPIREAT', key, soon}, {'LLEN', key}, {'LINDEX', key, 0}, {'LRANGE', key, 0, 0},
	{'LSET', key, 0, 'w'}, {'LPOP', key},
	{'HSET', key, 'f', 'v'}, {'PEXPIREAT', key, soon}, {'HSETNX', key, 'f', 'w'}, {'HGET', key, 'f'}, {'HMGET', key, 'f'},
	{'HEXISTS', key, 'f'}, {'HKEYS', key}, {'HSCAN', key, 0}, {'HDEL', key, 'f'},
	{'ZADD', key, 0, 'm'}, {'PEXPIREAT', key, soon}, {'ZCARD', key}, {'ZSCORE', key, 'm'}, {'ZRANGE', key, 0, 0},
	{'ZREVRANGE', key, 0, 0}, {'ZRANGEBYSCORE', key, 0, 0}, {'ZREM', key, 'm'},
	{'SCAN', 0, 'COUNT', 1},
}
for _, command in ipairs(commands) do
	local reply = redis.pcall(unpack(command))
	if type(reply) == 'table' and reply.err then
		redis.pcall('UNLINK', key, other)
		return answer({command[1], reason(reply.err)})
	end
end
local role = redis.pcall('INFO', 'replication')
if type(role) == 'string' and (string.find(role, 'role:slave', 1, true) or string.find(role, 'role:replica', 1, true)) then
	return answer({'INFO', 'REPLICA'})
end
return answer({})

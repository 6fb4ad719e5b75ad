-- KEYS the four of session.lua, the two of once.lua, and if all keys may be on one server: the index of
-- sessions and its expiries, then the same two for each kind of records, and the two of write.lua
-- ARGV session id, the incarnation that was read  Returns the time, whether it erased the session, and
-- the kinds of records whose indexes list it. A session that was created since is another one: it stays.
local time = clock()
local wrong = wrong_type('zset', {unpack(KEYS, 7)})
if wrong then return wrong end
local text = redis.call('GET', HEADER)
local header = text and named(text)
if (header and header.incarnation or '') ~= ARGV[2] then return answer({time, 0, {}}) end
for _, field in ipairs(header and #KEYS >= 8 and redis.call('HKEYS', RECORDS) or {}) do
	local at = string.find(field, '\0', 1, true)
	local index = at and shared_index(string.sub(field, 1, at - 1))
	if index then redis.call('ZREM', index, header.owner .. '\0' .. header.id .. string.sub(field, at)) end
end
redis.call('UNLINK', unpack(KEYS, 1, 6))
for i = 7, #KEYS - 2 do redis.call('ZREM', KEYS[i], ARGV[1]) end
return answer({time, 1, header and names(header.kinds) or {}})

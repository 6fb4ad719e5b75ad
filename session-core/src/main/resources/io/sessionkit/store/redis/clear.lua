-- KEYS session, records, the two of once.lua, and if all keys may be on one server: the index of
-- sessions and its expiries, then the same two for each kind of records
-- ARGV session id, the incarnation that was read  Returns the time, whether it erased the session, and
-- the kinds of records whose indexes list it. A session that was created since is another one: it stays.
local time = clock()
local wrong = wrong_type('zset', {unpack(KEYS, 5)})
if wrong then return wrong end
if identity() ~= ARGV[2] then return answer({time, 0, {}}) end
local kinds = names(noted_kinds())
redis.call('UNLINK', unpack(KEYS, 1, 4))
for i = 5, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return answer({time, 1, kinds})

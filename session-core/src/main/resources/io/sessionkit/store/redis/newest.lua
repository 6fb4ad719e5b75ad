-- KEYS an index of an owner, its expiries  ARGV from, to, counted from the newest
-- Returns ids and the times of writing.
local found = redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
for i = 2, #found, 2 do found[i] = tonumber(found[i]) end
return answer(found)

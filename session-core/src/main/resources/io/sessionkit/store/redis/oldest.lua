-- KEYS the two indexes of the records of all owners, that to read first
-- ARGV the earliest time, how many entries to skip, how many to return
-- Returns the time, then entries and the times of writing, the oldest first.
local found = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])
for i = 2, #found, 2 do found[i] = tonumber(found[i]) end
local time = redis.call('TIME')
table.insert(found, 1, time[1] * 1000000 + time[2])
return answer(found)

-- KEYS an index of an owner, its expiries  ARGV id, time to live or '', slack
local time = redis.call('TIME')
touch(KEYS[1], KEYS[2], ARGV[1], time[1] * 1000000 + time[2], tonumber(ARGV[2]), tonumber(ARGV[3]))
return {1}

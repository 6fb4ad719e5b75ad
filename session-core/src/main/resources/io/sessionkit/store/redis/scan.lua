-- KEYS two keys that only select a server of a Cluster
-- ARGV cursor, pattern, how many keys to look at  Returns the next cursor and the names found.
local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
return answer({found[1], found[2]})

-- KEYS pairs of the records of a session and the ids of its turns  ARGV how many to delete at most
-- Deletes records that have expired. Returns how many it deleted.
local now, limit, deleted = clock(), tonumber(ARGV[1]), 0
for i = 1, #KEYS, 2 do
	RECORDS = KEYS[i]
	if deleted < limit then deleted = deleted + delete_expired(now, limit - deleted) end
end
return answer({deleted})

-- KEYS session, records  Returns the time, which session is there, and the kinds of records that it is noted for.
return answer({clock(), identity(), names(noted_kinds())})

-- KEYS session, records  Returns the time, the stored incarnation, and the kinds of records whose indexes list it.
return answer({clock(), identity(), names(noted_kinds())})

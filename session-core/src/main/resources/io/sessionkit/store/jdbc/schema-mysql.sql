-- SessionKit, schema version 2, for MySQL 8.0.17 or newer. Repeatable: existing tables stay as they are.
-- For sessionkit.store.jdbc.initialize-schema, Flyway and Liquibase alike. For another table
-- prefix, edit a copy of this file and set sessionkit.store.jdbc.table-prefix. One with a schema (app.SESSIONKIT_)
-- begins the names of tables only: those of indexes take no schema.
-- Instants are microseconds since 1970 (UTC). Texts are stored as the codec encoded them.
-- Sessions are found by the hash of owner and id, never by owner or id, so that no collation confuses two.
-- The collation distinguishes the ids of turns and records, even by a trailing space.

-- compatible_from: the oldest version of these scripts whose SessionKit still works with the tables.
create table if not exists SESSIONKIT_SCHEMA (
	version integer not null primary key,
	compatible_from integer not null
) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_0900_bin;

-- One row for each session, the only row that a turn rewrites. No column that every turn changes is indexed.
-- stamp: a random number that each write of the row makes anew; change it too if you change rows by hand.
-- appended: the stamp too, if that write only appended a turn. stamp_1 to stamp_3 are then those before it, the
-- newest first, as far as the writes after them did the same.
-- purge_at: somewhat later than expires_at, so that few turns change it; its index finds the rows to delete. Change it
-- with expires_at if you change that by hand.
create table if not exists SESSIONKIT_SESSION (
	pk bigint not null auto_increment primary key,
	key_hash char(64) not null unique,
	incarnation varchar(36) not null,
	owner_hash char(64) not null,
	owner varchar(255) not null,
	id varchar(255) not null,
	version bigint not null,
	turns bigint not null,
	items bigint not null,
	branch varchar(255) not null,
	head bigint not null,
	run_lo bigint not null,
	run_parent bigint not null,
	open_turn bigint not null,
	summary_turn bigint not null,
	summary_id varchar(64),
	view_turns bigint not null,
	view_items bigint not null,
	view_tokens bigint not null,
	title longtext,
	tags longtext,
	settings longtext,
	attributes longtext,
	ttl bigint,
	stamp bigint not null,
	appended bigint,
	stamp_1 bigint,
	stamp_2 bigint,
	stamp_3 bigint,
	created_at bigint not null,
	updated_at bigint not null,
	expires_at bigint,
	purge_at bigint,
	index SESSIONKIT_SESSION_OWNER (owner_hash),
	index SESSIONKIT_SESSION_PURGE (purge_at)
) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_0900_bin;

-- run_lo and run_parent: the first turn, and the parent of that turn, of the unbroken run of numbers that
-- ends with this turn; in a run each turn is the parent of the next. origin is written once: agent, tools, snapshot, parameters. outcome is replaced by each
-- part: model, rounds, failure, verdicts. body: the items of the first part, each as its place after
-- first_item, time, tokens, length in UTF-16 units, line feed, text. apart: how many other items have got
-- rows of SESSIONKIT_ITEM: those of later parts, and long ones. given_id: turn_id, unless that begins with
-- the number of the turn, as in 7-x; so few turns need a second entry in an index.
create table if not exists SESSIONKIT_TURN (
	session_pk bigint not null,
	turn_no bigint not null,
	turn_id varchar(64) not null,
	given_id varchar(64),
	parent bigint not null,
	run_lo bigint not null,
	run_parent bigint not null,
	branch varchar(255) not null,
	status varchar(32) not null,
	parts integer not null,
	first_item bigint not null,
	apart integer not null,
	items integer not null,
	tokens integer not null,
	started_at bigint not null,
	ended_at bigint,
	attributes longtext,
	origin longtext,
	outcome longtext not null,
	body longtext,
	primary key (session_pk, turn_no),
	unique (session_pk, given_id)
) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_0900_bin;

create table if not exists SESSIONKIT_ITEM (
	session_pk bigint not null,
	turn_no bigint not null,
	seq bigint not null,
	recorded_at bigint not null,
	tokens integer not null,
	body longtext not null,
	primary key (session_pk, turn_no, seq)
) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_0900_bin;

-- covers: the last turn that a summary covers (kind summary), once the header has named it.
-- The index of kinds finds what waits in the sessions of all owners.
create table if not exists SESSIONKIT_RECORD (
	session_pk bigint not null,
	kind varchar(64) not null,
	id varchar(64) not null,
	revision bigint not null,
	payload longtext not null,
	written_at bigint not null,
	covers bigint,
	expires_at bigint,
	primary key (session_pk, kind, id),
	index SESSIONKIT_RECORD_EXPIRY (expires_at),
	index SESSIONKIT_RECORD_KIND (kind, written_at, session_pk, id)
) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_0900_bin;

-- Comes last: tables that name their version are complete.
insert into SESSIONKIT_SCHEMA (version, compatible_from)
	select 2, 2 from dual where not exists (select 1 from SESSIONKIT_SCHEMA);

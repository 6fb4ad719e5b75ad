-- SessionKit, schema version 2, for SQLite 3.24 or newer. Repeatable: existing tables stay as they are.
-- For sessionkit.store.jdbc.initialize-schema, Flyway and Liquibase alike. For another table
-- prefix, edit a copy of this file and set sessionkit.store.jdbc.table-prefix. One with a schema (app.SESSIONKIT_)
-- begins the names of tables only: those of indexes take no schema.
-- Instants are microseconds since 1970 (UTC). Texts are stored as the codec encoded them.
-- Sessions are found by the hash of owner and id, never by owner or id, so that no collation confuses two.
-- Primary keys of sessions are never reused (autoincrement).

-- compatible_from: the oldest version of these scripts whose SessionKit still works with the tables.
create table if not exists SESSIONKIT_SCHEMA (
	version integer not null primary key,
	compatible_from integer not null
);

-- One row for each session, the only row that a turn rewrites. No column that every turn changes is indexed.
-- stamp: a random number that each write of the row makes anew; change it too if you change rows by hand.
-- appended: the stamp too, if that write only appended a turn. stamp_1 to stamp_3 are then those before it, the
-- newest first, as far as the writes after them did the same.
-- purge_at: somewhat later than expires_at, so that few turns change it; its index finds the rows to delete. Change it
-- with expires_at if you change that by hand.
create table if not exists SESSIONKIT_SESSION (
	pk integer primary key autoincrement,
	key_hash varchar(64) not null unique,
	incarnation varchar(36) not null,
	owner_hash varchar(64) not null,
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
	title text,
	tags text,
	settings text,
	attributes text,
	ttl bigint,
	stamp bigint not null,
	appended bigint,
	stamp_1 bigint,
	stamp_2 bigint,
	stamp_3 bigint,
	created_at bigint not null,
	updated_at bigint not null,
	expires_at bigint,
	purge_at bigint
);

create index if not exists SESSIONKIT_SESSION_OWNER on SESSIONKIT_SESSION (owner_hash);

create index if not exists SESSIONKIT_SESSION_PURGE on SESSIONKIT_SESSION (purge_at) where purge_at is not null;

-- run_lo and run_parent: the first turn, and the parent of that turn, of the unbroken run of numbers that
-- ends with this turn; in a run each turn is the parent of the next. origin is written once: agent, tools, snapshot, parameters. outcome is replaced by each
-- part: model, rounds, failure, verdicts. body: the items of the first part, each as its place after
-- first_item, time, tokens, length in UTF-16 units, line feed, text. apart: how many other items have got
-- rows of SESSIONKIT_ITEM: those of later parts, and long ones. given_id: turn_id, unless that begins with
-- the number of the turn, as in 7-x; so few turns need a second entry in an index that leaves nulls out.
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
	attributes text,
	origin text,
	outcome text not null,
	body text,
	primary key (session_pk, turn_no)
);

create unique index if not exists SESSIONKIT_TURN_GIVEN on SESSIONKIT_TURN (session_pk, given_id)
	where given_id is not null;

create table if not exists SESSIONKIT_ITEM (
	session_pk bigint not null,
	turn_no bigint not null,
	seq bigint not null,
	recorded_at bigint not null,
	tokens integer not null,
	body text not null,
	primary key (session_pk, turn_no, seq)
);

-- covers: the last turn that a summary covers (kind summary), once the header has named it.
create table if not exists SESSIONKIT_RECORD (
	session_pk bigint not null,
	kind varchar(64) not null,
	id varchar(64) not null,
	revision bigint not null,
	payload text not null,
	written_at bigint not null,
	covers bigint,
	expires_at bigint,
	primary key (session_pk, kind, id)
);

create index if not exists SESSIONKIT_RECORD_EXPIRY on SESSIONKIT_RECORD (expires_at) where expires_at is not null;

-- Finds what waits in the sessions of all owners.
create index if not exists SESSIONKIT_RECORD_KIND on SESSIONKIT_RECORD (kind, written_at, session_pk, id);

-- Comes last: tables that name their version are complete.
insert into SESSIONKIT_SCHEMA (version, compatible_from)
	select 2, 2 where not exists (select 1 from SESSIONKIT_SCHEMA);

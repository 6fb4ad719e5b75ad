-- SessionKit, schema version 2, for SQL Server 2016 or newer. Repeatable: existing tables stay as they are.
-- For sessionkit.store.jdbc.initialize-schema, Flyway and Liquibase alike. For another table
-- prefix, edit a copy of this file and set sessionkit.store.jdbc.table-prefix. One with a schema (app.SESSIONKIT_)
-- begins the names of tables only: those of indexes take no schema.
-- Instants are microseconds since 1970 (UTC). Texts are stored as the codec encoded them.
-- Sessions are found by the hash of owner and id, never by owner or id, so that no collation confuses two.
-- Ids of records, and given_id, end with a dot, because this database ignores trailing spaces when it compares.

-- compatible_from: the oldest version of these scripts whose SessionKit still works with the tables.
if object_id(N'SESSIONKIT_SCHEMA', N'U') is null create table SESSIONKIT_SCHEMA (
	version int not null primary key,
	compatible_from int not null
);

-- One row for each session, the only row that a turn rewrites. No column that every turn changes is indexed.
-- stamp: a random number that each write of the row makes anew; change it too if you change rows by hand.
-- appended: the stamp too, if that write only appended a turn. stamp_1 to stamp_3 are then those before it, the
-- newest first, as far as the writes after them did the same.
-- purge_at: somewhat later than expires_at, so that few turns change it; its index finds the rows to delete. Change it
-- with expires_at if you change that by hand.
if object_id(N'SESSIONKIT_SESSION', N'U') is null create table SESSIONKIT_SESSION (
	pk bigint identity(1,1) not null primary key,
	key_hash nvarchar(64) collate Latin1_General_BIN2 not null unique,
	incarnation varchar(36) collate Latin1_General_BIN2 not null,
	owner_hash nvarchar(64) collate Latin1_General_BIN2 not null,
	owner nvarchar(255) not null,
	id nvarchar(255) not null,
	version bigint not null,
	turns bigint not null,
	items bigint not null,
	branch nvarchar(255) not null,
	head bigint not null,
	run_lo bigint not null,
	run_parent bigint not null,
	open_turn bigint not null,
	summary_turn bigint not null,
	summary_id nvarchar(64) collate Latin1_General_BIN2,
	view_turns bigint not null,
	view_items bigint not null,
	view_tokens bigint not null,
	title nvarchar(max),
	tags nvarchar(max),
	settings nvarchar(max),
	attributes nvarchar(max),
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

if not exists (select 1 from sys.indexes where name = N'SESSIONKIT_SESSION_OWNER'
		and object_id = object_id(N'SESSIONKIT_SESSION'))
	create index SESSIONKIT_SESSION_OWNER on SESSIONKIT_SESSION (owner_hash);

if not exists (select 1 from sys.indexes where name = N'SESSIONKIT_SESSION_PURGE'
		and object_id = object_id(N'SESSIONKIT_SESSION'))
	create index SESSIONKIT_SESSION_PURGE on SESSIONKIT_SESSION (purge_at);

-- run_lo and run_parent: the first turn, and the parent of that turn, of the unbroken run of numbers that
-- ends with this turn; in a run each turn is the parent of the next. origin is written once: agent, tools, snapshot, parameters. outcome is replaced by each
-- part: model, rounds, failure, verdicts. body: the items of the first part, each as its place after
-- first_item, time, tokens, length in UTF-16 units, line feed, text. apart: how many other items have got
-- rows of SESSIONKIT_ITEM: those of later parts, and long ones. given_id: turn_id, unless that begins with
-- the number of the turn, as in 7-x; so few turns need a second entry in an index.
if object_id(N'SESSIONKIT_TURN', N'U') is null create table SESSIONKIT_TURN (
	session_pk bigint not null,
	turn_no bigint not null,
	turn_id nvarchar(64) collate Latin1_General_BIN2 not null,
	given_id nvarchar(65) collate Latin1_General_BIN2,
	parent bigint not null,
	run_lo bigint not null,
	run_parent bigint not null,
	branch nvarchar(255) not null,
	status nvarchar(32) not null,
	parts int not null,
	first_item bigint not null,
	apart int not null,
	items int not null,
	tokens int not null,
	started_at bigint not null,
	ended_at bigint,
	attributes nvarchar(max),
	origin nvarchar(max),
	outcome nvarchar(max) not null,
	body nvarchar(max),
	primary key (session_pk, turn_no)
);

if not exists (select 1 from sys.indexes where name = N'SESSIONKIT_TURN_GIVEN'
		and object_id = object_id(N'SESSIONKIT_TURN'))
	create index SESSIONKIT_TURN_GIVEN on SESSIONKIT_TURN (session_pk, given_id);

if object_id(N'SESSIONKIT_ITEM', N'U') is null create table SESSIONKIT_ITEM (
	session_pk bigint not null,
	turn_no bigint not null,
	seq bigint not null,
	recorded_at bigint not null,
	tokens int not null,
	body nvarchar(max) not null,
	primary key (session_pk, turn_no, seq)
);

-- covers: the last turn that a summary covers (kind summary), once the header has named it.
if object_id(N'SESSIONKIT_RECORD', N'U') is null create table SESSIONKIT_RECORD (
	session_pk bigint not null,
	kind nvarchar(64) collate Latin1_General_BIN2 not null,
	id nvarchar(65) collate Latin1_General_BIN2 not null,
	revision bigint not null,
	payload nvarchar(max) not null,
	written_at bigint not null,
	covers bigint,
	expires_at bigint,
	primary key (session_pk, kind, id)
);

if not exists (select 1 from sys.indexes where name = N'SESSIONKIT_RECORD_EXPIRY'
		and object_id = object_id(N'SESSIONKIT_RECORD'))
	create index SESSIONKIT_RECORD_EXPIRY on SESSIONKIT_RECORD (expires_at);

-- Finds what waits in the sessions of all owners.
if not exists (select 1 from sys.indexes where name = N'SESSIONKIT_RECORD_KIND'
		and object_id = object_id(N'SESSIONKIT_RECORD'))
	create index SESSIONKIT_RECORD_KIND on SESSIONKIT_RECORD (kind, written_at, session_pk, id);

-- Comes last: tables that name their version are complete.
insert into SESSIONKIT_SCHEMA (version, compatible_from)
	select 2, 2 where not exists (select 1 from SESSIONKIT_SCHEMA);
